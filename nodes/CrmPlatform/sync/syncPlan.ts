import type { IDataObject } from 'n8n-workflow';

import { listed } from '../base/lists';
import { getOrCreate, groupedBy } from '../base/maps';
import { memberAtPath } from '../base/ownMembers';
import { asConflict, type FieldChange, type RecordChange } from '../changes/apply';
import { idField, type Field } from '../fields/field';
import { allValuesIn, looseText, matchKey } from '../fields/keys';
import type { Difference, RecordComparison } from '../fields/recordComparison';
import { isBlank } from '../values/blank';
import { timeSpan, type TimeSpan } from '../values/dates';
import { requiredVersion } from '../writing/versions';
import type { CrmRecord, CrmRecords } from './crmRecords';
import type { PlanSettings, SyncRules } from './settings';
import { matchKeysOf, type SourceRecord } from './syncSource';

/**
 * Decides about each record. Reads and writes nothing, so that a preview and a run decide alike.
 *
 * @param sourceRecords in the order of the input items
 * @returns a decision for each source record, in their order; then for the records in scope that the source
 * does not have, unless they are left alone
 */
export function planChanges(sourceRecords: SourceRecord[], crm: CrmRecords, settings: PlanSettings): RecordChange[] {
	const matches = matchSource(sourceRecords, crm, settings.match);
	const decisions = sourceRecords.map((sourceRecord, i) => planRecord(sourceRecord, matches[i]!, settings));
	if (settings.rules.missingInSource === 'leave') return decisions;
	const missing = missingRecords(sourceRecords, crm, settings.match);
	const owners = possibleOwnersOf(missing, sourceRecords, matches, settings);
	const ofMissing = missing.map((record) => planMissingInSource(record, owners.get(record.id)?.[0], settings));
	return [...withoutSecondCreations(decisions, missing, owners), ...ofMissing];
}

/** Which record of the CRM a source record is. */
interface RecordMatch {
	/** Undefined if the CRM has none, or if it is unclear which of several. */
	record?: CrmRecord;
	/** Whether it is the record whose version the source has, as far as the keys show. */
	isSeen?: boolean;
	/** Why the source record is left alone. */
	conflict?: string | undefined;
}

/** Finds the record of each source record: the first field to match on that finds any decides. */
function matchSource(sourceRecords: SourceRecord[], crm: CrmRecords, match: readonly Field[]): RecordMatch[] {
	const recordsOfKey = groupedBy(sourceRecords, decidingKey);
	const sharingKey = (sourceRecord: SourceRecord) => recordsOfKey(decidingKey(sourceRecord));
	const candidates = sourceRecords.map((each) => (sharingKey(each).length > 1 ? undefined : candidatesOf(each, crm, match)));
	/** The items that lead to each record. */
	const itemsOf = new Map<string, number[]>();
	for (const [i, { item }] of sourceRecords.entries()) {
		for (const { id } of candidates[i]?.records ?? []) getOrCreate(itemsOf, id, () => []).push(item);
	}
	return sourceRecords.map((sourceRecord, i): RecordMatch => {
		if (!candidates[i]) return { conflict: sharedKey(sourceRecord, match, sharingKey(sourceRecord)) };
		const { field, records: [record, ...others] } = candidates[i];
		if (!record) return {};
		if (others.length > 0) return { conflict: severalRecords([record, ...others].map(({ id }) => id)) };
		// A version is valid only for the record it was read from.
		const isSeen = sourceRecord.id === undefined ? field === 0 : sourceRecord.id === record.id;
		const items = itemsOf.get(record.id)!;
		return { record, isSeen, conflict: items.length > 1 ? matchedTwice(record.id, items) : otherKeyOf(record, match, field) };
	});
}

/** The first field with a value, and that key: an earlier field distinguishes the others. */
const decidingField = ({ keys }: SourceRecord): number => keys.findIndex((key) => key !== undefined);
const decidingKey = (record: SourceRecord): string => `${decidingField(record)} ${record.keys[decidingField(record)]}`;

/** The records with a key of a source record, and the index of the first field that finds any. */
function candidatesOf({ keys }: SourceRecord, crm: CrmRecords, match: readonly Field[]): { field: number; records: readonly CrmRecord[] } {
	for (const [field, key] of keys.entries()) {
		const records = crm.find(match[field]!, key);
		if (records.length > 0) return { field, records };
	}
	return { field: 0, records: [] };
}

/** Why the record that a field found is not the item's: it has an earlier key, which the item lacks. An unknown ID belongs to a deleted record. */
function otherKeyOf(record: CrmRecord, match: readonly Field[], field: number): string | undefined {
	const keys = matchKeysOf(record, match.slice(0, field));
	const other = keys.findIndex((key) => key !== undefined && key !== record.id);
	return other === -1 ? undefined : hasOtherKey(record.id, match[field]!.label, match[other]!.label, keys[other]!);
}

function sharedKey(record: SourceRecord, match: readonly Field[], sharing: readonly SourceRecord[]): string {
	const field = decidingField(record);
	const items = listed(sharing.slice(0, 11).map(({ item }) => item));
	return `${match[field]!.label}: “${record.keys[field]!.slice(0, 100)}” is the key of several items (${items}). Only one of them may have it.`;
}

const severalRecords = (ids: string[]) =>
	`Several records of the CRM have this key: ${listed(ids)}. Merge or correct them.`;
const matchedTwice = (id: string, items: number[]) =>
	`Record ${id} belongs to several items (${listed(items)}). Only one of them may be this record.`;
const hasOtherKey = (id: string, label: string, otherLabel: string, otherKey: string) =>
	`Record ${id} has this item’s ${label}, but another ${otherLabel}: “${otherKey.slice(0, 100)}”. It may be another record. Correct the key, or remove it from one of them.`;

/** An item that may be a record that no key has found, and the label of the field of which it has the record's unique value. */
interface PossibleOwner {
	item: number;
	/** Its index in the source. */
	index: number;
	label: string;
}

/** The items that may be a record, by its ID; an item once for each value that they share. */
type PossibleOwners = ReadonlyMap<string, PossibleOwner[]>;

/** Finds the records that the source does not have. One that has any key of any item is in the source, whichever match is right. */
function missingRecords(sourceRecords: SourceRecord[], crm: CrmRecords, match: readonly Field[]): CrmRecord[] {
	const present = new Set(sourceRecords.flatMap(({ keys }) => keys.flatMap((key, i) => crm.find(match[i]!, key).map(({ id }) => id))));
	return crm.records.filter(({ id }) => !present.has(id));
}

/** Finds the records to which a unique value of an item points: they are not missing, even if that item fails or matches another record. */
function possibleOwnersOf(
	records: CrmRecord[], sourceRecords: SourceRecord[], matches: RecordMatch[], { match, unique }: PlanSettings,
): PossibleOwners {
	const owners = new Map<string, PossibleOwner[]>();
	for (const field of match.includes(idField) ? [...unique, idField] : unique) {
		const ids = new Map<string, string[]>();
		for (const record of records) {
			for (const form of allValuesIn(record, field).flatMap((value) => formsOf(field, value))) getOrCreate(ids, form, () => []).push(record.id);
		}
		if (ids.size === 0) continue;
		for (const [index, { item, values, id }] of sourceRecords.entries()) {
			// The key of an item without a match may be in a different notation.
			const formCount = matches[index]!.record ? 1 : 2;
			const forms = (field.name === 'id' ? [id] : allValuesIn(values, field)).flatMap((value) => formsOf(field, value).slice(0, formCount));
			for (const recordId of forms.flatMap((form) => ids.get(form) ?? [])) {
				getOrCreate(owners, recordId, () => []).push({ item, index, label: field.label });
			}
		}
	}
	return owners;
}

/** A value in any case, then in any notation: services do not always state whether case matters. */
function formsOf(field: Field, value: unknown): string[] {
	const key = matchKey(field, value);
	return key === undefined ? [] : [key.toLowerCase(), `loosely ${looseText(key)}`];
}

function planRecord(sourceRecord: SourceRecord, { record, isSeen = false, conflict }: RecordMatch, settings: PlanSettings): RecordChange {
	const { item, values } = sourceRecord;
	if (conflict !== undefined) {
		const changes = record ? settings.compare.difference(record, values).changes : [];
		return { action: 'conflict', item, values, ...(record && { record }), changes, reason: conflict };
	}
	return record ? planMatched(sourceRecord, record, isSeen, settings) : planMissingInCrm(sourceRecord, settings);
}

/** Decides about a record that both systems have. @param isSeen as in its match */
function planMatched(sourceRecord: SourceRecord, record: CrmRecord, isSeen: boolean, settings: PlanSettings): RecordChange {
	const { rules, compare } = settings;
	const { item, values } = sourceRecord;
	const { changes, patch } = compare.difference(record, values);
	const base = { item, record, changes };
	if (changes.length === 0) return { ...base, action: 'unchanged' };
	if (rules.differing === 'leave') return { ...base, action: 'unchanged', reason: notUpdated };
	if (!rules.checksVersions) return { ...base, action: 'update', patch };
	const version = requiredVersion(record);
	const seen = isSeen && sourceRecord.seenVersion !== undefined ? BigInt(sourceRecord.seenVersion) : undefined;
	if (seen === version) return { ...base, action: 'update', patch };
	// A version that the CRM has not reached belongs to another record or account.
	if (seen !== undefined && seen > version) return { ...base, action: 'conflict', reason: unknownVersion(seen, version) };
	if (!isSeen) return planOutdated({ ...sourceRecord, agreed: undefined }, base, otherRecordSeen(sourceRecord.id, record.id), settings);
	return planOutdated(sourceRecord, base, seen === undefined ? neverSeen : changedInCrm(seen, version), settings);
}

/** Merges a record that may have been changed on both sides. @param outdated why the source does not know its current version */
function planOutdated(
	{ values, changedAt, agreed }: SourceRecord,
	base: Pick<RecordChange, 'item' | 'changes'> & { record: CrmRecord },
	outdated: string,
	{ rules, compare, changedField }: PlanSettings,
): RecordChange {
	const { winner, why } = ruling(rules.bothChanged, changedAt, timeSpan(base.record[changedField], 'utc'));
	const merged = reconcile(compare, { agreed, source: values, crm: base.record }, winner);
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
	rule: SyncRules['bothChanged'], sourceChange: TimeSpan | undefined, crmChange: TimeSpan | undefined,
): { winner?: Side; why?: string } {
	if (rule === 'conflict') return {};
	if (rule !== 'latest') return { winner: rule, why: rule === 'source' ? 'The source takes precedence.' : 'The CRM takes precedence.' };
	// At the stored precision (second, minute or day), equal times have no later one.
	if (sourceChange && crmChange && sourceChange.from > crmChange.to) return { winner: 'source', why: 'The source was changed later.' };
	if (sourceChange && crmChange && crmChange.from > sourceChange.to) return { winner: 'crm', why: 'The CRM was changed later.' };
	return { why: noOrder };
}

export type Side = 'source' | 'crm';

/** The differences between a record of the source and the CRM's, of which some may be kept. */
interface Reconciled extends Difference {
	changes: FieldChange[];
	/** Whether the winner has decided about a value. */
	isRuled: boolean;
}

/**
 * Reconciles a record field by field, by the values that both sides had last: a value that one side has changed is taken from it.
 *
 * @param winner whose values that both have changed are taken, and those of which it is unknown what both had last
 * @returns undefined for a conflict: there are such values, and no winner
 */
export function reconcile(
	compare: RecordComparison,
	{ agreed, source, crm }: { agreed: IDataObject | undefined; source: IDataObject; crm: IDataObject },
	winner: Side | undefined,
): Reconciled | undefined {
	const { changes } = compare.difference(crm, source);
	const changedBy = changes.map(({ field, from, to }): Side | 'both' => {
		const last = agreedValue(agreed, field);
		if (last === undefined) return 'both';
		if (compare.covers(field, last, to)) return 'crm';
		// A list is written as a whole: what the CRM has added within it counts, too.
		return compare.isSame(field, from, last) ? 'source' : 'both';
	});
	const isRuled = changedBy.includes('both');
	if (isRuled && winner === undefined) return undefined;
	const reconciled = changes.map((change, i): FieldChange => {
		const side = changedBy[i] === 'both' ? winner : changedBy[i];
		return side === 'crm' ? { ...change, kept: true } : change;
	});
	const keptFields = new Set(reconciled.filter((change) => change.kept).map(({ field }) => field));
	return { changes: reconciled, patch: compare.difference(crm, source, (field) => !keptFields.has(field)).patch, isRuled };
}

/** The value of a field that both had last: null if it was empty, undefined if it is unknown. */
function agreedValue(agreed: IDataObject | undefined, field: string): unknown {
	if (!agreed || Object.hasOwn(agreed, field)) return agreed?.[field];
	return field.split('.').reduce<unknown>((value, key) => (value === null ? null : memberAtPath(value, [key])), agreed);
}

function planMissingInCrm({ item, values, id, seenVersion, keys }: SourceRecord, { rules, compare }: PlanSettings): RecordChange {
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
function withoutSecondCreations(decisions: RecordChange[], missing: CrmRecord[], owners: PossibleOwners): RecordChange[] {
	const reasons = new Map<number, string>();
	for (const { id } of missing) for (const { index, label } of owners.get(id) ?? []) getOrCreate(reasons, index, () => mayBeRecord(id, label));
	return decisions.map((change, index) => {
		const reason = change.action === 'create' ? reasons.get(index) : undefined;
		return reason === undefined ? change : asConflict(change, reason);
	});
}

function planMissingInSource(record: CrmRecord, owner: PossibleOwner | undefined, { rules, compare, match }: PlanSettings): RecordChange {
	const decision = (action: RecordChange['action'], reason: string): RecordChange => ({ action, record, changes: [], reason });
	if (owner) return decision('conflict', mayBeItem(owner));
	if (!hasKey(record, match)) return decision('unchanged', withoutKey(match.map(({ label }) => label)));
	if (rules.missingInSource === 'delete') return isBlank(record.deleted_at) ? decision('delete', notInSource) : decision('unchanged', goneAlready);
	const difference = compare.difference(record, rules.valuesToSet ?? {});
	if (difference.changes.length === 0) return decision('unchanged', notInSource);
	return { action: 'update', record, ...difference, reason: notInSource };
}

const hasKey = (record: CrmRecord, match: readonly Field[]): boolean => matchKeysOf(record, match).some((key) => key !== undefined);

/** Number of records that a source can contain: they have a key, and are not deleted already. */
export const comparableCount = (records: readonly CrmRecord[], match: readonly Field[]): number =>
	records.filter((record) => isBlank(record.deleted_at) && hasKey(record, match)).length;

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
const changedInCrm = (seen: bigint, version: bigint) =>
	`The CRM has changed this record since the source saw it (version ${seen}, now ${version}).`;
const otherRecordSeen = (seen: string | undefined, id: string) =>
	seen === undefined
		? `The source has not seen record ${id} yet, and the values differ.`
		: `The source has seen record ${seen}, not record ${id}, and the values differ.`;
const unknownVersion = (seen: bigint, version: bigint) =>
	`The source has seen version ${seen} of this record, but the CRM only has version ${version}.`;
