import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { parseJson } from '../api/http/json';
import type { Execution } from '../model';
import { evaluateValues } from './expressions';
import { objectFields, type FieldValue } from './objectFields';
import type { UnsentValues } from './unsentValues';
import { linkedRecordValues } from './linkedRecords';
import { isFilledByModel, type Mapping } from './stored';
import type { AcceptedFields, AcceptedFieldsOf } from './acceptedFields';

type ReadGiven = (item: number) => FieldValue[];

/**
 * Reads what was given for the fields an item can have values for. Records that were picked beside
 * come last. What is given for no field is not read.
 *
 * @param left is told of that
 * @throws Error in the user's words from what is returned
 */
export function mappedValues(
	job: Execution,
	mapping: Mapping,
	takenBy: AcceptedFieldsOf,
	left: UnsentValues,
): ReadGiven {
	const readers = new Map<AcceptedFields, ReadGiven>();
	return (item) => {
		const taken = takenBy(item);
		const read = readers.get(taken) ?? reader(job, mapping, taken, left);
		readers.set(taken, read);
		return read(item);
	};
}

function reader(job: Execution, mapping: Mapping, taken: AcceptedFields, left: UnsentValues): ReadGiven {
	const linked = linkedRecordValues(job, mapping.linked, taken.fields, left);
	if (mapping.mode === 'each') {
		const given = eachGiven(job, mapping.given, taken, left);
		return (item) => [...given(item), ...linked(item)];
	}
	return inObjects(job, mapping, taken, linked, left);
}

function eachGiven(
	{ n8n }: Execution,
	given: Array<[string, unknown]>,
	{ fields }: AcceptedFields,
	left: UnsentValues,
): ReadGiven {
	const byName = new Map(fields.map((field) => [field.name, field]));
	for (const [name] of given) if (!byName.has(name)) left.unknown(name);
	const known = given.flatMap(([name, value]) => {
		const field = byName.get(name);
		return field ? [{ field, label: field.label, value }] : [];
	});
	const read = evaluateValues(n8n, known);
	return (item) => {
		const values = read(item);
		// A model gives empty text for what it has nothing to say of.
		return known.flatMap(({ field, value }, i): FieldValue[] =>
			isFilledByModel(value) && values[i] === '' ? [] : [[field, values[i]]],
		);
	};
}

type OfObjects = Exclude<Mapping, { mode: 'each' }>;

function inObjects(
	{ n8n }: Execution,
	mapping: OfObjects,
	{ fields, recordNames }: AcceptedFields,
	linked: ReadGiven,
	left: UnsentValues,
): ReadGiven {
	const objectOf = itemObjects(n8n, mapping);
	const valuesIn = objectFields(fields);
	return (item) => {
		const object = objectOf(item);
		const { values, unknown, noObjects } = valuesIn(object);
		noObjects.forEach(left.noObject);
		// Items carry more than can be written, and so do records that were read: ids, times, counters.
		if (mapping.mode === 'json') {
			const isRecord = object.id !== undefined;
			unknown.filter((name) => !isRecord || !recordNames.has(name)).forEach(left.unknown);
		}
		const all = [...values, ...linked(item)];
		if (all.length === 0 && Object.keys(object).length > 0) left.nothingIn(item, fields);
		return all;
	};
}

/**
 * The object each item gives: the item itself, or the JSON the user gave.
 *
 * @throws Error in the user's words from what is returned, where it is no JSON object
 */
export function itemObjects(n8n: IExecuteFunctions, mapping: OfObjects): (item: number) => IDataObject {
	if (mapping.mode === 'automatic') {
		const items = n8n.getInputData();
		return (item) => items[item]?.json ?? {};
	}
	const read = evaluateValues(n8n, [{ label: 'JSON', value: mapping.given }]);
	return (item) => {
		const [given] = read(item);
		const parsed = typeof given === 'string' ? parseJson(given) : given;
		if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
			return parsed as IDataObject;
		}
		const shown = typeof given === 'string' ? given : (JSON.stringify(given) ?? '');
		throw new Error(
			`JSON: '${shown.slice(0, 200)}' is not an object such as { "name": "value" }`,
		);
	};
}
