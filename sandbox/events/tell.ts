import type { Writing } from '../collection/writing.ts';
import type { StoredRecord } from '../schemas/resource.ts';
import type { StoredEvent } from '../store/events.ts';
import { type Audience, both, isNobody, without } from '../store/audience.ts';
import { recordJson } from '../store/record-json.ts';
import { audienceOf } from '../store/visibility.ts';
import { queueDeliveries } from '../webhooks/queue.ts';
import { differenceOf } from './difference.ts';
import { eventTypeOf } from './types.ts';

type Change = 'created' | 'updated' | 'deleted';

/** Whom an event is told. */
interface Told {
	audience: Audience;
	/** Whether administrators and API keys are among them. */
	isForAccount: boolean;
}

/**
 * Tells that a record was written, and what that means for it. Call it in the transaction of the
 * change: both are kept, or neither.
 *
 * Where a change decides anew who sees the record, it is told as each of them sees it. Who saw it and
 * does so still is told of the change. Who saw it before is told that it is deleted, as it was when
 * they saw it last. Who did not see it before is told that it is created, and nothing of what it was.
 *
 * @param stored as it was before; undefined for a new one
 */
export function tellChange(
	writing: Writing,
	change: Change,
	record: StoredRecord,
	stored: StoredRecord | undefined,
): void {
	if (change !== 'updated' || !stored) {
		tell(writing, change, toAll(writing, record), record);
	} else {
		const { stayed, left, came } = audiences(writing, record, stored);
		tell(writing, 'updated', stayed, record, stored);
		const { version, updated_at: at } = record;
		tell(writing, 'deleted', left, { ...stored, version, updated_at: at, deleted_at: at });
		tell(writing, 'created', came, record);
	}
	if (change !== 'deleted') tellHappenings(writing, record, stored);
}

/** Tells only what a change means, by the definition of the resource. */
export function tellHappenings(
	writing: Writing,
	record: StoredRecord,
	stored: StoredRecord | undefined,
): void {
	const happened = Object.entries(writing.resource.events ?? {}).filter(([, { when }]) =>
		when?.(record, stored),
	);
	if (happened.length === 0) return;
	const { stayed, came } = audiences(writing, record, stored ?? record);
	for (const [name] of happened) {
		tell(writing, name, stayed, record, stored);
		tell(writing, name, came, record);
	}
}

/** Writes one event, and queues it for the subscriptions that want it. */
function tell(
	writing: Writing,
	what: string,
	told: Told,
	record: StoredRecord,
	stored?: StoredRecord,
): void {
	if (!told.isForAccount && isNobody(told.audience)) return;
	queueDeliveries(writing, writeEvent(writing, what, told, record, stored), record.id);
}

/** Writes one event, which by itself goes to nobody. */
export function writeEvent(
	{ store, resource, actor, request, now, newId }: Writing,
	what: string,
	told: Told,
	record: StoredRecord,
	stored?: StoredRecord,
): StoredEvent {
	const difference = stored ? differenceOf(stored, record) : { previous: null, changed: [] };
	store.events.expire(now);
	return store.events.add({
		id: newId('evt', now),
		type: eventTypeOf(resource, what),
		timestamp: store.writeClock.stamp(now),
		resource: resource.name,
		...told,
		actor,
		request,
		data: `{"object":${recordJson(record)},${JSON.stringify(difference).slice(1)}`,
	});
}

/** Everyone who sees the record now. */
export const toAll = ({ store, resource }: Writing, record: StoredRecord): Told => ({
	audience: audienceOf(resource, record, (name, id) => store.whole.table(name)!.findEver(id)),
	isForAccount: true,
});

/** The users who see a record before and after a change, only before, and only after. */
function audiences(writing: Writing, record: StoredRecord, stored: StoredRecord) {
	const { audience: before } = toAll(writing, stored);
	const { audience: after } = toAll(writing, record);
	return {
		stayed: { audience: both(before, after), isForAccount: true },
		left: { audience: without(before, after), isForAccount: false },
		came: { audience: without(after, before), isForAccount: false },
	};
}
