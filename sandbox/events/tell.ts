import type { Writing } from '../collection/writing.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import type { StoredEvent } from '../store/events.ts';
import { ownerOf } from '../store/visibility.ts';
import { queueDeliveries } from '../webhooks/queue.ts';
import { differenceOf } from './difference.ts';
import { eventTypeOf } from './types.ts';

type Change = 'created' | 'updated' | 'deleted';

/**
 * Tells that a record was written, and what that means for it. Call it in the transaction of the
 * change: both are kept, or neither.
 *
 * @param stored as it was before; undefined for a new one
 */
export function tellChange(
	writing: Writing,
	change: Change,
	record: StoredRecord,
	stored: StoredRecord | undefined,
): void {
	tell(writing, change, record, change === 'updated' ? stored : undefined);
	if (change !== 'deleted') tellHappenings(writing, record, stored);
}

/** Tells only what a change means, by the definition of the resource. */
export function tellHappenings(
	writing: Writing,
	record: StoredRecord,
	stored: StoredRecord | undefined,
): void {
	for (const [name, { when }] of Object.entries(writing.resource.events ?? {})) {
		if (when?.(record, stored)) tell(writing, name, record, stored);
	}
}

/** Writes one event, and queues it for the subscriptions that want it. */
function tell(
	writing: Writing,
	what: string,
	record: StoredRecord,
	stored: StoredRecord | undefined,
): void {
	queueDeliveries(writing, writeEvent(writing, what, record, stored), record.id);
}

/** Writes one event, which by itself goes to nobody. */
export function writeEvent(
	{ store, resource, actor, request, now, newId }: Writing,
	what: string,
	record: StoredRecord,
	stored?: StoredRecord,
): StoredEvent {
	const difference = stored ? differenceOf(stored, record) : { previous: null, changed: [] };
	store.events.expire(now);
	return store.events.add({
		id: newId('evt', now),
		type: eventTypeOf(resource, what),
		timestamp: new Date(now).toISOString(),
		resource: resource.name,
		seenBy: ownerOf(resource, record),
		actor,
		request,
		data: JSON.stringify({ object: record, ...difference }),
	});
}
