import type { WriteContext } from '../../core/store/write-context.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import { erasedData } from '../../core/store/log/event-log.ts';
import type { StoredEvent } from '../../core/store/log/event-reader.ts';
import { type Audience, intersectionOf, isEmptyAudience, subtract } from '../../core/store/log/audience.ts';
import { equals } from '../../core/store/records/condition.ts';
import { parseRecord, recordJson } from '../../core/store/records/record-json.ts';
import { audienceOf, visibleVia } from '../../core/store/visibility/visibility.ts';
import { queueDeliveries } from './delivery-queue.ts';
import { eventTypeOf } from './event-types.ts';
import { isObject, memberNamed } from '../../core/foundation/json.ts';

type Change = 'created' | 'updated' | 'deleted';

/** Who receives an event. */
interface Recipients {
	audience: Audience;
	/** Whether administrators and API keys are among them. */
	isForAccount: boolean;
}

/**
 * Publishes the events of a written record. Call it in the transaction of the change, so that the
 * database keeps both or neither (transactional outbox).
 *
 * A change can alter who sees the record. Users who keep seeing it receive `updated`. Users who lose
 * sight of it receive `deleted`, with the record as they last saw it. Users who gain sight of it
 * receive `created`, without its earlier values. The same applies to the records that they see through it.
 *
 * @param stored the record before the change; undefined for a new record
 */
export function publishChange(
	context: WriteContext,
	change: Change,
	record: StoredRecord,
	stored: StoredRecord | undefined,
): void {
	if (change !== 'updated' || !stored) {
		publish(context, change, fullAudience(context, record), record);
	} else {
		const { stillSee, noLongerSee, nowSee } = audiences(context, record, stored);
		publish(context, 'updated', stillSee, record, stored);
		const { version, updated_at: at } = record;
		publish(context, 'deleted', noLongerSee, { ...stored, version, updated_at: at, deleted_at: at });
		publish(context, 'created', nowSee, record);
		const isAudienceChanged = ![noLongerSee, nowSee].every(({ audience }) => isEmptyAudience(audience));
		if (isAudienceChanged) publishSeenThrough(context, record, stored);
	}
	if (change !== 'deleted') publishDomainEvents(context, record, stored);
}

/**
 * Removes the values of an erased record from its earlier events, and reports the erasure. Call it after the record was
 * erased: whoever saw other records only through it sees them no longer.
 *
 * @param stored the record before
 */
export function publishErasure(context: WriteContext, stored: StoredRecord, at: string): void {
	context.store.unrestricted.events.erase(stored.id);
	queueDeliveries(context, addEvent(context, 'erased', fullAudience(context, stored), stored.id, erasedData(stored.id)));
	publishSeenThrough(context, { ...stored, updated_at: at }, stored);
}

const idOrder = [{ column: 'id', descending: false }];
/** Number of records that are read at once; each may have a megabyte. */
const recordsAtOnce = 20;

/**
 * Reports records, such as the messages of a contact, to the users to whom they become visible or invisible because
 * the record through which they are seen has a new owner.
 */
function publishSeenThrough(context: WriteContext, record: StoredRecord, stored: StoredRecord): void {
	for (const { resource, field } of visibleVia(context.resource)) {
		const table = context.store.unrestricted.table(resource.name)!;
		const conditions = [equals(field, record.id)];
		const selection = { conditions, order: idOrder, includeDeleted: false, limit: recordsAtOnce };
		let page: StoredRecord[] = [];
		do {
			const last = page.at(-1);
			page = table.page({ ...selection, after: last && [last.id] }).map(parseRecord);
			for (const visibleRecord of page) publishVisibilityChange({ ...context, resource }, visibleRecord, stored, record.updated_at);
		} while (page.length === recordsAtOnce);
	}
}

/** @param stored the record that `visibleRecord` is seen through, before its change */
function publishVisibilityChange(context: WriteContext, visibleRecord: StoredRecord, stored: StoredRecord, at: string): void {
	const before = audienceOf(context.resource, visibleRecord, (name, id) =>
		id === stored.id ? stored : context.store.unrestricted.table(name)!.findEver(id),
	);
	const { noLongerSee, nowSee } = audienceChange(before, fullAudience(context, visibleRecord).audience);
	publish(context, 'deleted', noLongerSee, { ...visibleRecord, deleted_at: at });
	publish(context, 'created', nowSee, visibleRecord);
}

/** Publishes the events that the resource's definition declares, such as `deal.won`. */
export function publishDomainEvents(context: WriteContext, record: StoredRecord, stored: StoredRecord | undefined): void {
	const triggeredEvents = Object.entries(context.resource.events ?? {}).filter(([, { when }]) => when?.(record, stored));
	if (triggeredEvents.length === 0) return;
	const { stillSee, nowSee } = audiences(context, record, stored ?? record);
	for (const [name] of triggeredEvents) {
		publish(context, name, stillSee, record, stored);
		publish(context, name, nowSee, record);
	}
}

/** Appends one event to the log, and queues it for the subscriptions that match it. */
function publish(
	context: WriteContext,
	eventName: string,
	recipients: Recipients,
	record: StoredRecord,
	stored?: StoredRecord,
): void {
	if (!recipients.isForAccount && isEmptyAudience(recipients.audience)) return;
	queueDeliveries(context, appendEvent(context, eventName, recipients, record, stored));
}

/** Appends one event to the log without queuing any delivery. */
export function appendEvent(
	context: WriteContext,
	eventName: string,
	recipients: Recipients,
	record: StoredRecord,
	stored?: StoredRecord,
): StoredEvent {
	const difference = stored ? differenceOf(stored, record) : { previous: null, changed: [] };
	const data = `{"object":${recordJson(record)},${JSON.stringify(difference).slice(1)}`;
	return addEvent(context, eventName, recipients, record.id, data);
}

function addEvent(
	{ store, resource, actor, request, now, newId }: WriteContext,
	eventName: string,
	recipients: Recipients,
	recordId: string,
	data: string,
): StoredEvent {
	const { events, writeClock } = store.unrestricted;
	events.expire(now);
	return events.add({
		id: newId('evt', now),
		type: eventTypeOf(resource, eventName),
		timestamp: writeClock.stamp(now),
		resource: resource.name,
		recordId,
		...recipients,
		actor,
		request,
		data,
	});
}

/** Everyone who can see the record now. */
export const fullAudience = ({ store, resource }: WriteContext, record: StoredRecord): Recipients => ({
	audience: audienceOf(resource, record, (name, id) => store.unrestricted.table(name)!.findEver(id)),
	isForAccount: true,
});

/** The users who see a record before and after a change, only before it, and only after it. */
const audiences = (context: WriteContext, record: StoredRecord, stored: StoredRecord) =>
	audienceChange(fullAudience(context, stored).audience, fullAudience(context, record).audience);

const audienceChange = (before: Audience, after: Audience) => ({
	stillSee: { audience: intersectionOf(before, after), isForAccount: true },
	noLongerSee: { audience: subtract(before, after), isForAccount: false },
	nowSee: { audience: subtract(after, before), isForAccount: false },
});

/** The difference between two versions of a record. */
interface Difference {
	/** The earlier values of the fields that changed. */
	previous: Record<string, unknown>;
	/** The names of the fields that changed; `custom_fields.<key>` for custom fields. */
	changed: string[];
}

/** Every write changes these fields, so they are not reported. */
const alwaysChanged = ['version', 'updated_at', 'updated_by'];

/** Compares two versions of a record: custom fields one by one, all other fields as a whole. */
function differenceOf(stored: StoredRecord, record: StoredRecord): Difference {
	const fields = Object.keys(record).filter((field) => !alwaysChanged.includes(field));
	const changed = fields.filter((field) => !isSameJson(stored[field], record[field]));
	const previous = Object.fromEntries(changed.map((field) => [field, stored[field] ?? null]));
	const [before, after] = [stored['custom_fields'], record['custom_fields']];
	if (!changed.includes('custom_fields') || !isObject(before) || !isObject(after)) {
		return { previous, changed };
	}
	const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
		(key) => !isSameJson(memberNamed(before, key), memberNamed(after, key)),
	);
	return {
		previous: {...previous, custom_fields: Object.fromEntries(keys.map((key) => [key, memberNamed(before, key) ?? null])) },
		changed: changed.flatMap((field) =>
			field === 'custom_fields' ? keys.map((key) => `custom_fields.${key}`) : [field],
		),
	};
}

const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
