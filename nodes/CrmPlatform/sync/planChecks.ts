import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { asConflict, type FieldChange, type RecordChange } from '../changes/apply';
import { whyRefused } from '../fields/checks';
import { idField, type Field } from '../fields/field';
import { entriesIn, entryValue, matchKey, valueIn } from '../fields/keys';
import type { CrmRecords } from './crmRecords';
import type { DeletionLimits, SyncSettings } from './settings';

/** A unique value that is about to be written. */
interface Claim {
	field: Field;
	key: string;
	value: unknown;
	/** The indexes of the changes in the plan that write it. */
	indexes: number[];
}

function claimsOf(planned: RecordChange[], unique: readonly Field[]): Claim[] {
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

/** Services keep the main value of a list such as `emails` in a field of its own, `email`. */
function uniqueValueIn(values: IDataObject, field: Field): unknown {
	const fieldValue = valueIn(values, field);
	if (fieldValue !== undefined) return fieldValue;
	const entries = entriesIn(values, field);
	return entryValue(entries.find((entry) => isObject(entry) && entry.primary === true) ?? entries[0]);
}

/** Unique values that another record has, in scope or outside, or gets in this run, become conflicts, as in the service: a preview has to show it. */
export async function withTakenAsConflicts(
	planned: RecordChange[], crm: Pick<CrmRecords, 'holdersOf'>, { unique, recordList }: Pick<SyncSettings, 'unique' | 'recordList'>,
): Promise<RecordChange[]> {
	const claims = claimsOf(planned, unique);
	const holders = await crm.holdersOf(claims, recordList);
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

/** Changes with a value that the CRM would refuse become conflicts, as far as its description says: for a preview. In a run, the CRM decides. */
export function withInvalidAsConflicts(planned: RecordChange[], fields: readonly Field[]): RecordChange[] {
	const byName = new Map(fields.map((field) => [field.path.join('.'), field]));
	const problemOf = ({ field: name, to, kept }: FieldChange): string | undefined => {
		const field = kept ? undefined : byName.get(name);
		return field && whyRefused(field, to);
	};
	return planned.map((change) => {
		const problem = change.patch && change.changes.map(problemOf).find(Boolean);
		return problem ? asConflict(change, `The CRM would refuse it. ${problem}`) : change;
	});
}

/** A share of a small list may be less than one record: this many may be deleted as long as at least as many remain. */
const fewRecords = 3;

export interface RecordCounts {
	/** Number of records in scope that a source can contain. */
	comparable: number;
	/** Number of readable records of the source. */
	inSource: number;
	/** Number of items whose record is unknown: they have no key, or an unreadable value. */
	unreadable: number;
}

/**
 * Refuses to delete or set more records than the user allows, or any if the source may be incomplete: a broken export must
 * not empty the CRM. These changes are made together or not at all.
 *
 * @param notices gets the reason
 */
export function guardDeletions(
	planned: RecordChange[], limits: DeletionLimits, counts: RecordCounts, notices: Set<string>,
): RecordChange[] {
	const isLimited = ({ item, action }: RecordChange) => item === undefined && (action === 'delete' || action === 'update');
	const count = planned.filter(isLimited).length;
	const cause = whyNoneDeleted(count, limits, counts);
	if (cause === undefined) return planned;
	const missing = `${count} of ${counts.comparable} records in scope that have a key are missing from the source.`;
	const reason = `${missing} None of them was changed, because ${cause}`;
	notices.add(reason);
	return planned.map((change) => (isLimited(change) ? asConflict(change, reason) : change));
}

/** The conditions are written so that a limit of NaN refuses. */
function whyNoneDeleted(count: number, { share, number }: DeletionLimits, { comparable, inSource, unreadable }: RecordCounts): string | undefined {
	if (count === 0) return undefined;
	if (unreadable > 0) return `${unreadable} items have no key or could not be read, and might match these records.`;
	if (inSource === 0) return 'the source is empty.';
	if (!(count <= number)) return `Maximum Deletions allows ${number}. ${largerLimit}`;
	const isFew = count <= fewRecords && count * 2 <= comparable && share > 0;
	return isFew || count * 100 <= share * comparable ? undefined : `Maximum Deletions (%) allows ${share} % of them. ${largerLimit}`;
}

const largerLimit = 'If the source never has some of these records, choose those that it has under Records in Scope. '
	+ 'If all of them are to go, increase this limit.';
