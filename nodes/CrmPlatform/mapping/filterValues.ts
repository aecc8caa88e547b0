import type { IDataObject } from 'n8n-workflow';

import { currentFields, customFilters, readCustomFields } from '../api/customFields';
import { setMember } from '../base/ownMembers';
import type { Query } from '../api/http/path';
import { filterQuery } from '../api/lists/filterQuery';
import type { ListDescription } from '../api/openapi/listing';
import { apiValue } from '../fields/decideValue';
import { whyRefused } from '../fields/checks';
import { customFieldPrefix, type ConvertedValue, type Field } from '../fields/field';
import type { Execution } from '../model';
import { isUnset } from '../values/blank';
import { filteredFieldsByName, filterRowsReader, noFilterValue, storedGroups, type MayLeaveOut } from './filterRows';
import { lookUpLinks, replaceNames, type LinkedIds } from './linkedIds';
import { commonCollection } from './sameForAll';

/** The filters of a list, for each item. */
interface ListFilters {
	/**
	 * A query for each group: the records of any of them are meant.
	 *
	 * @throws Error in the user's words for a filter that the service does not have, and for one without a value
	 */
	queries(item: number): Query[];
	/** The filters with their values, before they become query parameters. @throws as `queries`, and for several groups */
	values(item: number): ConvertedValue[];
}

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
	const { n8n, api } = execution;
	const stored = storedGroups(n8n, parameter);
	// An expression may return any name.
	const mayBeCustom = (name: unknown) => ['=', customFieldPrefix].some((start) => String(name).startsWith(start));
	const needsCustom = list.takesCustomFields === true && stored.flat().some(({ field }) => mayBeCustom(field));
	const custom = needsCustom ? customFilters(list, currentFields(await readCustomFields(api, commonCollection(execution)))) : [];
	const rowsOf = filterRowsReader(n8n, stored, mayLeaveOut, filteredFieldsByName([...list.filters, ...custom]));
	const zone = n8n.getTimezone();
	const valuesOf = (item: number) => rowsOf(item).map((values) => values.map(({ field, value }): ConvertedValue => ({ field, converted: apiValue(field, value, zone) })));
	const links = await lookUpLinks(execution, (item) => valuesOf(item).flat(), 'checked');
	const groupsOf = (item: number) => valuesOf(item).map((values) => checkedFilters(execution, values, links));
	return {
		queries(item) {
			// A group whose values a model has left out would list everything.
			const filled = groupsOf(item).filter((values) => values.length > 0);
			if (filled.length === 0 && stored.flat().length > 0) api.notices.add(unfiltered);
			return (filled.length > 0 ? filled : [[]]).map(queryOfFilters);
		},
		values(item) {
			if (stored.length > 1) throw new Error('These filters cannot be joined by Or. Choose And in each row.');
			return groupsOf(item)[0]!;
		},
	};
}

/** @throws as `ListFilters.queries` */
function checkedFilters({ api }: Execution, values: ConvertedValue[], links: LinkedIds): ConvertedValue[] {
	const twice = values.find(({ field: { name } }, i) => values.findIndex(({ field }) => field.name === name) < i);
	if (twice) throw setTwice(twice.field, twice.field.name);
	return values.map((value): ConvertedValue => {
		const { field: filter, converted } = value;
		api.requireDescription(`Filter ${filter.label}`);
		// The packaged description may lack choices of this service.
		const refusal = filter.choices && api.isSelfDescribed() ? whyRefused(filter, converted) : undefined;
		if (refusal !== undefined) throw new Error(refusal);
		const valueWithIds = replaceNames(links, value, values);
		if (isUnset(valueWithIds)) throw noFilterValue(filter);
		const isTyped = filter.linksTo !== undefined && filter.collection !== undefined;
		return { field: filter, converted: isTyped ? [valueWithIds].flat().map((id) => `${filter.collection}:${String(id)}`) : valueWithIds };
	});
}

/** @throws as `ListFilters.queries` */
export function queryOfFilters(values: ConvertedValue[]): Query {
	const query: IDataObject = {};
	for (const { field: filter, converted } of values) {
		const { name } = filter;
		if (Object.hasOwn(query, name)) throw setTwice(filter, name);
		setMember(query, name, filterQuery(filter, converted)[name]);
	}
	return query as Query;
}

const unfiltered =
	'The AI agent’s model left all filter values empty, so no filter was applied: these are simply the first records.';

function setTwice({ label }: Field, parameter: string): Error {
	return new Error(
		`${label}: two filters set ${parameter}, but the CRM accepts it only once. Keep one of them.`,
	);
}
