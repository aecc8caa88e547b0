import type { IDataObject } from 'n8n-workflow';

import type { Field } from '../api/openapi/fields';
import type { ReadFields } from './readFields';
import { isFilledByModel, type Mapping } from './stored';

/**
 * Holds that every filter the user has given is one the list is asked with: one that fell away would
 * give more than was wanted, perhaps to a node that deletes it. Left out are blanks, and what a model
 * gives nothing for, which has to answer for every filter it is shown.
 *
 * @param filtersFor the filters the service has for an item's list
 * @param read the item's filters, null where one has no value
 * @throws Error in the user's words from what is returned, for a filter whose expression gives nothing
 */
export function requireFilterValues(
	mapping: Mapping,
	filtersFor: (item: number) => Field[],
	read: ReadFields,
): ReadFields {
	const linked = mapping.linked.map(({ field, record }): [string, unknown] => [field, record]);
	const given = mapping.mode === 'each' ? [...mapping.given, ...linked] : linked;
	const byModel = new Set(given.filter(([, value]) => isFilledByModel(value)).map(([name]) => name));

	return (item) => {
		const query: IDataObject = {};
		for (const [name, value] of Object.entries(read(item))) {
			if (!isNothing(value)) query[name] = value;
			else if (!byModel.has(name)) throw new Error(noValue(name, filtersFor(item)));
		}
		return query;
	};
}

/** @throws Error in the user's words */
export function refuseFilter(name: string): never {
	throw new Error(
		`The service has no filter ${name} (any more), and without it the list would have more records than you want. Open the node and remove the filter, or refresh the filters and choose another.`,
	);
}

/** Nothing to filter by; of a list, in none of its places. */
function isNothing(value: unknown): boolean {
	if (Array.isArray(value)) return value.every(isNothing);
	return value === null || value === undefined || (typeof value === 'string' && value.trim() === '');
}

function noValue(name: string, filters: Field[]): string {
	const { label = name } = filters.find((filter) => filter.name === name) ?? {};
	return `${label}: the filter has no value. Remove it or give it one.`;
}
