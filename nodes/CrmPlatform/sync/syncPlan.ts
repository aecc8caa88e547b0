import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { merge, type Side } from '../changes/merge';
import { asConflict, isInferred, type PlannedChange } from '../changes/plan';
import { idField, type Field } from '../fields/field';
import { entriesIn, entryValue, matchKey, valueIn } from '../fields/keys';
import { isBlank } from '../values/blank';
import { timeSpan, type TimeSpan } from '../values/dates';
import { requiredVersion } from '../writing/replace';
import type { CrmRecord, CrmRecords } from './crmRecords';
import { type RecordMatch, matchSource, type MissingRecord, missingRecords, type PossibleOwner } from './matching';
import type { DeletionLimits, PlanSettings, SyncRules } from './settings';
import { matchKeysOf, type SourceRecord } from './syncSource';

/**
 * Decides about each record. Reads and writes nothing, so that a preview and a run decide alike.
 *
 * @param source the source records, in the order of the input items
 * @returns a decision for each source record, in their order; then for the records in scope that the source
 * does not have, unless they are left alone
 */
export function planChanges(source: SourceRecord[], crm: CrmRecords, settings: PlanSettings): PlannedChange[] {
	const matches = matchSource(source, crm, settings.match);
	const decisions = source.map((sourceRecord, i) => decide(sourceRecord, matches[i]!, settings));
	if (settings.rules.missingInSource === 'leave') return decisions;
	const missing = missingRecords(source, crm, matches, settings);
	return [...withoutSecondCreations(decisions, missing), ...missing.map((each) => absentInSource(each, settings))];
}

/** Decides about a source record. */
function decide(source: SourceRecord, { record, isOwn, doubt }: RecordMatch, settings: PlanSettings): PlannedChange {
	const { item, values } = source;
	if (doubt !== undefined) {
		const changes = record ? settings.compare.difference(record, values).changes : [];
		return { action: 'conflict', item, values, ...(record && { record }), changes, reason: doubt };
	}
	return record ? decideMatched(source, record, isOwn, settings) : absentInCrm(source, settings);
}

/** Decides about a record that both systems have. @param isOwn as its match says */
function decideMatched(source: SourceRecord, record: CrmRecord, isOwn: RecordMatch['isOwn'], settings: PlanSettings): PlannedChange {
	const { rules, compare } = settings;
	const { item, values } = source;
	const { changes, patch } = compare.difference(record, values);
	const base = { item, record, changes };
	if (changes.length === 0) return { ...base, action: 'unchanged' };
	if (rules.differing === 'leave') return { ...base, action: 'unchanged', reason: notUpdated };
	if (!rules.checksVersions) return { ...base, action: 'update', patch };
	const version = requiredVersion(record);
	const seen = isOwn && source.seenVersion !== undefined ? BigInt(source.seenVersion) : undefined;
	if (seen === version) return { ...base, action: 'update', patch };
	// A version that the CRM has not reached belongs to another record or account.
	if (seen !== undefined && seen > version) return { ...base, action: 'conflict', reason: unknownVersion(seen, version) };
	if (!isOwn) return decideOutdated({ ...source, agreed: undefined }, base, otherRecordSeen(source.id, record.id), settings);
	return decideOutdated(source, base, seen === undefined ? neverSeen : changedSince(seen, version), settings);
}

/** Merges a record that may have been changed on both sides. @param outdated why the source does not know its current version */
function decideOutdated(
	{ values, changedAt, agreed }: SourceRecord,
	base: Pick<PlannedChange, 'item' | 'changes'> & { record: CrmRecord },
	outdated: string,
	{ rules, compare, changedField }: PlanSettings,
): PlannedChange {
	const { winner, why } = ruling(rules.bothChanged, changedAt, timeSpan(base.record[changedField], 'utc'));
	const merged = merge(compare, { base: agreed, target: values, current: base.record }, winner);
	const ruled = why === undefined ? outdated : `${outdated} ${why}`;
	if (!merged) return { ...base, action: 'conflict', reason: ruled };
	const { changes, patch, isRuled } = merged;
	const reason = isRuled ? ruled : outdated;
	if (changes.every(({ kept }) => kept)) return { ...base, action: 'unchanged', changes, reason };
	const isMerged = isRuled || changes.some(({ kept }) => kept);
	return { ...base, action: 'update', changes, patch, ...(isMerged && { reason }) };
}

/** The side that wins if both have changed a value; undefined for a conflict. */
function ruling(
	rule: SyncRules['bothChanged'],
	source: TimeSpan | undefined,
	crm: TimeSpan | undefined,
): { winner?: Side; why?: string } {
	switch (rule) {
		case 'source':
			return { winner: 'target', why: 'The source takes precedence.' };
		case 'crm':
			return { winner: 'current', why: 'The CRM takes precedence.' };
		case 'conflict':
			return {};
		case 'latest':
			// At the stored precision (second, minute or day), equal times have no later one.
			if (source && crm && source.from > crm.to) return { winner: 'target', why: 'The source was changed later.' };
			if (source && crm && crm.from > source.to) return { winner: 'current', why: 'The CRM was changed later.' };
			return { why: noOrder };
	}
}

function absentInCrm({ item, values, id, seenVersion, keys }: SourceRecord, { rules, compare }: PlanSettings): PlannedChange {
	const { changes, patch } = compare.difference({}, values);
	const base = { item, values, changes };
	const wasInCrm = id !== undefined || seenVersion !== undefined;
	if (wasInCrm && rules.bothChanged !== 'source') {
		return { ...base, action: rules.bothChanged === 'crm' ? 'unchanged' : 'conflict', reason: deletedInCrm };
	}
	if (rules.missingInCrm === 'leave') return { ...base, action: 'unchanged', reason: notCreated };
	if (id === undefined) return { ...base, action: 'create', patch };
	const hasSecondKey = keys.filter((key) => key !== undefined).length > 1;
	return hasSecondKey ? { ...base, action: 'create', patch, formerId: id } : { ...base, action: 'conflict', reason: notFoundAgain(id) };
}

/** Does not create the items that may be a record without an item: each is told of the first such record. */
function withoutSecondCreations(decisions: PlannedChange[], missing: MissingRecord[]): PlannedChange[] {
	const reasons = new Map<number, string>();
	for (const { record, owners } of missing) {
		for (const { index, label } of owners) if (!reasons.has(index)) reasons.set(index, mayBeRecord(record.id, label));
	}
	return decisions.map((change, index) => {
		const reason = change.action === 'create' ? reasons.get(index) : undefined;
		return reason === undefined ? change : asConflict(change, reason);
	});
}

function absentInSource({ record, owners: [owner] }: MissingRecord, { rules, compare, match }: PlanSettings): PlannedChange {
	const as = (action: PlannedChange['action'], reason: string): PlannedChange => ({ action, record, changes: [], reason });
	if (owner) return as('conflict', mayBeItem(owner));
	if (!hasKey(record, match)) return as('unchanged', withoutKey(match.map(({ label }) => label)));
	if (rules.missingInSource === 'delete') return isBlank(record.deleted_at) ? as('delete', notInSource) : as('unchanged', goneAlready);
	const difference = compare.difference(record, rules.valuesToSet ?? {});
	if (difference.changes.length === 0) return as('unchanged', notInSource);
	return { action: 'update', record, ...difference, reason: notInSource };
}

const hasKey = (record: CrmRecord, match: readonly Field[]): boolean => matchKeysOf(record, match).some((key) => key !== undefined);

const deletedInCrm =
	'The source has seen this record, but the CRM no longer returns it: it was deleted, or is no longer in Records in Scope.';
const notCreated = 'The CRM does not have this record, and When Missing in the CRM is set to Leave It Out.';
const goneAlready = 'The source does not have this record, and the CRM has deleted it already.';
const notInSource = 'The source does not have this record.';
const notFoundAgain = (id: string) =>
	`The CRM no longer has record ${id}. A new one would get another ID, which this item does not have, and the next run would create it again. Choose a second field in Then Match On.`;
const mayBeRecord = (id: string, label: string) =>
	`Record ${id} has this item’s ${label} but a different key, so it may be the same record. Correct the key.`;
const mayBeItem = ({ item, label }: PossibleOwner) =>
	`No item has this record’s key, but item ${item} has its ${label}, so it may be that record. It was left unchanged. Correct the key.`;
const withoutKey = (labels: readonly string[]) =>
	`The record has no ${labels.join(' and no ')}, so no item can match it. It was left unchanged.`;
const notUpdated = 'The values differ, and When Values Differ is set to leave the record unchanged.';
const noOrder = 'It is unknown which of the two was changed later.';
const neverSeen = 'The source has not seen this record of the CRM yet, and its values differ.';
const changedSince = (seen: bigint, version: bigint) =>
	`The CRM has changed this record since the source saw it (version ${seen}, now ${version}).`;
const otherRecordSeen = (seen: string | undefined, id: string) =>
	seen === undefined
		? `The source has not seen record ${id} yet, and the values differ.`
		: `The source has seen record ${seen}, not record ${id}, and the values differ.`;
const unknownVersion = (seen: bigint, version: bigint) =>
	`The source has seen version ${seen} of this record, but the CRM only has version ${version}.`;

/** A unique value that is about to be written. */
export interface Claim {
	field: Field;
	key: string;
	value: unknown;
	/** The indexes of the changes in the plan that write it. */
	indexes: number[];
}

/** The unique values that the plan writes. */
export function claimsOf(planned: PlannedChange[], unique: readonly Field[]): Claim[] {
	const claims = new Map<string, Claim>();
	for (const [index, { patch, formerId }] of planned.entries()) {
		// A record that has only left the scope must not be created a second time.
		for (const field of patch ? [...unique, idField] : []) {
			const value = field === idField ? formerId : uniqueValueIn(patch!, field);
			const key = matchKey(field, value);
			if (key === undefined) continue;
			getOrCreate(claims, JSON.stringify([field.name, key]), (): Claim => ({ field, key, value, indexes: [] })).indexes.push(index);
		}
	}
	return [...claims.values()];
}

/**
 * Finds the unique value that a record gets. Services keep the main value of a list such as `emails` in a field
 * of its own, `email`.
 */
export function uniqueValueIn(values: IDataObject, field: Field): unknown {
	const fieldValue = valueIn(values, field);
	if (fieldValue !== undefined) return fieldValue;
	const entries = entriesIn(values, field);
	return entryValue(entries.find((entry) => isObject(entry) && entry.primary === true) ?? entries[0]);
}

/**
 * Refuses the changes that would give a record a unique value which another record has, or gets in
 * the same run: the service would refuse them, and a preview has to show it.
 *
 * @param holders of each claim, the ids of the records that have the value, in scope and outside
 */
export function refuseTaken(planned: PlannedChange[], claims: Claim[], holders: string[][]): PlannedChange[] {
	const result = [...planned];
	for (const [i, { field, key, indexes }] of claims.entries()) {
		// One message for all changes that write a value: 100,000 items may have the same.
		const items = indexes.slice(0, 10).flatMap((index) => planned[index]!.item ?? []);
		const contested = indexes.length > 1 ? contestedMessage(field, key, items) : undefined;
		for (const index of indexes) {
			const holder = holders[i]!.find((id) => id !== planned[index]!.record?.id);
			const reason = holder === undefined ? contested : takenMessage(field, key, holder);
			if (reason !== undefined) result[index] = asConflict(planned[index]!, reason);
		}
	}
	return result;
}

const takenMessage = ({ name, label }: Field, key: string, id: string) =>
	name === 'id'
		? `Record ${id} exists, but is outside Records in Scope.`
		: `${label}: record ${id} already has the value “${key.slice(0, 100)}”. It may be outside Records in Scope.`;

/** @param items those that write the value; none if it follows from what the items do not have */
function contestedMessage({ label }: Field, key: string, items: number[]): string {
	const holders = items.length > 0 ? `items ${items.join(', ')}` : 'several records';
	return `${label}: ${holders} would all get the value “${key.slice(0, 100)}”, which must be unique.`;
}

/** A share of a small list may be less than one record: this many may be deleted as long as at least as many remain. */
const fewRecords = 3;

/** The numbers of records that were read to find those that the source does not have. */
export interface Readings {
	/** Number of records in scope that a source can contain: they have a key, and are not deleted already. */
	comparable: number;
	/** Number of readable records of the source. */
	inSource: number;
	/** Number of items whose record is unknown: they have no key, or an unreadable value. */
	unknown: number;
}

export const comparableCount = (records: readonly CrmRecord[], match: readonly Field[]): number =>
	records.filter((record) => isBlank(record.deleted_at) && hasKey(record, match)).length;

/**
 * Refuses to delete or set more records than the user allows, or any if the source may be incomplete: a broken export must
 * not empty the CRM. These changes are made together or not at all.
 *
 * @param notices gets the reason
 */
export function guardDeletions(
	planned: PlannedChange[],
	limits: DeletionLimits,
	readings: Readings,
	notices: Set<string>,
): PlannedChange[] {
	const isLimited = (change: PlannedChange) => isInferred(change) && (change.action === 'delete' || change.action === 'update');
	const count = planned.filter(isLimited).length;
	const cause = whyNoneDeleted(count, limits, readings);
	if (cause === undefined) return planned;
	const missing = `${count} of ${readings.comparable} records in scope that have a key are missing from the source.`;
	const reason = `${missing} None of them was changed, because ${cause}`;
	notices.add(reason);
	return planned.map((change) => (isLimited(change) ? asConflict(change, reason) : change));
}

/** The conditions are written so that a limit of NaN refuses. */
function whyNoneDeleted(count: number, { share, number }: DeletionLimits, { comparable, inSource, unknown }: Readings): string | undefined {
	if (count === 0) return undefined;
	if (unknown > 0) return `${unknown} items have no key or could not be read, and might match these records.`;
	if (inSource === 0) return 'the source is empty.';
	if (!(count <= number)) return `Maximum Deletions allows ${number}. ${largerLimit}`;
	const isFew = count <= fewRecords && count * 2 <= comparable && share > 0;
	return isFew || count * 100 <= share * comparable ? undefined : `Maximum Deletions (%) allows ${share} % of them. ${largerLimit}`;
}

const largerLimit = 'If the source never has some of these records, choose those that it has under Records in Scope. '
	+ 'If all of them are to go, increase this limit.';
