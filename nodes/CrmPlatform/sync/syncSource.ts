import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { withoutMembers } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { timeSpan, type TimeSpan } from '../values/dates';
import type { BodyOf } from '../mapping/prepareValues';
import type { Execution } from '../model';
import { matchKey, valueIn, type ComparedField } from '../fields/keys';
import type { SourceRecord } from './matching';

/** The members that are read from each input item, besides its values. */
export interface SourceFields {
	/** The fields to match on, in the order of their precedence. */
	match: Array<ComparedField & { label: string }>;
	/** Name of the item's field with the version that the other system saw last; empty for none. */
	version: string;
	/** Name of the item's field with the values that both agreed on last; empty for none. */
	agreed: string;
	/** Name of the item's field with the time of its last change; empty for none. */
	changedAt: string;
}

/** The records of the other system. */
export interface Source {
	records: SourceRecord[];
	failures: Array<{ item: number; error: Error }>;
}

/**
 * Reads the input items as records of the other system. For an empty source, n8n passes one item without values
 * (Always Output Data), which is not a record.
 *
 * @param read returns the mapped values of an item
 * @throws Error in the user's words if no item has one of the named fields, while some have another
 */
export function readSource({ n8n, api }: Execution, read: BodyOf, fields: SourceFields): Source {
	const source: Source = { records: [], failures: [] };
	const items = n8n.getInputData();
	if (items.every(({ json }) => Object.keys(json).length === 0)) return source;
	const named = [['Version Field', fields.version], ['Agreed Values Field', fields.agreed], ['Changed At Field', fields.changedAt]] as const;
	const absent = named.filter(([, name]) => name !== '' && !items.some(({ json }) => Object.hasOwn(json, name)));
	for (const [label, name] of absent) {
		// An item with one of these fields comes from the same source as the others; without a time, nothing is overwritten.
		if (label !== 'Changed At Field' && absent.length < named.filter(([, fieldName]) => fieldName !== '').length) {
			throw new Error(`${noSuchField(label, name)} Nothing was written.`);
		}
		api.notices.add(noSuchField(label, name));
	}
	const zone = n8n.getTimezone();
	for (const [item, { json }] of items.entries()) {
		try {
			source.records.push(readSourceRecord(item, read(item), json, fields, zone));
		} catch (error) {
			source.failures.push({ item, error: error as Error });
		}
	}
	return source;
}

function readSourceRecord(
	item: number,
	values: IDataObject,
	json: IDataObject,
	{ match, version, agreed, changedAt }: SourceFields,
	zone: string,
): SourceRecord {
	const keys = match.map((field) => matchKey(field, valueIn(values, field)));
	if (keys.every((key) => key === undefined)) {
		const labels = match.map(({ label }) => `“${label}”`).join(' and ');
		throw new Error(`There is no value for ${labels}, the field to match on. Fill it in, or match on another field.`);
	}
	const byId = match.findIndex(({ name }) => name === 'id');
	if (byId === -1 && values.id !== undefined && values.id !== null) throw new Error(unusedId);
	const valuesWithoutId = withoutMembers(values, 'id');
	const record: SourceRecord = {
		item,
		values: valuesWithoutId,
		keys,
		wasInCrm: byId !== -1 && keys[byId] !== undefined,
	};
	if (byId !== -1 && keys[byId] !== undefined) record.id = keys[byId];
	const seen = version === '' ? undefined : versionIn(json[version], version);
	if (seen !== undefined) {
		record.seenVersion = seen;
		record.wasInCrm = true;
	}
	const agreedValues = agreed === '' ? undefined : agreedIn(json[agreed], agreed);
	if (agreedValues) record.agreed = checkAgreedValues(agreedValues, agreed, values);
	const time = changedAt === '' ? undefined : timeIn(json[changedAt], changedAt, zone);
	if (time !== undefined) record.changedAt = time;
	return record;
}

/** @throws Error in the user's words if a value is not a version */
function versionIn(value: unknown, name: string): string | undefined {
	if (isBlank(value)) return undefined;
	const text = String(value).trim();
	if (/^\d+$/.test(text)) return text.replace(/^0+(?=\d)/, '');
	throw new Error(
		`${name}: “${text.slice(0, 100)}” is not a version such as 3. Store the record’s version there, or leave it empty.`,
	);
}

/** @throws Error in the user's words if none of the values belongs to a field: under labels, they would say nothing */
function checkAgreedValues(agreedValues: IDataObject, name: string, values: IDataObject): IDataObject {
	const names = Object.keys(agreedValues);
	if (names.length === 0 || names.some((fieldName) => Object.hasOwn(values, fieldName.split('.')[0]!))) return agreedValues;
	throw new Error(
		`${name}: none of “${names.join('”, “').slice(0, 100)}” is a field that this node writes. Use the fields’ names in the CRM, such as {"${Object.keys(values)[0] ?? 'last_name'}": …}.`,
	);
}

/** @throws Error in the user's words if a value is not an object of values */
function agreedIn(value: unknown, name: string): IDataObject | undefined {
	if (isBlank(value)) return undefined;
	const parsed = parsedValue(value);
	if (isObject(parsed)) return parsed;
	throw new Error(
		`${name}: “${String(value).slice(0, 100)}” is not an object of values such as {"last_name": "King"}. Store the values that both agreed on there, or leave it empty.`,
	);
}

/** @throws Error in the user's words if a value is not a time: the time decides what is overwritten */
function timeIn(value: unknown, name: string, zone: string): TimeSpan | undefined {
	if (isBlank(value)) return undefined;
	const span = timeSpan(value, zone);
	if (span) return span;
	throw new Error(`${name}: “${String(value).slice(0, 100)}” is not a time such as 2026-03-31T14:30:00Z. Correct it, or leave it empty.`);
}

const noSuchField = (label: string, name: string) =>
	`${label}: no item has the field “${name}”, so it counts as empty. Correct the name, or store the field with each record of the source.`;

const unusedId =
	'Fields: ID is mapped, but records are not matched on it, and it is never written. Choose ID in Match On, or remove it from the fields.';
