import type { IDataObject } from 'n8n-workflow';

import { customFilters, readCustomFields } from '../api/customFields';
import type { Field } from '../api/openapi/fields';
import { filteredFields, type FilteredField } from '../api/openapi/filteredFields';
import type { ListDescription } from '../api/openapi/listing';
import { pagingParameters } from '../api/openapi/paging';
import type { Execution } from '../model';
import { acceptedFieldsByCollection, type AcceptedFields } from './acceptedFields';
import { filterRowValues, isNothing, noFilterValue, refuseFilter, storedRows } from './filterRows';
import { linkedRecordValues } from './linkedRecords';
import { findReferences, type ReferenceIds } from './lookUp';
import type { FieldValue } from './objectFields';
import type { ReadFields } from './readFields';
import { linkedRecordsIn } from './stored';
import { noNotices, type UnsentValues } from './unsentValues';
import { apiValue } from './values';

/**
 * Reads the filters of a list: the rows of the parameter `parameter`, and the records picked beside
 * them, custom fields included. Names of records are replaced by their ids. A filter that was dropped
 * would list more records than the user wants, perhaps for a node that deletes them.
 *
 * @returns reads an input item, as query parameters
 * @throws Error from the returned function, in the user's words, for a filter the service does not
 * have, and for one without a value
 */
export async function readFilters(
	execution: Execution,
	parameter: string,
	list: ListDescription,
): Promise<ReadFields> {
	const valuesOf = await filterValues(execution, parameter, list);
	const ids = await recordIds(execution, valuesOf);
	const zone = execution.n8n.getTimezone();
	return (item) => {
		const query: IDataObject = {};
		for (const [filter, given] of valuesOf(item)) {
			const value = ids(filter, apiValue(filter, given, zone));
			if (isNothing(value)) throw noFilterValue(filter);
			for (const [name, text] of Object.entries(encoded(filter, value))) {
				if (pagingParameters(list).includes(name)) throw setByPages(filter, name);
				if (name in query) throw setTwice(filter, name);
				query[name] = text;
			}
		}
		return query;
	};
}

/** Reads the filters of an item with their values as they were given. */
async function filterValues(
	execution: Execution,
	parameter: string,
	list: ListDescription,
): Promise<(item: number) => FieldValue[]> {
	const rows = storedRows(execution.n8n, parameter);
	const linked = linkedRecordsIn(execution.n8n, parameter);
	const own: AcceptedFields = { fields: list.filters, recordNames: new Set() };
	const withCustom = async (collection: string): Promise<AcceptedFields> => {
		const { fields } = await readCustomFields(execution.api, collection);
		return { ...own, fields: [...own.fields, ...customFilters(list, fields)] };
	};
	// What an expression names is known only for each item.
	const mayBeCustom = (name: unknown) => /^(=|custom_fields\.)/.test(String(name));
	const isNeeded =
		list.takesCustomFields === true && [...rows, ...linked].some(({ field }) => mayBeCustom(field));
	const accepted = await acceptedFieldsByCollection(execution, withCustom, own, () => isNeeded);

	const readRows = filterRowValues(execution.n8n, rows);
	const readers = new Map<AcceptedFields, (item: number) => FieldValue[]>();
	const readerFor = ({ fields }: AcceptedFields): ((item: number) => FieldValue[]) => {
		const byName = new Map(filteredFields(fields).map((field): [string, FilteredField] => [field.name, field]));
		// By its whole name, every filter is a field: `created_at[gte]`.
		for (const filter of fields) {
			const whole: FilteredField = { name: filter.name, label: filter.label, filters: new Map([['is', filter]]) };
			if (!byName.has(filter.name)) byName.set(filter.name, whole);
		}
		const readLinked = linkedRecordValues(execution.n8n, linked, fields, refused, 'Filter by Linked Record');
		return (item) => [...readRows(item, byName), ...readLinked(item)];
	};
	return (item) => {
		const fields = accepted(item);
		const read = readers.get(fields) ?? readerFor(fields);
		readers.set(fields, read);
		return read(item);
	};
}

const refused: UnsentValues = {
	...noNotices,
	unknown: refuseFilter,
	noValue(filter) {
		throw noFilterValue(filter);
	},
};

/** Finds the ids of the records that the filters name. */
async function recordIds({ n8n, api }: Execution, valuesOf: (item: number) => FieldValue[]): Promise<ReferenceIds> {
	const given: FieldValue[] = [];
	for (const item of n8n.getInputData().keys()) {
		try {
			given.push(...valuesOf(item).filter(([{ reference, part }]) => reference && part === undefined));
		} catch {
			// The item fails with this error when its turn comes.
		}
	}
	return await findReferences(api, given);
}

function setTwice({ label }: Field, parameter: string): Error {
	return new Error(
		`${label}: two filters set ${parameter}, and the service takes it once. Keep one of them.`,
	);
}

function setByPages({ label }: Field, parameter: string): Error {
	return new Error(
		`${label}: its member ${parameter} has the name of the parameter that the service takes for pages, so it cannot be a filter. Leave it out.`,
	);
}

/** A filter as the service's description wants its query parameter written. */
function encoded({ name, encoding, label }: Field, value: unknown): IDataObject {
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
