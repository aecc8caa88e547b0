import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { isObject } from '../base/json';
import { allValuesIn, entriesIn, entryValue, looseText, matchKey, valueIn, type ComparedField } from '../fields/keys';
import type { CrmRecord, SourceRecord } from './crmIndex';

/** A field of which no two records may have the same value. */
export type UniqueField = ComparedField & { label: string };

/**
 * Finds the unique value that a record gets. Services keep the main value of a list such as `emails` in a field
 * of its own, `email`.
 */
export function uniqueValueIn(values: IDataObject, field: UniqueField): unknown {
	const fieldValue = valueIn(values, field);
	if (fieldValue !== undefined) return fieldValue;
	const entries = entriesIn(values, field);
	return entryValue(entries.find((entry) => isObject(entry) && entry.primary === true) ?? entries[0]);
}

/** A value of the source that points to a record no key has found. */
export interface Pointer {
	/** The items that have the value, in their order. */
	items: number[];
	label: string;
}

/**
 * Finds the records to which a unique value of any item points. They are not missing in the source, even if that item
 * fails or matches another record.
 *
 * @param isUnmatched whether no record was found for an item, whose key may be in a different format
 * @returns the first such value of each record, by the record's id
 */
export function recordsPointedAt(
	records: readonly CrmRecord[],
	source: readonly SourceRecord[],
	unique: readonly UniqueField[],
	isUnmatched: (source: SourceRecord) => boolean,
): Map<string, Pointer> {
	const found = new Map<string, Pointer>();
	const ids = new Map<string, string[]>();
	/** The key of a value in any case, then in any notation: services do not always state whether case matters. */
	const lookUpKeys = (field: UniqueField, value: unknown): string[] => {
		const key = matchKey(field, value);
		return key === undefined
			? []
			: [JSON.stringify([field.name, key.toLowerCase()]), JSON.stringify([field.name, looseText(key), 'loosely'])];
	};
	for (const record of records) {
		for (const field of unique) {
			for (const value of allValuesIn(record, field)) {
				for (const key of lookUpKeys(field, value)) getOrCreate(ids, key, () => []).push(record.id);
			}
		}
	}
	if (ids.size === 0) return found;
	for (const record of source) {
		const { item, values, id } = record;
		const keyCount = isUnmatched(record) ? 2 : 1;
		for (const field of unique) {
			const fieldValues = field.name === 'id' ? [id] : allValuesIn(values, field);
			for (const value of fieldValues) {
				for (const recordId of lookUpKeys(field, value).slice(0, keyCount).flatMap((key) => ids.get(key) ?? [])) {
					const pointer = found.get(recordId);
					if (!pointer) found.set(recordId, { items: [item], label: field.label });
					else if (pointer.items.at(-1) !== item) pointer.items.push(item);
				}
			}
		}
	}
	return found;
}
