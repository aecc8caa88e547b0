import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { listed } from '../base/lists';
import { getOrCreate, groupedBy } from '../base/maps';
import { allValuesIn, entriesIn, entryValue, looseText, matchKey, valueIn, type ComparedField } from '../fields/keys';
import type { TimeSpan } from '../values/dates';
import type { CrmRecord, CrmRecords } from './crmRecords';

/** A field that identifies records: no two of them have the same value. */
export type UniqueField = ComparedField & { label: string };

/** A record of the other system. */
export interface SourceRecord {
	item: number;
	/** The mapped values, as the service accepts them. */
	values: IDataObject;
	/** The record's key for each field to match on; undefined if the field has no value. */
	keys: Array<string | undefined>;
	/** The id of the CRM's record, if records are matched on it. */
	id?: string | undefined;
	/** The version of the CRM's record that the other system saw last. */
	seenVersion?: string | undefined;
	/** The values that both systems agreed on last, by field. */
	agreed?: IDataObject | undefined;
	/** When the record was changed in the other system. */
	changedAt?: TimeSpan | undefined;
}

/** The key of a record for each field to match on. */
export const matchKeysOf = (values: IDataObject, match: readonly ComparedField[]): Array<string | undefined> =>
	match.map((field) => matchKey(field, valueIn(values, field)));

/** The records with a key of a source record, and the index of the field: the first field that finds any decides. */
export function matchesOf({ keys }: SourceRecord, crm: CrmRecords, match: readonly ComparedField[]): { field: number; records: readonly CrmRecord[] } {
	for (const [field, key] of keys.entries()) {
		const records = crm.find(match[field]!, key);
		if (records.length > 0) return { field, records };
	}
	return { field: 0, records: [] };
}

/** The items that match each record of the CRM, by any field. */
export function ownersOf(source: SourceRecord[], crm: CrmRecords, match: readonly ComparedField[]): Map<string, number[]> {
	const owners = new Map<string, number[]>();
	for (const record of source) {
		for (const { id } of matchesOf(record, crm, match).records) getOrCreate(owners, id, () => []).push(record.item);
	}
	return owners;
}

/** The source records that share a key with another one, with the reason to leave them alone. */
export function duplicateKeys(source: SourceRecord[], match: readonly UniqueField[]): Map<SourceRecord, string> {
	const duplicates = new Map<SourceRecord, string>();
	// An earlier field distinguishes the others.
	const decidingField = ({ keys }: SourceRecord) => keys.findIndex((key) => key !== undefined);
	const groupOf = (record: SourceRecord) => `${decidingField(record)} ${record.keys[decidingField(record)]}`;
	const recordsIn = groupedBy(source, groupOf);
	for (const record of source) {
		const same = recordsIn(groupOf(record));
		const field = decidingField(record);
		if (same.length > 1) duplicates.set(record, sharedKey(match[field]!.label, record.keys[field]!, same.slice(0, 11).map(({ item }) => item)));
	}
	return duplicates;
}

const sharedKey = (label: string, key: string, items: number[]) =>
	`${label}: “${key.slice(0, 100)}” is the key of several items (${listed(items)}). Only one of them may have it.`;

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

/** An item that may be a record that no key has found, and the label of the field of which it has the record's unique value. */
export interface PossibleOwner {
	item: number;
	/** Its index in the source. */
	index: number;
	label: string;
}

/**
 * Finds the records to which a unique value of any item points. They are not missing in the source, even if that item
 * fails or matches another record.
 *
 * @param isUnmatched whether no record was found for the item at an index, so that its key may be in a different format
 * @returns the items that each record may be, by its id; an item once for each value that they share
 */
export function possibleOwnersOf(
	records: readonly CrmRecord[],
	source: readonly SourceRecord[],
	unique: readonly UniqueField[],
	isUnmatched: (index: number) => boolean,
): Map<string, PossibleOwner[]> {
	const owners = new Map<string, PossibleOwner[]>();
	for (const field of unique) {
		const ids = new Map<string, string[]>();
		/** A value in any case, then in any notation: services do not always state whether case matters. */
		const formsOf = (value: unknown): string[] => {
			const key = matchKey(field, value);
			return key === undefined ? [] : [key.toLowerCase(), `loosely ${looseText(key)}`];
		};
		for (const record of records) {
			for (const form of allValuesIn(record, field).flatMap(formsOf)) getOrCreate(ids, form, () => []).push(record.id);
		}
		if (ids.size === 0) continue;
		for (const [index, { item, values, id }] of source.entries()) {
			const formCount = isUnmatched(index) ? 2 : 1;
			const forms = (field.name === 'id' ? [id] : allValuesIn(values, field)).flatMap((value) => formsOf(value).slice(0, formCount));
			for (const recordId of forms.flatMap((form) => ids.get(form) ?? [])) {
				getOrCreate(owners, recordId, () => []).push({ item, index, label: field.label });
			}
		}
	}
	return owners;
}
