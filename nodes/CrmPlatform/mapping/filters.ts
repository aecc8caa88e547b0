import type { IDataObject } from 'n8n-workflow';

import { customFilters, readCustomFields } from '../api/customFields';
import type { Field } from '../api/openapi/fields';
import type { ListDescription } from '../api/openapi/listing';
import type { Execution } from '../model';
import { acceptedFieldsByCollection, type AcceptedFields } from './acceptedFields';
import { isEmptyCell } from './objectFields';
import { readAcceptedFields, type ReadFields } from './readFields';
import { isFilledByModel, mappedNames, storedMapping, type Mapping } from './stored';
import { unsentValues, type UnsentValues } from './unsentValues';

/**
 * Reads the mapper `parameter` of a list's filters, those on custom fields included. A filter that
 * was dropped would list more records than the user wants, perhaps for a node that deletes them.
 *
 * @throws Error from the returned function, in the user's words, for a filter the service does not
 * have, and for one without a value
 */
export async function readFilters(
	job: Execution,
	parameter: string,
	list: ListDescription,
): Promise<ReadFields> {
	const mapping = storedMapping(job.n8n, parameter);
	const namesCustom = mappedNames(mapping).some((name) => name.startsWith('custom_fields.'));
	const own: AcceptedFields = { fields: list.filters, recordNames: new Set() };
	const withCustom = async (collection: string): Promise<AcceptedFields> => {
		const { fields } = await readCustomFields(job.api, collection);
		return { ...own, fields: [...own.fields, ...customFilters(fields)] };
	};
	const isNeeded = list.takesCustomFields === true && namesCustom;
	const accepted = await acceptedFieldsByCollection(job, withCustom, own, () => isNeeded);
	const unsent: UnsentValues = {
		...unsentValues(job.api.notices),
		unknown: refuseFilter,
		noValue(field) {
			throw noValue(field);
		},
	};
	const read = readAcceptedFields(job, mapping, accepted, { nulls: 'clear', unsent });
	return queryValues(mapping, (item) => accepted(item).fields, read);
}

/**
 * The filters as query parameters. Left out is a filter for which an AI agent's model gives nothing:
 * it has to answer for every filter it is shown.
 */
function queryValues(mapping: Mapping, filtersFor: (item: number) => Field[], read: ReadFields): ReadFields {
	const linked = mapping.linked.map(({ field, record }): [string, unknown] => [field, record]);
	const mapped = mapping.mode === 'each' ? [...mapping.mapped, ...linked] : linked;
	const byModel = new Set(mapped.filter(([, value]) => isFilledByModel(value)).map(([name]) => name));

	return (item) => {
		const query: IDataObject = {};
		const filters = filtersFor(item);
		for (const [name, value] of Object.entries(read(item))) {
			const filter = filters.find((one) => one.name === name);
			if (!isNothing(value)) Object.assign(query, encoded(name, value, filter));
			else if (!byModel.has(name)) throw noValue(filter ?? { label: name });
		}
		return query;
	};
}

function refuseFilter(name: string): never {
	throw new Error(
		`The service does not have the filter ${name}. Without it, too many records would be returned. Reopen the node and remove the filter or choose another one.`,
	);
}

function noValue({ label }: Pick<Field, 'label'>): Error {
	return new Error(`${label}: the filter has no value. Enter a value or remove the filter.`);
}

/** Whether there is nothing to filter by, in a list: in none of its places. */
function isNothing(value: unknown): boolean {
	return Array.isArray(value) ? value.every(isNothing) : isEmptyCell(value);
}

/** A filter as the service's description wants its query parameter written. */
function encoded(name: string, value: unknown, filter?: Field): IDataObject {
	const { encoding, label = name } = filter ?? {};
	if (encoding === 'json') return { [name]: JSON.stringify(value) };
	if (Array.isArray(value)) {
		const parts = value.map((one) => single(label, one));
		if (encoding === 'repeated') return { [name]: { each: parts } };
		const separator = { space: ' ', pipe: '|' }[String(encoding)] ?? ',';
		if (encoding === 'deepObject' || encoding === 'members') throw notSent(label, value);
		const torn = parts.find((part) => part.includes(separator));
		if (torn === undefined) return { [name]: parts.join(separator) };
		throw new Error(
			`${label}: "${torn}" contains "${separator}", which the service uses to separate values. Filter by one value at a time.`,
		);
	}
	if (typeof value !== 'object' || value === null) return { [name]: value as string };
	const members = Object.entries(value).map(([key, one]) => [key, single(label, one)] as const);
	if (encoding === 'members') return Object.fromEntries(members);
	if (encoding === 'deepObject') {
		return Object.fromEntries(members.map(([key, one]) => [`${name}[${key}]`, one]));
	}
	throw notSent(label, value);
}

function single(label: string, value: unknown): string {
	if (typeof value === 'object') throw notSent(label, value);
	return String(value);
}

function notSent(label: string, value: unknown): Error {
	return new Error(
		`${label}: the service does not describe how to filter by a value such as ${JSON.stringify(value).slice(0, 100)}, so nothing was read. Filter by a single value.`,
	);
}
