import type { IDataObject } from 'n8n-workflow';

import { currentFields, customFilters, readCustomFields } from '../api/customFields';
import { setMember } from '../base/ownMembers';
import { filterQuery } from '../api/lists/filterQuery';
import type { ListDescription } from '../api/openapi/listing';
import { filterValue } from '../fields/decideValue';
import { whyRefused } from '../fields/checks';
import { customFieldPrefix, type ConvertedValue, type Field } from '../fields/field';
import type { Execution } from '../model';
import { isUnset } from '../values/blank';
import { readFieldsOfItems, type AcceptedFields, type FieldsOfItems } from './acceptedFields';
import { FilterRows, noFilterValue, storedRows, type FilterRow, type MayLeaveOut } from './filterRows';
import { lookUpLinks, type LinkedIds } from './linkedIds';

/**
 * Reads the filters of a list from the rows of `parameter`, including filters by custom fields. Names of records are
 * replaced by their ids. Filters are never ignored: that would list more records than intended, perhaps for a node that
 * deletes them.
 */
export async function readFilters(
	execution: Execution,
	parameter: string,
	list: ListDescription,
	mayLeaveOut: MayLeaveOut = 'model',
): Promise<ListFilters> {
	const rows = storedRows(execution.n8n, parameter);
	const fieldsOfItems = await readFilterFields(execution, rows, list);
	const filterRows = new FilterRows(execution.n8n, rows, mayLeaveOut, fieldsOfItems);
	const linkedIds = await lookUpLinks(execution, (item) => filterRows.valuesOf(item), 'filter');
	return new ListFilters(execution, filterRows, linkedIds);
}

/** The filters of the items' lists. Custom fields are read only if a row may name one. */
async function readFilterFields(execution: Execution, rows: FilterRow[], list: ListDescription): Promise<FieldsOfItems> {
	const standardFields: AcceptedFields = { fields: list.filters, recordFieldNames: new Set() };
	const withCustom = async (collection: string): Promise<AcceptedFields> => {
		const custom = currentFields(await readCustomFields(execution.api, collection));
		return { ...standardFields, fields: [...standardFields.fields, ...customFilters(list, custom)] };
	};
	// An expression may return any name.
	const mayBeCustom = (name: unknown) => ['=', customFieldPrefix].some((start) => String(name).startsWith(start));
	const isNeeded = list.takesCustomFields === true && rows.some(({ field }) => mayBeCustom(field));
	return await readFieldsOfItems(execution, withCustom, standardFields, () => isNeeded);
}

/** The filters of a list, for each item. */
class ListFilters {
	private readonly execution: Execution;
	private readonly rows: FilterRows;
	private readonly linkedIds: LinkedIds;

	constructor(execution: Execution, rows: FilterRows, linkedIds: LinkedIds) {
		this.execution = execution;
		this.rows = rows;
		this.linkedIds = linkedIds;
	}

	/** @throws Error in the user's words for a filter that the service does not have, and for one without a value */
	query(item: number): IDataObject {
		return queryOfFilters(this.values(item));
	}

	/** The filters with their values, before they become query parameters. @throws as `query` */
	values(item: number): ConvertedValue[] {
		const { n8n, api } = this.execution;
		const zone = n8n.getTimezone();
		const values = this.rows
			.valuesOf(item)
			.map(({ field, value }): ConvertedValue => ({ field, converted: filterValue(field, value, zone) }));
		const twice = values.find(({ field: { name } }, i) => values.findIndex(({ field }) => field.name === name) < i);
		if (twice) throw setTwice(twice.field, twice.field.name);
		if (this.rows.hasRows && values.length === 0) api.notices.add(unfiltered);
		return values.map((value): ConvertedValue => {
			const { field: filter, converted } = value;
			api.requireDescription(`Filter ${filter.label}`);
			// The packaged description may lack choices of this service.
			const refusal = filter.choices && api.isSelfDescribed() ? whyRefused(filter, converted) : undefined;
			if (refusal !== undefined) throw new Error(refusal);
			const valueWithIds = this.linkedIds.replaceNames(value, values);
			if (isUnset(valueWithIds)) throw noFilterValue(filter);
			const isTyped = filter.linksTo !== undefined && filter.collection !== undefined;
			return { field: filter, converted: isTyped ? [valueWithIds].flat().map((id) => `${filter.collection}:${String(id)}`) : valueWithIds };
		});
	}
}

/** @throws as `ListFilters.query` */
export function queryOfFilters(values: ConvertedValue[]): IDataObject {
	const query: IDataObject = {};
	for (const { field: filter, converted } of values) {
		const { name } = filter;
		if (Object.hasOwn(query, name)) throw setTwice(filter, name);
		setMember(query, name, filterQuery(filter, converted)[name]);
	}
	return query;
}

const unfiltered =
	'The AI agent’s model left all filter values empty, so no filter was applied: these are simply the first records.';

function setTwice({ label }: Field, parameter: string): Error {
	return new Error(
		`${label}: two filters set ${parameter}, but the CRM accepts it only once. Keep one of them.`,
	);
}
