import type { IDataObject } from 'n8n-workflow';

import { parseMoment } from '../mapping/dates';
import type { ReadFields } from '../mapping/readFields';
import type { Execution } from '../model';
import { matchKey, valueIn, type ComparedField } from './compare';
import type { SourceRecord } from './matching';

/** What is read of each input item beside its values. */
export interface SourceFields {
	/** The fields to match on, in the order of their precedence. */
	match: Array<ComparedField & { label: string }>;
	/** Name of the item's field with the version that the other system saw last; empty for none. */
	version: string;
	/** Name of the item's field with the time of its last change; empty for none. */
	changedAt: string;
}

/** The records of the other system. */
export interface Source {
	records: SourceRecord[];
	/** Items whose record is not understood. */
	failures: Array<{ item: number; error: Error }>;
}

/**
 * Reads the input items as records of the other system. n8n stands in for an empty source with one
 * item without values (Always Output Data): it is no record.
 *
 * @param read the mapped values of an item
 */
export function readSource({ n8n }: Execution, read: ReadFields, fields: SourceFields): Source {
	const source: Source = { records: [], failures: [] };
	const items = n8n.getInputData();
	if (items.every(({ json }) => Object.keys(json).length === 0)) return source;
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
	given: IDataObject,
	json: IDataObject,
	{ match, version, changedAt }: SourceFields,
	zone: string,
): SourceRecord {
	const keys = match.map((field) => matchKey(field, valueIn(given, field)));
	if (keys.every((key) => key === undefined)) {
		const labels = match.map(({ label }) => `‘${label}’`).join(' and ');
		throw new Error(`There is no value for ${labels}, the field to match on. Fill it in, or match on another field.`);
	}
	const byId = match.findIndex(({ name }) => name === 'id');
	if (byId === -1 && given.id !== undefined && given.id !== null) throw new Error(unusedId);
	const record: SourceRecord = {
		item,
		values: 'id' in given ? valuesWithoutId(given) : given,
		keys,
		wasInCrm: byId !== -1 && keys[byId] !== undefined,
	};
	const seen = version === '' ? undefined : versionIn(json[version], version);
	if (seen !== undefined) {
		record.seenVersion = seen;
		record.wasInCrm = true;
	}
	const time = changedAt === '' ? undefined : parseMoment(json[changedAt], zone);
	if (time) record.changedAt = time.toMillis();
	return record;
}

function valuesWithoutId({ id: _, ...values }: IDataObject): IDataObject {
	return values;
}

/** @throws Error in the user's words where a value is no version */
function versionIn(value: unknown, name: string): string | undefined {
	if (value === undefined || value === null || value === '') return undefined;
	const text = String(value).trim();
	if (/^\d+$/.test(text)) return String(Number(text));
	throw new Error(
		`${name}: ‘${text.slice(0, 100)}’ is not a version such as 3. Store the record’s version there, or leave it empty.`,
	);
}

const unusedId =
	'Fields: ID is mapped, but records are not matched on it, and it is never written. Choose ID in Match On, or remove it from the fields.';
