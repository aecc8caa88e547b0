import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import type { TimeSpan } from '../values/dates';
import type { Change } from './compare';
import type { CrmRecord, SourceRecord } from './crmIndex';
import type { Context, PlannedChange, SyncRules } from './plannedChange';

/**
 * Decides about a record that both systems have.
 *
 * @param field index of the field that found it
 */
export function decideMatched(source: SourceRecord, record: CrmRecord, field: number, context: Context): PlannedChange {
	const { rules, compare } = context;
	const { item, values } = source;
	const { changes, patch } = compare.difference(record, values);
	const base = { item, record, changes };
	if (changes.length === 0) return { ...base, action: 'unchanged' };
	if (rules.differing === 'leave') return { ...base, action: 'unchanged', reason: notUpdated };
	if (!rules.checksVersions) return { ...base, action: 'update', patch };
	const version = context.versionOf(record);
	// A version is valid only for the record it was read from.
	const isOwn = source.id === undefined ? field === 0 : source.id === record.id;
	const seenVersion = isOwn ? source.seenVersion : undefined;
	if (seenVersion !== undefined && seenVersion === version) return { ...base, action: 'update', patch };
	if (version === undefined) return { ...base, action: 'conflict', reason: noVersion };
	// A version that the CRM has not reached belongs to another record or account.
	if (seenVersion !== undefined && Number(seenVersion) > Number(version)) {
		return { ...base, action: 'conflict', reason: unknownVersion(seenVersion, version) };
	}
	const since = seenVersion !== undefined ? changedSince(seenVersion, version) : isOwn ? neverSeen : otherRecordSeen(source.id, record.id);
	return merged(isOwn ? source : { ...source, agreed: undefined }, record, changes, since, context);
}

/**
 * Merges field by field if the last agreed values are known: a value changed on one side only is taken from it.
 * The rule decides about values changed on both sides, and about all values if the agreed ones are unknown.
 */
function merged(
	{ item, values, agreed, changedAt }: Omit<SourceRecord, 'agreed'> & { agreed?: IDataObject | undefined },
	record: CrmRecord,
	changes: Change[],
	since: string,
	{ rules, compare, changedAtOf }: Context,
): PlannedChange {
	const isEditedByCrm = new Set<Change>();
	const isEditedByBoth = new Set<Change>();
	for (const change of changes) {
		const base = agreedValue(agreed, change.field);
		if (base === undefined) isEditedByBoth.add(change);
		else if (compare.isSame(change.field, base, change.to)) isEditedByCrm.add(change);
		// A list is written as a whole: what the CRM has added within it counts, too.
		else if (![[change.from, base], [base, change.from]].every(([a, b]) => compare.isSame(change.field, a, b))) isEditedByBoth.add(change);
	}
	const { winner, why } =
		isEditedByBoth.size === 0 ? { winner: 'crm', why: '' } : ruling(rules.bothChanged, changedAt, changedAtOf(record));
	const reason = [since, why].filter(Boolean).join(' ');
	if (winner === undefined) return { action: 'conflict', item, record, changes, reason };
	const isKept = (change: Change) => isEditedByCrm.has(change) || (winner === 'crm' && isEditedByBoth.has(change));
	const marked = changes.map((change): Change => (isKept(change) ? { ...change, kept: true } : change));
	const writtenFields = new Set(marked.flatMap(({ field, kept }) => (kept ? [] : [field])));
	if (writtenFields.size === 0) return { action: 'unchanged', item, record, changes: marked, reason };
	const { patch } = compare.difference(record, values, (field) => writtenFields.has(field));
	const isPlain = isEditedByBoth.size === 0 && isEditedByCrm.size === 0;
	return { action: 'update', item, record, changes: marked, patch, ...(!isPlain && { reason }) };
}

/** The side that wins if both have changed a value; undefined for a conflict. */
function ruling(
	rule: SyncRules['bothChanged'],
	source: TimeSpan | undefined,
	crm: TimeSpan | undefined,
): { winner?: 'source' | 'crm'; why: string } {
	switch (rule) {
		case 'source':
			return { winner: 'source', why: 'The source takes precedence.' };
		case 'crm':
			return { winner: 'crm', why: 'The CRM takes precedence.' };
		case 'conflict':
			return { why: '' };
		case 'latest':
			// At the stored precision (second, minute or day), equal times have no later one.
			if (source && crm && source.from > crm.to) return { winner: 'source', why: 'The source was changed later.' };
			if (source && crm && crm.from > source.to) return { winner: 'crm', why: 'The CRM was changed later.' };
			return { why: noOrder };
	}
}

/** The value of a field that both agreed on last: null if it was empty, undefined if it is unknown. */
function agreedValue(agreed: IDataObject | undefined, field: string): unknown {
	if (!agreed) return undefined;
	if (Object.hasOwn(agreed, field)) return agreed[field];
	let value: unknown = agreed;
	for (const key of field.split('.')) {
		if (value === null) return null;
		if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
		value = value[key];
	}
	return value;
}

const notUpdated = 'The values differ, and When Values Differ is set to leave the record unchanged.';
const noVersion = 'The CRM reports no version, so it is unknown whether the CRM was changed as well.';
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
