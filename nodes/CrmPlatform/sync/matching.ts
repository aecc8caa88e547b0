import { listed } from '../base/lists';
import { getOrCreate, groupedBy } from '../base/maps';
import { idField, type Field } from '../fields/field';
import { allValuesIn, looseText, matchKey } from '../fields/keys';
import type { CrmRecord, CrmRecords } from './crmRecords';
import type { PlanSettings } from './settings';
import { matchKeysOf, type SourceRecord } from './syncSource';

/** Which record of the CRM a source record is. */
export interface RecordMatch {
	/** Undefined if the CRM has none, or if it is unclear which of several. */
	record?: CrmRecord;
	/** Whether it is the record whose version the source has, as far as the keys show. */
	isOwn?: boolean;
	/** Why the source record is left alone. */
	conflict?: string | undefined;
}

/** Finds the record of each source record: the first field to match on that finds any decides. */
export function matchSource(sourceRecords: SourceRecord[], crm: CrmRecords, match: readonly Field[]): RecordMatch[] {
	const recordsOfKey = groupedBy(sourceRecords, decidingKey);
	const sharingKey = (sourceRecord: SourceRecord) => recordsOfKey(decidingKey(sourceRecord));
	const candidates = sourceRecords.map((each) => (sharingKey(each).length > 1 ? undefined : candidatesOf(each, crm, match)));
	/** The items that lead to each record. With one field to match on, items without a shared key cannot meet. */
	const itemsOf = new Map<string, number[]>();
	for (const [i, { item }] of match.length > 1 ? sourceRecords.entries() : []) {
		for (const { id } of candidates[i]?.records ?? []) getOrCreate(itemsOf, id, () => []).push(item);
	}
	return sourceRecords.map((sourceRecord, i): RecordMatch => {
		if (!candidates[i]) return { conflict: sharedKey(sourceRecord, match, sharingKey(sourceRecord)) };
		const { field, records: [record, ...others] } = candidates[i];
		if (!record) return {};
		if (others.length > 0) return { conflict: severalRecords([record, ...others].map(({ id }) => id)) };
		// A version is valid only for the record it was read from.
		const isOwn = sourceRecord.id === undefined ? field === 0 : sourceRecord.id === record.id;
		const items = itemsOf.get(record.id) ?? [];
		return { record, isOwn, conflict: items.length > 1 ? matchedTwice(record.id, items) : otherKeyOf(record, match, field) };
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

/**
 * Why a record is another one than the item's, by the index of the field that found it: it has an earlier key, which the item
 * does not have. An unknown ID belongs to a deleted record.
 */
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

/** A record in scope that no item has a key of. */
export interface AbsentRecord {
	record: CrmRecord;
	/** The items that may be this record all the same; an item once for each value that they share. */
	owners: PossibleOwner[];
}

/** An item that may be a record that no key has found, and the label of the field of which it has the record's unique value. */
export interface PossibleOwner {
	item: number;
	/** Its index in the source. */
	index: number;
	label: string;
}

/** Finds the records that the source does not have. One that has any key of any item is in the source, whichever match is right. */
export function absentRecords(
	sourceRecords: SourceRecord[], crm: CrmRecords, matches: RecordMatch[], { match, unique }: Pick<PlanSettings, 'match' | 'unique'>,
): AbsentRecord[] {
	const present = new Set(sourceRecords.flatMap(({ keys }) => keys.flatMap((key, i) => crm.find(match[i]!, key).map(({ id }) => id))));
	const absent = crm.records.filter(({ id }) => !present.has(id));
	const owners = possibleOwnersOf(absent, sourceRecords, matches, match.includes(idField) ? [...unique, idField] : unique);
	return absent.map((record) => ({ record, owners: owners.get(record.id) ?? [] }));
}

/**
 * Finds the records to which a unique value of any item points. They are not missing in the source, even if that item
 * fails or matches another record.
 */
function possibleOwnersOf(
	records: readonly CrmRecord[], sourceRecords: readonly SourceRecord[], matches: RecordMatch[], unique: readonly Field[],
): Map<string, PossibleOwner[]> {
	const owners = new Map<string, PossibleOwner[]>();
	for (const field of unique) {
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
