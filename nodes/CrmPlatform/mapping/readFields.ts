import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import type { Field } from '../api/openapi/fields';
import type { Execution } from '../model';
import { fieldsWithCustom, type AcceptedFields, type AcceptedFieldsOf } from './acceptedFields';
import { evaluateValues } from './expressions';
import { linkedRecordValues } from './linkedRecords';
import { findReferences, type ReferenceIds } from './lookUp';
import { isEmptyCell, objectFields, type FieldValue } from './objectFields';
import {
	isFilledByModel,
	storedMapping,
	type Mapping,
	type ObjectMapping,
} from './stored';
import { nothingToSend, noNotices, unsentValues, type UnsentValues } from './unsentValues';
import { apiValue } from './values';

/** Added to the records that Create or Update gives: `created` or `updated`. */
export const outcomeField = 'upsert_outcome';

/** The values of one input item, as the service takes them. */
export type ReadFields = (item: number) => IDataObject;

/** What null does: `clear` sends it, `skip` sends nothing. */
type Nulls = 'clear' | 'skip';

/**
 * Reads the values a user gave for the fields of a write, whichever way they are mapped:
 * - by hand: a blank is not sent, null clears the field, undefined is left out and told
 * - as one JSON object: null clears
 * - automatically, the item's own values: an empty cell is left out, or clears where the user says so
 *
 * A picked record takes precedence over a mapped value. Names in a field that holds the id of
 * another record are replaced by the id.
 *
 * @param parameter the node's, such as `fields`
 * @param fields the fields the service takes
 * @throws Error from the returned function, in the user's words, where a value does not fit its
 * field, and where an item has values of which none can be sent
 */
export async function readFields(
	job: Execution,
	parameter: string,
	fields: Field[],
	nulls: Nulls,
): Promise<ReadFields> {
	return await readMapping(job, storedMapping(job.n8n, parameter), fields, nulls);
}

/** The same for a mapping that is known. */
export async function readMapping(
	job: Execution,
	mapping: Mapping,
	fields: Field[],
	nulls: Nulls,
): Promise<ReadFields> {
	const accepted = await fieldsWithCustom(job, mapping, fields);
	const ids = await referencesIn(job, mapping, accepted);
	return readAcceptedFields(job, mapping, accepted, { nulls, ids });
}

/** The same, where the fields of each item are known. */
export function readAcceptedFields(
	job: Execution,
	mapping: Mapping,
	accepted: AcceptedFieldsOf,
	{ nulls, ids, unsent }: { nulls: Nulls; ids?: ReferenceIds; unsent?: UnsentValues },
): ReadFields {
	const read = mappedValues(job, mapping, accepted, unsent ?? unsentValues(job.api.notices));
	const zone = job.n8n.getTimezone();

	return (item) => {
		const body: IDataObject = {};
		for (const [field, given] of read(item)) {
			const value = apiValue(field, given, zone);
			if (value === null && nulls === 'skip') continue;
			put(body, field.path, ids ? ids(field, value) : value);
		}
		return body;
	};
}

function put(body: IDataObject, path: string[], value: unknown): void {
	const [key = '', ...rest] = path;
	if (rest.length === 0) {
		// A part given by itself takes precedence over the object given as a whole.
		const parts = body[key];
		body[key] =
			isObject(value) && isObject(parts) ? { ...value, ...parts } : (value as IDataObject);
		return;
	}
	// A copy: the object may be part of the item.
	const inner = { ...(body[key] as IDataObject | undefined) };
	body[key] = inner;
	put(inner, rest, value);
}

type ReadMapped = (item: number) => FieldValue[];

/** The values as they were given, for the fields an item can have values for; picked records come last. */
function mappedValues(
	job: Execution,
	mapping: Mapping,
	acceptedFor: AcceptedFieldsOf,
	unsent: UnsentValues,
): ReadMapped {
	const readers = new Map<AcceptedFields, ReadMapped>();
	return (item) => {
		const accepted = acceptedFor(item);
		const read = readers.get(accepted) ?? readerFor(job, mapping, accepted, unsent);
		readers.set(accepted, read);
		return read(item);
	};
}

function readerFor({ n8n }: Execution, mapping: Mapping, accepted: AcceptedFields, unsent: UnsentValues): ReadMapped {
	const linked = linkedRecordValues(n8n, mapping.linked, accepted.fields, unsent);
	if (mapping.mode !== 'each') return inObjects(mapping, accepted, linked, unsent);
	const mapped = mappedByHand(n8n, mapping.mapped, accepted, unsent);
	return (item) => [...mapped(item), ...linked(item)];
}

function mappedByHand(
	n8n: Execution['n8n'],
	mapped: Array<[string, unknown]>,
	{ fields }: AcceptedFields,
	unsent: UnsentValues,
): ReadMapped {
	const byName = new Map(fields.map((field) => [field.name, field]));
	for (const [name] of mapped) if (!byName.has(name)) unsent.unknown(name);
	const known = mapped.flatMap(([name, value]) => {
		const field = byName.get(name);
		return field ? [{ field, label: field.label, value }] : [];
	});
	const read = evaluateValues(n8n, known);
	return (item) => {
		const values = read(item);
		return known.flatMap(({ field, value: stored }, i): FieldValue[] => {
			const value = values[i];
			// A model gives empty text for a field it knows nothing about.
			if (isFilledByModel(stored) && (value === '' || value === undefined)) return [];
			if (value !== undefined) return [[field, value]];
			unsent.noValue(field);
			return [];
		});
	};
}

function inObjects(
	mapping: ObjectMapping,
	{ fields, recordNames }: AcceptedFields,
	linked: ReadMapped,
	unsent: UnsentValues,
): ReadMapped {
	const valuesIn = objectFields(fields, recordNames);
	const emptyCells = mapping.mode === 'automatic' ? mapping.emptyCells : undefined;
	const cell = ([field, value]: FieldValue): FieldValue[] => {
		if (emptyCells === undefined || !isEmptyCell(value)) return [[field, value]];
		return emptyCells === 'clear' ? [[field, null]] : [];
	};
	return (item) => {
		const object = mapping.objectOf(item);
		const { values, unknown, noObjects } = valuesIn(object);
		noObjects.forEach(unsent.noObject);
		// A record that was read comes with values only the service writes: ids, times, counters.
		const isRecord = object.id !== undefined;
		const isReadOnly = (name: string) => isRecord && (recordNames.has(name) || name === outcomeField);
		unknown.filter((name) => !isReadOnly(name)).forEach(unsent.unknown);
		const all = [...values.flatMap(cell), ...linked(item)];
		const names = Object.keys(object);
		if (all.length === 0 && names.length > 0) throw nothingToSend(names, fields);
		return all;
	};
}

/** Finds the ids of the records that the items refer to by name. */
async function referencesIn(
	job: Execution,
	mapping: Mapping,
	acceptedFor: AcceptedFieldsOf,
): Promise<ReferenceIds> {
	const refers = ({ reference, part }: Field) => Boolean(reference) && part === undefined;
	const named = mapping.mode === 'each' ? new Set(mapping.mapped.map(([name]) => name)) : undefined;
	// By hand, only what refers to a record has to be evaluated beforehand.
	const narrowed = new Map<AcceptedFields, AcceptedFields>();
	const narrow = (item: number): AcceptedFields => {
		const accepted = acceptedFor(item);
		if (!named) return accepted;
		const fields = accepted.fields.filter((field) => refers(field) && named.has(field.name));
		const known = narrowed.get(accepted) ?? { ...accepted, fields };
		narrowed.set(accepted, known);
		return known;
	};
	const read = mappedValues(job, { ...mapping, linked: [] }, narrow, noNotices);

	const given: FieldValue[] = [];
	for (const item of job.n8n.getInputData().keys()) {
		try {
			if (named && narrow(item).fields.length === 0) continue;
			for (const value of read(item)) if (refers(value[0])) given.push(value);
		} catch {
			// The item fails with this error when its turn comes.
		}
	}
	return await findReferences(job.api, given);
}
