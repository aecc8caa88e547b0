import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { customFields } from '../api/customFields';
import type { Field } from '../api/fields';
import { parseJson } from '../api/json';
import type { Job } from '../model';
import { valuesOf } from './expressions';
import { knownValues, type GivenValue } from './knownValues';
import { linkedValues } from './linked';
import { mappingOf, type Mapping } from './mapping';
import { notTaken } from './notTaken';
import { collectionPaths } from './picked';
import { apiValue } from './values';

/** The values of one input item, as the service takes them. */
export type ReadColumns = (item: number) => IDataObject;

/**
 * Reads what the user gave for `parameter`: by hand (what was left blank is not sent, an expression
 * that gives nothing clears the field), as one JSON object (null clears), or automatically (the
 * item's own values, those the service knows). Records that were picked beside go before.
 *
 * @param fields what the service takes
 * @param empty what an empty value does: `clear` sends null, `skip` sends nothing
 * @throws Error in the user's words from what is returned, where a value is none for its field
 */
export async function columnsOf(
	job: Job,
	parameter: string,
	fields: Field[],
	empty: 'clear' | 'skip',
): Promise<ReadColumns> {
	const mapping = mappingOf(job.n8n, parameter);
	const known = await withCustomFields(job, mapping, fields);
	const given = reader(job, mapping, known);
	const linked = linkedValues(job, mapping.linked, known);
	const zone = job.n8n.getTimezone();

	return (item) => {
		const body: IDataObject = {};
		for (const [field, what] of [...given(item), ...linked(item)]) {
			const value = apiValue(field, what, zone);
			if (value !== null || empty === 'clear') put(body, field.path, value);
		}
		return body;
	};
}

function reader(job: Job, mapping: Mapping, fields: Field[]): (item: number) => GivenValue[] {
	const { n8n, api } = job;
	const valuesIn = knownValues(fields);
	switch (mapping.mode) {
		case 'each':
			return eachGiven(job, mapping.given, fields);
		case 'automatic': {
			const items = n8n.getInputData();
			// Records carry more than can be written: ids, times, counters.
			return (item) => valuesIn(items[item]?.json ?? {}).values;
		}
		case 'json': {
			const read = jsonReader(n8n, mapping.given);
			return (item) => {
				const { values, unknown } = valuesIn(read(item));
				for (const name of unknown) api.notices.add(notTaken(name));
				return values;
			};
		}
	}
}

function eachGiven(
	{ n8n, api }: Job,
	given: Array<[string, unknown]>,
	fields: Field[],
): (item: number) => GivenValue[] {
	const byName = new Map(fields.map((field) => [field.name, field]));
	for (const [name] of given) if (!byName.has(name)) api.notices.add(notTaken(name));
	const known = given.flatMap(([name, value]) => {
		const field = byName.get(name);
		return field ? [{ field, label: field.label, value }] : [];
	});
	const read = valuesOf(n8n, known);
	return (item) => {
		const values = read(item);
		return known.map(({ field }, i) => [field, values[i]]);
	};
}

/** @throws Error in the user's words from what is returned, where it is no JSON object */
function jsonReader(n8n: IExecuteFunctions, value: unknown): (item: number) => IDataObject {
	const read = valuesOf(n8n, [{ label: 'JSON', value }]);
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

/** The account's own fields, one by one, where the records have them and the mapping may name them. */
async function withCustomFields(job: Job, mapping: Mapping, fields: Field[]): Promise<Field[]> {
	if (!fields.some(({ name }) => name === 'custom_fields')) return fields;
	if (!mayNameCustomFields(job.n8n, mapping)) return fields;
	const defined: Field[][] = [];
	for (const path of collectionPaths(job)) defined.push(await customFields(job.api, path));
	const custom = defined.flat();
	if (custom.length === 0) return fields;
	// Mapped as a whole, perhaps before there were any, they are still sent.
	if (mapping.mode === 'each') return [...fields, ...custom];
	return [...fields.filter(({ name }) => name !== 'custom_fields'), ...custom];
}

function mayNameCustomFields(n8n: IExecuteFunctions, mapping: Mapping): boolean {
	const isCustom = (name: string) => /^custom_fields(\.|$)/.test(name);
	if (mapping.linked.some(({ field }) => isCustom(field))) return true;
	switch (mapping.mode) {
		case 'each':
			return mapping.given.some(([name]) => isCustom(name));
		case 'automatic':
			return n8n.getInputData().some(({ json }) => Object.keys(json).some(isCustom));
		case 'json':
			// Nothing is known of it before it is read.
			return true;
	}
}

function put(body: IDataObject, path: string[], value: unknown): void {
	const [key = '', ...rest] = path;
	if (rest.length === 0) {
		body[key] = value as IDataObject;
		return;
	}
	// A copy: what is there may be a part of the item.
	const inner = { ...(body[key] as IDataObject | undefined) };
	body[key] = inner;
	put(inner, rest, value);
}
