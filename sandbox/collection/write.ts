import { Problem } from '../problem.ts';
import { tellChange } from '../events/tell.ts';
import { resources } from '../schemas/index.ts';
import { firstVersion } from '../schemas/record.ts';
import { arrangeRecord, type Resource, type StoredRecord } from '../schemas/resource.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { recordJson } from '../store/record-json.ts';
import type { Store } from '../store/store.ts';
import { type Answer, etag, recordAnswer } from './answer.ts';
import { changedValues, refuseDuplicates } from './change.ts';
import { findMatch } from './match.ts';
import type { JsonObject } from './merge.ts';
import { ruleContext } from './rules.ts';
import { countTags } from './tag-usage.ts';
import type { Writing } from './writing.ts';

/** @param given fields that the service itself sets */
export function createRecord(writing: Writing, body: JsonObject, given: JsonObject = {}): Answer {
	const { resource, now, actor } = writing;
	const id = writing.newId(resource.idPrefix, now);
	const at = writing.store.writeClock.stamp(now);
	const values = changedValues(writing, undefined, body);
	const record = arrangeRecord(resource, {
		...values,
		...given,
		id,
		object: resource.object,
		...firstVersion(actor, at),
	});
	save(writing, undefined, record, body);
	return recordAnswer(201, record, { Location: `/v1/${resource.name}/${id}` });
}

/** @param ifMatch of the request header, if there is one */
export function updateRecord(
	writing: Writing,
	id: string,
	body: JsonObject,
	ifMatch: string | undefined,
): Answer {
	const stored = existingRecord(writing.store, writing.resource, id);
	refuseOtherVersion(stored, ifMatch);
	return recordAnswer(200, changeRecord(writing, stored, body));
}

/**
 * The record stays, marked as deleted, for lists with `include_deleted`.
 *
 * @throws Problem in_use
 */
export function deleteRecord(writing: Writing, id: string, ifMatch: string | undefined): Answer {
	const stored = existingRecord(writing.store, writing.resource, id);
	refuseOtherVersion(stored, ifMatch);
	const { store, resource } = writing;
	const user = resource.usedBy?.(stored, ruleContext(writing));
	if (user) throw new Problem('in_use', `${id} cannot be deleted: ${user}.`);
	if (resource.insteadOfDeletion) {
		const record = changeRecord(writing, stored, resource.insteadOfDeletion, true);
		if (record !== stored) tellChange(writing, 'deleted', record, stored);
	} else {
		const next = nextVersion(writing, stored);
		const record = { ...next, deleted_at: next.updated_at };
		store.table(resource.name)!.save(record);
		countTags(store, stored, undefined);
		tellChange(writing, 'deleted', record, stored);
	}
	for (const { resource: name, id: other } of resource.deletedWith?.(stored, ruleContext(writing)) ?? []) {
		deleteRecord({ ...writing, resource: resourceNamed(name) }, other, undefined);
	}
	return { status: 204, headers: {}, body: null };
}

/** Updates the record that has the body's value of `matchOn`, or creates one. */
export function upsertRecord(writing: Writing, matchOn: string, body: JsonObject): Answer {
	const match = findMatch(writing.store, writing.resource, matchOn, body);
	return match ? recordAnswer(200, changeRecord(writing, match, body)) : createRecord(writing, body);
}

/** @throws Problem not_found, also for deleted records */
export function existingRecord(store: Store, resource: Resource, id: string): StoredRecord {
	const record = store.table(resource.name)!.find(id);
	if (record) return record;
	throw new Problem('not_found', `There is no record ${id} in ${resource.name}.`);
}

/**
 * A change that changes nothing makes no new version.
 *
 * @param byService whether the service itself makes the change, and may set every field
 */
export function changeRecord(
	writing: Writing,
	stored: StoredRecord,
	body: JsonObject,
	byService = false,
): StoredRecord {
	const values = changedValues(writing, stored, body, byService);
	const same = arrangeRecord(writing.resource, { ...stored, ...values });
	if (JSON.stringify(same) === recordJson(stored)) return stored;
	const record = { ...same, ...nextVersion(writing, same) };
	save(writing, stored, record, body);
	return record;
}

const resourceNamed = (name: string): Resource =>
	[...resources, webhooks].find((one) => one.name === name)!;

/** Writes a record, what it tells, and what changes with it. */
function save(
	writing: Writing,
	stored: StoredRecord | undefined,
	record: StoredRecord,
	body: JsonObject,
): void {
	const { store, resource } = writing;
	refuseDuplicates(store, resource, record, body);
	store.table(resource.name)!.save(record, new Date(writing.now).toISOString());
	countTags(store, stored, record);
	tellChange(writing, stored ? 'updated' : 'created', record, stored);
	if (stored && resource.endsAccess?.(record)) store.whole.endAccess(record.id);
	const consequences = resource.consequences?.(record, stored, ruleContext(writing)) ?? [];
	for (const { resource: name, id, change } of consequences) {
		const other = { ...writing, resource: resourceNamed(name) };
		changeRecord(other, existingRecord(store, other.resource, id), change, true);
	}
}

const nextVersion = ({ store, now, actor }: Writing, stored: StoredRecord): StoredRecord => ({
	...stored,
	version: stored.version + 1,
	updated_at: store.writeClock.stamp(now),
	updated_by: actor,
});

/** RFC 9110, 13.1.1: a strong comparison, so weak tags never match. */
export function refuseOtherVersion(stored: StoredRecord, ifMatch: string | undefined): void {
	if (ifMatch === undefined || ifMatch.trim() === '*') return;
	if (ifMatch.split(',').some((tag) => tag.trim() === etag(stored))) return;
	throw new Problem(
		'version_mismatch',
		`The record is at version ${stored.version} now. Read it again and repeat the change.`,
		{ headers: { ETag: etag(stored) } },
	);
}
