import type { IDataObject } from 'n8n-workflow';

import { setMember } from '../api/http/ownMembers';
import { customFilters, readCustomFields } from '../api/customFields';
import type { Field } from '../fields/field';
import { filteredFields, type FilteredField } from '../api/openapi/filteredFields';
import type { ListDescription } from '../api/openapi/listing';
import { pagingParameters } from '../api/openapi/paging';
import type { Execution } from '../model';
import { isUnset } from '../values/blank';
import { whyRefused } from '../fields/checks';
import { filterValue } from '../fields/apiValue';
import { acceptedFieldsByCollection, oncePerFields, type AcceptedFields } from './acceptedFields';
import { filterQuery } from './filterQuery';
import { filterRowValues, noFilterValue, storedRows, type MayLeaveOut } from './filterRows';
import { findIds } from './linkedIds';
import type { FieldValue } from './objectFields';
import type { ValuesOf } from './prepareValues';

/**
 * Reads the filters of a list, the rows of the parameter `parameter`, custom fields included. Names of records
 * are replaced by their ids. Ignoring a filter would list more records than intended, perhaps for a node that
 * deletes them.
 *
 * @returns reads an input item, as query parameters
 * @throws Error from the returned function, in the user's words, for a filter the service does not have, and
 * for one without a value
 */
export async function readFilters(
	execution: Execution,
	parameter: string,
	list: ListDescription,
): Promise<ValuesOf> {
	const read = await readFilterValues(execution, parameter, list, 'model');
	return (item) => filtersQuery(read(item), list);
}

/** The same as the filters and their values, before they are written as query parameters. */
export async function readFilterValues(
	execution: Execution,
	parameter: string,
	list: ListDescription,
	mayLeaveOut: MayLeaveOut,
): Promise<(item: number) => FieldValue[]> {
	const valuesOf = await filterValues(execution, parameter, list, mayLeaveOut);
	const ids = await findIds(execution, (item) => valuesOf(item).filter(([{ reference }]) => reference !== undefined), 'filter');
	const zone = execution.n8n.getTimezone();
	const hasRows = storedRows(execution.n8n, parameter).length > 0;
	return (item) => {
		const values = valuesOf(item).map(([filter, rawValue]): FieldValue => [filter, filterValue(filter, rawValue, zone)]);
		const twice = values.find(([filter], i) => values.findIndex(([{ name }]) => name === filter.name) < i);
		if (twice) throw setTwice(twice[0], twice[0].name);
		if (hasRows && values.length === 0) execution.api.notices.add(unfiltered);
		return values.map(([filter, convertedValue]): FieldValue => {
			execution.api.requireDescription(`Filter ${filter.label}`);
			// The packaged description may lack choices of this service.
			const refusal = filter.choices && execution.api.isSelfDescribed() ? whyRefused(filter, convertedValue) : undefined;
			if (refusal !== undefined) throw new Error(refusal);
			const value = ids(filter, convertedValue, values);
			if (isUnset(value)) throw noFilterValue(filter);
			return [filter, value];
		});
	};
}

/** @throws as `readFilters` */
export function filtersQuery(values: FieldValue[], list: ListDescription): IDataObject {
	const query: IDataObject = {};
	for (const [filter, value] of values) {
		const parameters = Object.entries(filterQuery(filter, value));
		if (parameters.length === 0) throw noFilterValue(filter);
		for (const [name, text] of parameters) {
			if (pagingParameters(list).includes(name)) throw setByPages(filter, name);
			if (Object.hasOwn(query, name)) throw setTwice(filter, name);
			setMember(query, name, text);
		}
	}
	return query;
}

/** Reads the filters of an item with their values as they were given. */
async function filterValues(
	execution: Execution,
	parameter: string,
	list: ListDescription,
	mayLeaveOut: MayLeaveOut,
): Promise<(item: number) => FieldValue[]> {
	const rows = storedRows(execution.n8n, parameter);
	const standardFields: AcceptedFields = { fields: list.filters, recordNames: new Set() };
	const withCustom = async (collection: string): Promise<AcceptedFields> => {
		const { fields, unwritable } = await readCustomFields(execution.api, collection);
		return { ...standardFields, fields: [...standardFields.fields, ...customFilters(list, [...fields, ...unwritable])] };
	};
	// The names in an expression are known only per item.
	const mayBeCustom = (name: unknown) => /^(=|custom_fields\.)/.test(String(name));
	const isNeeded = list.takesCustomFields === true && rows.some(({ field }) => mayBeCustom(field));
	const accepted = await acceptedFieldsByCollection(execution, withCustom, standardFields, () => isNeeded);

	const readRows = filterRowValues(execution.n8n, rows, mayLeaveOut);
	const readerOf = oncePerFields(({ fields }) => {
		const byName = new Map(filteredFields(fields).map((field): [string, FilteredField] => [field.name, field]));
		// By its whole name, every filter is a field: `created_at[gte]`.
		for (const filter of fields) {
			const filteredField: FilteredField = { name: filter.name, label: filter.label, filters: new Map([['is', filter]]) };
			if (!byName.has(filter.name)) byName.set(filter.name, filteredField);
		}
		return (item: number) => readRows(item, byName);
	});
	return (item) => readerOf(accepted(item))(item);
}

const unfiltered =
	'The AI agent’s model left all filter values empty, so no filter was applied: these are simply the first records.';

function setTwice({ label }: Field, parameter: string): Error {
	return new Error(
		`${label}: two filters set ${parameter}, but the service accepts it only once. Keep one of them.`,
	);
}

function setByPages({ label }: Field, parameter: string): Error {
	return new Error(
		`${label}: ${parameter} is the service’s parameter for paging, so it cannot be a filter. Remove it.`,
	);
}
