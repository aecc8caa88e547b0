import type { IDataObject } from 'n8n-workflow';

import type { Change, Difference } from './compare';
import { duplicateKeys, listed, matchesOf, ownersOf, type CrmIndex, type CrmRecord, type SourceRecord } from './matching';

/** The user's choices. */
export interface SyncRules {
	/** Records of the source that the CRM does not have. */
	missingInCrm: 'create' | 'leave';
	/** Records whose values differ. */
	differing: 'update' | 'leave';
	/** Records in scope that the source does not have. */
	missingInSource: 'leave' | 'delete' | 'set';
	/** The values for those, with `set`. */
	missingValues?: IDataObject;
	/** Records that the CRM has changed since the other system saw them. */
	bothChanged: 'conflict' | 'source' | 'crm' | 'latest';
	/** Whether the items carry the version that the other system saw last. */
	checksVersions: boolean;
}

export type SyncAction = 'create' | 'update' | 'unchanged' | 'delete' | 'conflict';

/** The decision about one record. */
export interface PlannedChange {
	action: SyncAction;
	/** Index of the source's item; undefined for records that the source does not have. */
	item?: number;
	/** The CRM's record, if there is one. */
	record?: CrmRecord;
	/** The source's values, where the CRM has no record. */
	values?: IDataObject;
	/** What is sent to create or to update. */
	patch?: IDataObject;
	changes: Change[];
	/** Why the action is not what the values alone would suggest. */
	reason?: string;
}

interface Context {
	rules: SyncRules;
	/** The field that each key is of, in words. */
	matchLabels: readonly string[];
	compare(stored: IDataObject, given: IDataObject): Difference;
	/** The version and the time of the last change of a record. */
	versionOf(record: CrmRecord): string | undefined;
	changedAtOf(record: CrmRecord): number | undefined;
}

/**
 * Decides what is done with each record. Nothing is read and nothing is written, so that a preview
 * and a run decide the same.
 *
 * @param source in the order of the input items
 * @returns a decision for each source record, in their order; then for the records in scope that the
 * source does not have, unless they are left alone
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
			changes: found ? context.compare(found, values).changes : [],
			reason,
		});
		const duplicate = duplicates.get(record);
		if (duplicate !== undefined) return conflict(duplicate);
		const { field, records } = matchesOf(record, crm);
		if (records.length > 1) return conflict(severalRecords(records.map(({ id }) => id)));
		const [match] = records;
		if (!match) return missingInCrm(record, context);
		const owner = field > 0 ? owners?.get(match.id) : undefined;
		if (owner?.byFirst !== undefined) return conflict(alreadyMatched(match.id, owner.byFirst), match);
		if (owner && owner.byLater.length > 1) return conflict(matchedTwice(match.id, owner.byLater), match);
		return existing(record, match, context);
	});
	if (context.rules.missingInSource === 'leave') return planned;

	// A record that any key of any item finds is in the source, whichever of them is right.
	const present = new Set(
		source.flatMap(({ keys }) =>
			keys.flatMap((key, field) => (key === undefined ? [] : crm.find(field, key).map(({ id }) => id))),
		),
	);
	for (const record of crm.records) {
		if (!present.has(record.id)) planned.push(missingInSource(record, context));
	}
	return planned;
}

function missingInCrm(record: SourceRecord, { rules, compare }: Context): PlannedChange {
	const { item, values, wasInCrm } = record;
	const { changes, patch } = compare({}, values);
	const base = { item, values, changes };
	if (wasInCrm && rules.bothChanged !== 'source') {
		const isKept = rules.bothChanged === 'crm';
		return { ...base, action: isKept ? 'unchanged' : 'conflict', reason: deletedInCrm };
	}
	if (rules.missingInCrm === 'leave') return { ...base, action: 'unchanged', reason: notCreated };
	return { ...base, action: 'create', patch };
}

function existing(source: SourceRecord, record: CrmRecord, context: Context): PlannedChange {
	const { rules } = context;
	const { item, values } = source;
	const { changes, patch } = context.compare(record, values);
	const base = { item, record, changes };
	if (changes.length === 0) return { ...base, action: 'unchanged' };
	if (rules.differing === 'leave') return { ...base, action: 'unchanged', reason: notUpdated };
	const version = context.versionOf(record);
	const { seenVersion, changedAt } = source;
	if (!rules.checksVersions || (seenVersion !== undefined && seenVersion === version)) {
		return { ...base, action: 'update', patch };
	}
	if (version === undefined) return { ...base, action: 'conflict', reason: noVersion };
	// A version the CRM has not reached is of another record or account.
	if (seenVersion !== undefined && Number(seenVersion) > Number(version)) {
		return { ...base, action: 'conflict', reason: unknownVersion(seenVersion, version) };
	}
	const since = seenVersion === undefined ? neverSeen : changedSince(seenVersion, version);
	switch (rules.bothChanged) {
		case 'source':
			return { ...base, action: 'update', patch, reason: `${since} The source takes precedence.` };
		case 'crm':
			return { ...base, action: 'unchanged', reason: `${since} The CRM takes precedence.` };
		case 'conflict':
			return { ...base, action: 'conflict', reason: since };
		case 'latest': {
			const crmTime = context.changedAtOf(record);
			if (changedAt === undefined || crmTime === undefined || changedAt === crmTime) {
				return { ...base, action: 'conflict', reason: `${since} ${noOrder}` };
			}
			return changedAt > crmTime
				? { ...base, action: 'update', patch, reason: `${since} The source was changed later.` }
				: { ...base, action: 'unchanged', reason: `${since} The CRM was changed later.` };
		}
	}
}

function missingInSource(record: CrmRecord, { rules, compare }: Context): PlannedChange {
	if (rules.missingInSource !== 'set') {
		return { action: 'delete', record, changes: [], reason: notInSource };
	}
	const { changes, patch } = compare(record, rules.missingValues ?? {});
	const base = { record, changes, reason: notInSource };
	return changes.length === 0 ? { ...base, action: 'unchanged' } : { ...base, action: 'update', patch };
}

/** The decision to leave a record alone and report it. */
export function asConflict(planned: PlannedChange, reason: string): PlannedChange {
	const { patch: _, ...rest } = planned;
	return { ...rest, action: 'conflict', reason };
}

/** Whether the source does not have the record. */
export const isMissingInSource = ({ item }: PlannedChange): boolean => item === undefined;

const deletedInCrm =
	'The source has seen this record in the CRM, and the CRM has none any more: it was deleted, or left Records in Scope.';
const notCreated = 'The CRM does not have this record, and Missing in the CRM is set to leave it.';
const notUpdated = 'The values differ, and When Values Differ is set to leave them.';
const noVersion = 'The service reports no version, so it is unknown whether the CRM was changed as well.';
const noOrder = 'It is unknown which of the two was changed later.';
const notInSource = 'The source does not have this record.';
const neverSeen = 'The source has not seen this record of the CRM yet, and its values differ.';
const changedSince = (seen: string, version: string) =>
	`The CRM has changed this record since the source saw it (version ${seen}, now ${version}).`;
const unknownVersion = (seen: string, version: string) =>
	`The source has seen version ${seen} of this record, and the CRM has only reached ${version}.`;
const severalRecords = (ids: string[]) =>
	`Several records of the CRM have this key: ${listed(ids)}. Merge or correct them.`;
const alreadyMatched = (id: string, item: number) =>
	`Record ${id} belongs to item ${item}. Correct the keys of one of the two items.`;
const matchedTwice = (id: string, items: number[]) =>
	`Record ${id} belongs to several items (${listed(items)}). Only one of them may be this record.`;
