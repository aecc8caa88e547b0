import type { IDataObject } from 'n8n-workflow';

import { merge, type RecordComparison, type Side } from '../changes/merge';
import { asConflict, isInferred, type PlannedChange } from '../changes/plan';
import { isBlank } from '../values/blank';
import type { TimeSpan } from '../values/dates';
import { listed } from '../base/lists';
import {
	type CrmIndex, type CrmRecord, duplicateKeys, matchesOf, ownersOf, type PossibleOwner, possibleOwnersOf, type SourceRecord, type UniqueField, uniqueValueIn,
} from './matching';
import { getOrCreate } from '../base/maps';
import { idField } from '../fields/field';
import { matchKey } from '../fields/keys';
import { requiredVersion } from '../writing/replace';

export interface SyncRules {
	/** What to do with records of the source that the CRM does not have. */
	missingInCrm: 'create' | 'leave';
	differing: 'update' | 'leave';
	/** What to do with records in scope that the source does not have. */
	missingInSource: 'leave' | 'delete' | 'set';
	/** The values to set in records that the source does not have. */
	missingValues?: IDataObject;
	/** What to do with records that the CRM has changed since the other system saw them. */
	bothChanged: 'conflict' | 'source' | 'crm' | 'latest';
	/** Whether the items carry the version that the other system saw last. */
	checksVersions: boolean;
}

export interface Context {
	rules: SyncRules;
	/** The label of the field of each key. */
	matchLabels: readonly string[];
	/** The fields of which no two records may have the same value. */
	unique: readonly UniqueField[];
	compare: RecordComparison;
	/** The time of the last change of a record. */
	changedAtOf(record: CrmRecord): TimeSpan | undefined;
	/** The keys of a record, for each field to match on. */
	keysOf(record: CrmRecord): Array<string | undefined>;
	/** Why a record is outside the scope although the service returned it. */
	outside(record: CrmRecord): string | undefined;
}

/**
 * Decides about each record. Reads and writes nothing, so that a preview and a run decide alike.
 *
 * @param source the source records, in the order of the input items
 * @returns a decision for each source record, in their order; then for the records in scope that the source
 * does not have, unless they are left alone
 */
export function planChanges(source: SourceRecord[], crm: CrmIndex, context: Context): PlannedChange[] {
	const duplicates = duplicateKeys(source, context.matchLabels);
	// With one field to match on, records without a duplicate key cannot meet.
	const owners = context.matchLabels.length > 1 ? ownersOf(source, crm, duplicates) : undefined;

	const planned = source.map((record): PlannedChange => {
		const { item, values } = record;
		const conflict = (reason: string, found?: CrmRecord): PlannedChange => ({
			action: 'conflict',
			item,
			values,
			...(found && { record: found }),
			changes: found ? context.compare.difference(found, values).changes : [],
			reason,
		});
		const duplicate = duplicates.get(record);
		if (duplicate !== undefined) return conflict(duplicate);
		const { field, records } = matchesOf(record, crm);
		if (records.length > 1) return conflict(severalRecords(records.map(({ id }) => id)));
		const [match] = records;
		if (!match) return absentInCrm(record, context);
		const items = owners?.get(match.id) ?? [];
		if (items.length > 1) return conflict(matchedTwice(match.id, items), match);
		const outside = context.outside(match);
		if (outside !== undefined) return conflict(outside, match);
		// An earlier key of the record is not the item’s, so it is a different record; an unknown ID belongs to a deleted record.
		const crmKeys = context.keysOf(match);
		const otherField = crmKeys.slice(0, field).findIndex((key) => key !== undefined && key !== match.id);
		if (otherField !== -1) return conflict(hasOtherKey(match.id, crmKeys[otherField]!, context.matchLabels, field, otherField), match);
		return decideMatched(record, match, field, context);
	});
	if (context.rules.missingInSource === 'leave') return planned;

	// A record that matches any key of any item is in the source, whichever match is right.
	const present = new Set(
		source.flatMap(({ keys }) =>
			keys.flatMap((key, field) => (key === undefined ? [] : crm.find(field, key).map(({ id }) => id))),
		),
	);
	const missing = crm.records.filter(({ id }) => !present.has(id));
	const places = new Map(source.map(({ item }, place) => [item, place]));
	const possibleOwners = possibleOwnersOf(missing, source, context.unique, ({ item }) => !planned[places.get(item)!]!.record);
	for (const [id, { items, label }] of possibleOwners) {
		for (const item of items) {
			const place = places.get(item)!;
			if (planned[place]!.action === 'create') planned[place] = asConflict(planned[place]!, mayBeRecord(id, label));
		}
	}
	for (const record of missing) planned.push(absentInSource(record, possibleOwners.get(record.id), context));
	return planned;
}

/**
 * Decides about a record that both systems have.
 *
 * @param field index of the field that found it
 */
function decideMatched(source: SourceRecord, record: CrmRecord, field: number, context: Context): PlannedChange {
	const { rules, compare } = context;
	const { item, values } = source;
	const { changes, patch } = compare.difference(record, values);
	const base = { item, record, changes };
	if (changes.length === 0) return { ...base, action: 'unchanged' };
	if (rules.differing === 'leave') return { ...base, action: 'unchanged', reason: notUpdated };
	if (!rules.checksVersions) return { ...base, action: 'update', patch };
	const version = String(requiredVersion(record));
	// A version is valid only for the record it was read from.
	const isOwn = source.id === undefined ? field === 0 : source.id === record.id;
	const seenVersion = isOwn ? source.seenVersion : undefined;
	if (seenVersion !== undefined && seenVersion === version) return { ...base, action: 'update', patch };
	// A version that the CRM has not reached belongs to another record or account.
	if (seenVersion !== undefined && Number(seenVersion) > Number(version)) {
		return { ...base, action: 'conflict', reason: unknownVersion(seenVersion, version) };
	}
	const since = seenVersion !== undefined ? changedSince(seenVersion, version) : isOwn ? neverSeen : otherRecordSeen(source.id, record.id);
	let why = '';
	const rule = (): Side | undefined => {
		const ruled = ruling(rules.bothChanged, source.changedAt, context.changedAtOf(record));
		({ why } = ruled);
		return ruled.winner;
	};
	const merged = merge(compare, { base: isOwn ? source.agreed : undefined, target: values, current: record }, rule);
	const reason = [since, why].filter(Boolean).join(' ');
	if (!merged) return { ...base, action: 'conflict', reason };
	if (merged.changes.every(({ kept }) => kept)) return { ...base, changes: merged.changes, action: 'unchanged', reason };
	return { ...base, changes: merged.changes, action: 'update', patch: merged.patch, ...(merged.isDecided && { reason }) };
}

/** The side that wins if both have changed a value; undefined for a conflict. */
function ruling(
	rule: SyncRules['bothChanged'],
	source: TimeSpan | undefined,
	crm: TimeSpan | undefined,
): { winner?: Side; why: string } {
	switch (rule) {
		case 'source':
			return { winner: 'target', why: 'The source takes precedence.' };
		case 'crm':
			return { winner: 'current', why: 'The CRM takes precedence.' };
		case 'conflict':
			return { why: '' };
		case 'latest':
			// At the stored precision (second, minute or day), equal times have no later one.
			if (source && crm && source.from > crm.to) return { winner: 'target', why: 'The source was changed later.' };
			if (source && crm && crm.from > source.to) return { winner: 'current', why: 'The CRM was changed later.' };
			return { why: noOrder };
	}
}

function absentInCrm({ item, values, wasInCrm, id, keys }: SourceRecord, { rules, compare }: Context): PlannedChange {
	const { changes, patch } = compare.difference({}, values);
	const base = { item, values, changes };
	if (wasInCrm && rules.bothChanged !== 'source') {
		const isKept = rules.bothChanged === 'crm';
		return { ...base, action: isKept ? 'unchanged' : 'conflict', reason: deletedInCrm };
	}
	if (rules.missingInCrm === 'leave') return { ...base, action: 'unchanged', reason: notCreated };
	if (id === undefined) return { ...base, action: 'create', patch };
	const hasOtherKey = keys.filter((key) => key !== undefined).length > 1;
	if (!hasOtherKey) return { ...base, action: 'conflict', reason: notFoundAgain(id) };
	return { ...base, action: 'create', patch, formerId: id };
}

function absentInSource(record: CrmRecord, owner: PossibleOwner | undefined, context: Context): PlannedChange {
	const { rules, compare } = context;
	if (owner) return { action: 'conflict', record, changes: [], reason: mayBeItem(owner) };
	if (context.keysOf(record).every((key) => key === undefined)) {
		return { action: 'unchanged', record, changes: [], reason: withoutKey(context.matchLabels) };
	}
	if (rules.missingInSource !== 'set') {
		if (!isBlank(record.deleted_at)) return { action: 'unchanged', record, changes: [], reason: goneAlready };
		return { action: 'delete', record, changes: [], reason: notInSource };
	}
	const { changes, patch } = compare.difference(record, rules.missingValues ?? {});
	const base = { record, changes, reason: notInSource };
	return changes.length === 0 ? { ...base, action: 'unchanged' } : { ...base, action: 'update', patch };
}

const deletedInCrm =
	'The source has seen this record, but the CRM no longer returns it: it was deleted, or is no longer in Records in Scope.';
const notCreated = 'The CRM does not have this record, and When Missing in the CRM is set to Leave It Out.';
const goneAlready = 'The source does not have this record, and the CRM has deleted it already.';
const notInSource = 'The source does not have this record.';
const notFoundAgain = (id: string) =>
	`The CRM no longer has record ${id}. A new one would get another ID, which this item does not have, and the next run would create it again. Choose a second field in Then Match On.`;
const mayBeRecord = (id: string, label: string) =>
	`Record ${id} has this item’s ${label} but a different key, so it may be the same record. Correct the key.`;
const mayBeItem = ({ items, label }: PossibleOwner) =>
	`No item has this record’s key, but item ${items[0]} has its ${label}, so it may be that record. It was left unchanged. Correct the key.`;
const withoutKey = (labels: readonly string[]) =>
	`The record has no ${labels.join(' and no ')}, so no item can match it. It was left unchanged.`;
const severalRecords = (ids: string[]) =>
	`Several records of the CRM have this key: ${listed(ids)}. Merge or correct them.`;
const hasOtherKey = (id: string, key: string, labels: readonly string[], field: number, otherField: number) =>
	`Record ${id} has this item’s ${labels[field]}, but another ${labels[otherField]}: “${key.slice(0, 100)}”. It may be another record. Correct the key, or remove it from one of them.`;
const matchedTwice = (id: string, items: number[]) =>
	`Record ${id} belongs to several items (${listed(items)}). Only one of them may be this record.`;
const notUpdated = 'The values differ, and When Values Differ is set to leave the record unchanged.';
const noOrder = 'It is unknown which of the two was changed later.';
const neverSeen = 'The source has not seen this record of the CRM yet, and its values differ.';
const changedSince = (seen: string, version: string) =>
	`The CRM has changed this record since the source saw it (version ${seen}, now ${version}).`;
const otherRecordSeen = (seen: string | undefined, id: string) =>
	seen === undefined
		? `The source has not seen record ${id} yet, and the values differ.`
		: `The source has seen record ${seen}, not record ${id}, and the values differ.`;
const unknownVersion = (seen: string, version: string) =>
	`The source has seen version ${seen} of this record, but the CRM only has version ${version}.`;

/** A unique value that is about to be written. */
export interface Claim {
	place: number;
	field: UniqueField;
	key: string;
	value: unknown;
}

/** The records that have unique values, in scope and outside. */
interface Holders {
	of(field: UniqueField, key: string): readonly string[];
}

/** The unique values that the plan writes. */
export function claimsOf(planned: PlannedChange[], unique: UniqueField[]): Claim[] {
	return planned.flatMap(({ action, patch, formerId }, place) => {
		if (patch === undefined || (action !== 'create' && action !== 'update')) return [];
		const claims = unique.flatMap((field): Claim[] => {
			const value = uniqueValueIn(patch, field);
			const key = matchKey(field, value);
			return key === undefined ? [] : [{ place, field, key, value }];
		});
		// A record that has only left the scope must not be created a second time.
		if (formerId !== undefined) claims.push({ place, field: idField, key: formerId, value: formerId });
		return claims;
	});
}

/**
 * Refuses the changes that would give a record a unique value which another record has, or gets in
 * the same run: the service would refuse them, and a preview has to show it.
 */
export function refuseDuplicates(planned: PlannedChange[], claims: Claim[], holders: Holders): PlannedChange[] {
	const places = new Map<string, number[]>();
	const nameOf = ({ field, key }: Claim) => JSON.stringify([field.name, key]);
	for (const claim of claims) getOrCreate(places, nameOf(claim), () => []).push(claim.place);
	// One message for all claims of a value: 100,000 items may have the same.
	const messages = new Map<string, string>();
	const result = [...planned];
	for (const claim of claims) {
		const { place, field, key } = claim;
		const ownId = planned[place]?.record?.id;
		const holder = holders.of(field, key).find((id) => id !== ownId);
		const name = nameOf(claim);
		const rivals = places.get(name) ?? [];
		if (holder !== undefined) result[place] = asConflict(planned[place]!, takenMessage(field, key, holder));
		else if (rivals.length > 1) {
			const contestants = () => rivals.slice(0, 10).flatMap((rival) => planned[rival]?.item ?? []);
			const message = getOrCreate(messages, name, () => contestedMessage(field, key, contestants()));
			result[place] = asConflict(planned[place]!, message);
		}
	}
	return result;
}

const takenMessage = ({ name, label }: UniqueField, key: string, id: string) =>
	name === 'id'
		? `Record ${id} exists, but is outside Records in Scope.`
		: `${label}: record ${id} already has the value “${key.slice(0, 100)}”. It may be outside Records in Scope.`;

const contestedMessage = ({ label }: UniqueField, key: string, items: number[]) =>
	`${label}: items ${items.join(', ')} would all get the value “${key.slice(0, 100)}”, which must be unique.`;

/** The maximum of records that one run may delete or set as missing. */
export interface DeletionLimits {
	/** Maximum percentage of the records in scope. */
	share: number;
	number: number;
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

/**
 * Refuses to delete or set more records than the user allows, or any if the source may be incomplete: a broken export must
 * not empty the CRM. These changes are made together or not at all.
 *
 * @returns the plan, and the reason if the changes were refused
 */
export function guardDeletions(planned: PlannedChange[], limits: DeletionLimits, readings: Readings): { planned: PlannedChange[]; reason?: string } {
	const isLimited = (change: PlannedChange) => isInferred(change) && (change.action === 'delete' || change.action === 'update');
	const count = planned.filter(isLimited).length;
	const reason = count === 0 ? undefined : refusal(count, limits, readings);
	if (reason === undefined) return { planned };
	return { planned: planned.map((change) => (isLimited(change) ? asConflict(change, reason) : change)), reason };
}

const largerLimit = 'If the source never has some of these records, choose those that it has under Records in Scope. If all of them are to go, increase this limit.';

function refusal(
	count: number,
	{ share, number }: DeletionLimits,
	{ comparable, inSource, unknown }: Readings,
): string | undefined {
	const missing = `${count} of ${comparable} records in scope that have a key are missing from the source. None of them was changed`;
	if (unknown > 0) {
		return `${missing}, because ${unknown} items have no key or could not be read, and might match these records.`;
	}
	if (inSource === 0) return `${missing}, because the source is empty.`;
	// The condition is written so that a limit of NaN refuses.
	if (!(count <= number)) return `${missing}, because Maximum Deletions allows ${number}. ${largerLimit}`;
	const isFew = count <= fewRecords && count * 2 <= comparable && share > 0;
	if (!isFew && !(count * 100 <= share * comparable)) {
		return `${missing}, because Maximum Deletions (%) allows ${share} % of them. ${largerLimit}`;
	}
	return undefined;
}
