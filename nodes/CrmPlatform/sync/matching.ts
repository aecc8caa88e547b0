import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { allValuesIn, entriesIn, entryValue, looseText, matchKey, valueIn, type ComparedField } from '../fields/keys';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import type { TimeSpan } from '../values/dates';
import { listed } from '../base/lists';

/** A record of the other system. */
export interface SourceRecord {
	item: number;
	/** The mapped values, as the service accepts them. */
	values: IDataObject;
	/** The record's key for each field to match on; undefined if the field has no value. */
	keys: Array<string | undefined>;
	/** The id of the CRM's record, if records are matched on it. */
	id?: string;
	/** Whether the other system has seen the record in the CRM: it carries its version or its id. */
	wasInCrm: boolean;
	/** The version of the CRM's record that the other system saw last. */
	seenVersion?: string;
	/** The values that both systems agreed on last, by field. */
	agreed?: IDataObject;
	/** When the record was changed in the other system. */
	changedAt?: TimeSpan;
}

/** A record of the CRM: the fields that are compared, its id, and its version. */
export type CrmRecord = IdentifiedRecord;

/** The records of the CRM by their keys. */
export interface CrmIndex {
	/** Finds the records in scope with a key. */
	find(field: number, key: string): readonly CrmRecord[];
	/** All records in scope; needed only if records that are missing in the source are changed. */
	records: readonly CrmRecord[];
}

/** @param match the fields that records are found by */
export function indexRecords(records: CrmRecord[], match: ComparedField[]): CrmIndex {
	const indexes = match.map((field) => recordsByKey(records, field));
	return { records, find: (field, key) => indexes[field]?.(key) ?? [] };
}

/** Finds the records with a key of a field. */
export function recordsByKey(records: readonly CrmRecord[], field: ComparedField): (key: string) => readonly CrmRecord[] {
	// Few keys have several records, and 100,000 lists would take much memory.
	const index = new Map<string, CrmRecord | CrmRecord[]>();
	for (const record of records) {
		const key = matchKey(field, valueIn(record, field));
		if (key === undefined) continue;
		const same = index.get(key);
		index.set(key, same === undefined ? record : [same, record].flat());
	}
	return (key) => [index.get(key) ?? []].flat();
}

interface Matches {
	/** Index of the field that found them. The first field that finds any decides. */
	field: number;
	records: readonly CrmRecord[];
}

export function matchesOf({ keys }: SourceRecord, crm: CrmIndex): Matches {
	for (const [field, key] of keys.entries()) {
		const records = key === undefined ? [] : crm.find(field, key);
		if (records.length > 0) return { field, records };
	}
	return { field: 0, records: [] };
}

/** Finds the items that match each record of the CRM, by any field. */
export function ownersOf(
	source: SourceRecord[],
	crm: CrmIndex,
	duplicates: ReadonlyMap<SourceRecord, string>,
): Map<string, number[]> {
	const owners = new Map<string, number[]>();
	for (const record of source) {
		if (duplicates.has(record)) continue;
		for (const { id } of matchesOf(record, crm).records) {
			getOrCreate(owners, id, () => []).push(record.item);
		}
	}
	return owners;
}

/** Finds the source records that share a key with another, with the reason to leave them alone. */
export function duplicateKeys(source: SourceRecord[], matchLabels: readonly string[]): Map<SourceRecord, string> {
	const duplicates = new Map<SourceRecord, string>();
	for (const [field, label] of matchLabels.entries()) {
		// An earlier field already distinguishes these records.
		const isToldApart = ({ keys }: SourceRecord) => keys.findIndex((key) => key !== undefined) < field;
		// Two passes: most keys belong to one record, and 100,000 lists would take much memory.
		const seen = new Set<string>();
		const shared = new Map<string, SourceRecord[]>();
		for (const record of source) {
			const key = record.keys[field];
			if (key === undefined || isToldApart(record)) continue;
			if (seen.has(key)) shared.set(key, []);
			seen.add(key);
		}
		if (shared.size === 0) continue;
		for (const record of source) {
			if (!isToldApart(record)) shared.get(record.keys[field] ?? '')?.push(record);
		}
		for (const [key, records] of shared) {
			const items = records.map(({ item }) => item);
			for (const record of records) duplicates.set(record, sharedKey(label, key, items));
		}
	}
	return duplicates;
}

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

/** The items that may be a record that no key has found: they have one of its unique values. */
export interface PossibleOwner {
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
export function possibleOwnersOf(
	records: readonly CrmRecord[],
	source: readonly SourceRecord[],
	unique: readonly UniqueField[],
	isUnmatched: (source: SourceRecord) => boolean,
): Map<string, PossibleOwner> {
	const found = new Map<string, PossibleOwner>();
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
					const owner = found.get(recordId);
					if (!owner) found.set(recordId, { items: [item], label: field.label });
					else if (owner.items.at(-1) !== item) owner.items.push(item);
				}
			}
		}
	}
	return found;
}

const sharedKey = (label: string, key: string, items: number[]) =>
	`${label}: “${key.slice(0, 100)}” is the key of several items (${listed(items)}). Only one of them may have it.`;
