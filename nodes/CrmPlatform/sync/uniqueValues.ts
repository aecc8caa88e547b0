import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { asConflict, type RecordChange } from '../changes/plan';
import { idField, type Field } from '../fields/field';
import { entriesIn, entryValue, matchKey, valueIn } from '../fields/keys';

/** A unique value that is about to be written. */
export interface Claim {
	field: Field;
	key: string;
	value: unknown;
	/** The indexes of the changes in the plan that write it. */
	indexes: number[];
}

/** The unique values that the plan writes. */
export function claimsOf(planned: RecordChange[], unique: readonly Field[]): Claim[] {
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
export function refuseTaken(planned: RecordChange[], claims: Claim[], holders: string[][]): RecordChange[] {
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
