import { Problem } from '../../core/foundation/problem.ts';
import { publishChange, publishErasure } from '../events/publish.ts';
import { resources } from '../../core/schemas/index.ts';
import { firstVersion } from '../../core/schemas/record.ts';
import { arrangeRecord, type Resource, type StoredRecord, actionInput } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { recordJson, etag, recordResponse } from '../../core/store/records/record-json.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import type { TableView } from '../../core/store/visibility/visible-table.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';
import { type Author, changedValues, duplicateOf, ruleContext } from './change.ts';
import { refuseDuplicateCustomValues } from './custom-values.ts';
import { findMatch } from './match.ts';
import type { JsonObject } from '../../core/foundation/json.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { tags } from '../../core/schemas/tags.ts';
import { parseInput } from '../../core/foundation/field-errors.ts';

/** @param readOnly values of read-only fields */
export function createRecord(context: WriteContext, body: JsonObject, readOnly: JsonObject = {}): ResponseData {
	const { resource, now, actor } = context;
	const id = context.newId(resource.idPrefix, now);
	const at = context.store.unrestricted.writeClock.stamp(now);
	const values = changedValues(context, undefined, body, 'client');
	const record = arrangeRecord(resource, {...values,...readOnly, id, object: resource.object,...firstVersion(actor, at) });
	save(context, undefined, record, body);
	return recordResponse(201, record, { Location: `/v1/${resource.name}/${id}` });
}

/** @param ifMatch the value of the header If-Match, if there is one */
export function updateRecord(context: WriteContext, id: string, body: JsonObject, ifMatch: string | undefined): ResponseData {
	const stored = existingRecord(context.store, context.resource, id);
	requireVersion(stored, ifMatch);
	return recordResponse(200, changeRecord(context, stored, body));
}

/**
 * Marks a record as deleted. It stays in the database for lists with `include_deleted`.
 *
 * @throws Problem in_use
 */
export function deleteRecord(context: WriteContext, id: string, ifMatch: string | undefined): ResponseData {
	const stored = existingRecord(context.store, context.resource, id);
	requireVersion(stored, ifMatch);
	const { store, resource } = context;
	refuseIfUsed(context, stored);
	if (resource.insteadOfDeletion) {
		const record = changeByService(context, stored, resource.insteadOfDeletion);
		if (record !== stored) publishChange(context, 'deleted', record, stored);
	} else {
		const next = nextVersion(context, stored);
		const record = { ...next, deleted_at: next.updated_at };
		store.table(resource.name)!.save(record);
		countTags(store, stored, undefined);
		publishChange(context, 'deleted', record, stored);
		if (resource.name === webhooks.name) store.unrestricted.endWebhook(id);
	}
	for (const { resource: name, id: other } of resource.deletedWith?.(stored, ruleContext(context)) ?? []) {
		deleteRecord(contextOfRule(context, name), other, undefined);
	}
	return { status: 204, headers: {}, body: null };
}

/** An owner that no user has. */
const nobody = '-';

/**
 * Deletes a record permanently, whether or not it was deleted before. Its id remains, so that nothing else gets it.
 *
 * @throws Problem not_found, version_mismatch, in_use
 */
export function eraseRecord(context: WriteContext, id: string, ifMatch: string | undefined): ResponseData {
	const { store, resource, now } = context;
	const table = existingTable(store, resource.name);
	const stored = table.findEver(id);
	if (!stored || 'erased_at' in stored) throw new Problem('not_found', `There is no record ${id} in ${resource.name}.`);
	requireVersion(stored, ifMatch);
	refuseIfUsed(context, stored);
	const at = store.unrestricted.writeClock.stamp(now);
	const { visibility } = resource;
	const owner = typeof visibility === 'string' ? {} : { ['owner' in visibility ? visibility.owner : visibility.user]: nobody };
	table.erase({ id, deleted_at: stored.deleted_at ?? at, erased_at: at }, owner);
	if (stored.deleted_at === null) countTags(store, stored, undefined);
	store.unrestricted.eraseCopies(id);
	publishErasure(context, stored, at);
	return { status: 204, headers: {}, body: null };
}

function refuseIfUsed(context: WriteContext, stored: StoredRecord): void {
	const use = context.resource.usedBy?.(stored, ruleContext(context));
	if (use) throw new Problem('in_use', `${stored.id} cannot be deleted: ${use}.`);
}

/**
 * Updates the record whose field `matchOn` has the value in the body, or creates a record.
 *
 * @param ifMatch the value of the header If-Match, if there is one
 * @throws Problem version_mismatch, also if there is a condition but no record
 */
export function upsertRecord(
	context: WriteContext,
	matchOn: string,
	body: JsonObject,
	ifMatch: string | undefined,
): ResponseData {
	const match = findMatch(context.store, context.resource, matchOn, body);
	if (match) {
		requireVersion(match, ifMatch);
		return recordResponse(200, changeRecord(context, match, body));
	}
	if (ifMatch === undefined) return createRecord(context, body);
	throw new Problem('version_mismatch', `No record has this ${matchOn}, so none was changed or created.`);
}

/** @throws Problem not_found if the definition of the records was deleted meanwhile */
export function existingTable(store: StoreView, name: string): TableView {
	const table = store.table(name);
	if (table) return table;
	throw new Problem('not_found', `The resource ${name} no longer exists.`);
}

/** @throws Problem not_found if there is no such record, or it is deleted */
export function existingRecord(store: StoreView, resource: Resource, id: string): StoredRecord {
	const record = existingTable(store, resource.name).find(id);
	if (record) return record;
	throw new Problem('not_found', `There is no record ${id} in ${resource.name}.`);
}

/** Applies a client's change. */
export const changeRecord = (context: WriteContext, stored: StoredRecord, body: JsonObject): StoredRecord =>
	applyChange(context, stored, body, 'client');

/** Applies a change of the service, which may set every field. */
export const changeByService = (context: WriteContext, stored: StoredRecord, change: JsonObject): StoredRecord =>
	applyChange(context, stored, change, 'service');

/** A change without effect creates no new version. */
function applyChange(context: WriteContext, stored: StoredRecord, change: JsonObject, author: Author): StoredRecord {
	const values = changedValues(context, stored, change, author);
	const changed = arrangeRecord(context.resource, { ...stored, ...values });
	if (JSON.stringify(changed) === recordJson(stored)) return stored;
	const record = nextVersion(context, changed);
	save(context, stored, record, change);
	return record;
}

/** The context in which a rule changes records of another resource, whether or not the caller sees them. */
const contextOfRule = (context: WriteContext, name: string): WriteContext => ({
	...context,
	store: context.store.unrestricted,
	resource: [...resources, webhooks].find((resource) => resource.name === name)!,
});

/** Saves a record, publishes its events, and applies the consequences for other records. */
function save(context: WriteContext, stored: StoredRecord | undefined, record: StoredRecord, body: JsonObject): void {
	const { store, resource } = context;
	refuseDuplicateCustomValues(store, resource, record, body['custom_fields']);
	saveUnique(context, stored, record);
	countTags(store, stored, record);
	publishChange(context, stored ? 'updated' : 'created', record, stored);
	if (stored && resource.endsAccess?.(record)) store.unrestricted.endAccess(record.id);
	const consequences = resource.consequences?.(record, stored, ruleContext(context)) ?? [];
	for (const { resource: name, id, change } of consequences) {
		const other = contextOfRule(context, name);
		changeByService(other, existingRecord(other.store, other.resource, id), change);
	}
}

/**
 * Saves a record. The table's unique indexes detect another record with the same unique value, which is
 * looked up only then.
 *
 * @throws Problem duplicate
 */
function saveUnique({ store, resource, now }: WriteContext, stored: StoredRecord | undefined, record: StoredRecord): void {
	const table = store.table(resource.name)!;
	const since = new Date(now).toISOString();
	try {
		if (stored) table.save(record, since);
		else table.add(record, since);
	} catch (error) {
		throw (isUniqueViolation(error) && duplicateOf(store, resource, record)) || error;
	}
}

const nextVersion = ({ store, now, actor }: WriteContext, stored: StoredRecord): StoredRecord => ({
	...stored,
	version: stored.version + 1,
	updated_at: store.unrestricted.writeClock.stamp(now),
	updated_by: actor,
});

/**
 * Checks If-Match with the strong comparison of RFC 9110, 13.1.1, so that weak tags never match.
 *
 * @throws Problem version_mismatch
 */
function requireVersion(stored: StoredRecord, ifMatch: string | undefined): void {
	if (ifMatch === undefined || ifMatch.trim() === '*') return;
	if (ifMatch.split(',').some((tag) => tag.trim() === etag(stored))) return;
	throw new Problem(
		'version_mismatch',
		`The record is at version ${stored.version} now. Read it again and repeat the change.`,
		{ headers: { ETag: etag(stored) } },
	);
}

/** SQLITE_CONSTRAINT_UNIQUE (https://sqlite.org/rescode.html#constraint_unique). */
const uniqueConstraint = 2067;

/** Whether a unique index has refused a row. Nothing of the row was written. */
const isUniqueViolation = (error: unknown): boolean =>
	typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === uniqueConstraint;

/**
 * Updates the usage counts of tags for a written record.
 *
 * @param before undefined for a new record
 * @param after undefined for a deleted one
 */
function countTags(store: StoreView, before?: StoredRecord, after?: StoredRecord): void {
	const [had, has] = [new Set(tagIdsOf(before)), new Set(tagIdsOf(after))];
	const table = store.table(tags.name)!;
	const add = (id: string, count: number) => {
		const tag = table.find(id);
		if (tag) table.save({ ...tag, usage: Number(tag['usage']) + count });
	};
	for (const id of has) if (!had.has(id)) add(id, 1);
	for (const id of had) if (!has.has(id)) add(id, -1);
}

/** The ids of a record's tags; none if its resource has no tags. */
export const tagIdsOf = (record: StoredRecord | undefined): string[] =>
	(record?.['tag_ids'] as string[] | undefined) ?? [];

/**
 * Applies an action of the resource to a record.
 *
 * @param ifMatch the value of the header If-Match, if there is one
 * @throws Problem not_found, version_mismatch, validation_failed for input that the action does not take
 */
export function takeAction(
	context: WriteContext,
	id: string,
	action: NonNullable<Resource['actions']>[string],
	input: JsonObject,
	ifMatch: string | undefined,
): StoredRecord {
	const record = existingRecord(context.store, context.resource, id);
	requireVersion(record, ifMatch);
	const values = parseInput(actionInput(action), input);
	const change = action.change(record, values, ruleContext(context));
	return changeByService(context, record, change);
}
