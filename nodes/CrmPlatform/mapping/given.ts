import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { parseJson } from '../api/json';
import type { Job } from '../model';
import { valuesOf } from './expressions';
import { knownValues, type GivenValue } from './knownValues';
import { leftOut, type LeftOut } from './leftOut';
import { linkedValues } from './linked';
import { isByModel, type Mapping } from './mapping';
import type { Taken, TakenBy } from './taken';

type ReadGiven = (item: number) => GivenValue[];

/**
 * Reads what was given for the fields an item can have values for. Records that were picked beside
 * come last. What is given for no field is not read, and the user is told of it.
 *
 * @throws Error in the user's words from what is returned
 */
export function givenValues(job: Job, mapping: Mapping, takenBy: TakenBy): ReadGiven {
	const readers = new Map<Taken, ReadGiven>();
	const left = leftOut(job.api.notices);
	return (item) => {
		const taken = takenBy(item);
		const read = readers.get(taken) ?? reader(job, mapping, taken, left);
		readers.set(taken, read);
		return read(item);
	};
}

function reader(job: Job, mapping: Mapping, taken: Taken, left: LeftOut): ReadGiven {
	const linked = linkedValues(job, mapping.linked, taken.fields, left);
	if (mapping.mode === 'each') {
		const given = eachGiven(job, mapping.given, taken, left);
		return (item) => [...given(item), ...linked(item)];
	}
	return inObjects(job, mapping, taken, linked, left);
}

function eachGiven(
	{ n8n }: Job,
	given: Array<[string, unknown]>,
	{ fields }: Taken,
	left: LeftOut,
): ReadGiven {
	const byName = new Map(fields.map((field) => [field.name, field]));
	for (const [name] of given) if (!byName.has(name)) left.unknown(name);
	const known = given.flatMap(([name, value]) => {
		const field = byName.get(name);
		return field ? [{ field, label: field.label, value }] : [];
	});
	const read = valuesOf(n8n, known);
	return (item) => {
		const values = read(item);
		// A model gives empty text for what it has nothing to say of.
		return known.flatMap(({ field, value }, i): GivenValue[] =>
			isByModel(value) && values[i] === '' ? [] : [[field, values[i]]],
		);
	};
}

type OfObjects = Exclude<Mapping, { mode: 'each' }>;

function inObjects(
	{ n8n }: Job,
	mapping: OfObjects,
	{ fields, recordNames }: Taken,
	linked: ReadGiven,
	left: LeftOut,
): ReadGiven {
	const objectOf = objectsOf(n8n, mapping);
	const valuesIn = knownValues(fields);
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
export function objectsOf(n8n: IExecuteFunctions, mapping: OfObjects): (item: number) => IDataObject {
	if (mapping.mode === 'automatic') {
		const items = n8n.getInputData();
		return (item) => items[item]?.json ?? {};
	}
	const read = valuesOf(n8n, [{ label: 'JSON', value: mapping.given }]);
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
