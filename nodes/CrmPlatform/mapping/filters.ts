import type { IDataObject } from 'n8n-workflow';

import { customFields, customFilters } from '../api/customFields';
import type { Field } from '../api/fields';
import { linksOf } from '../api/links';
import type { ListDescription } from '../api/listing';
import type { Job } from '../model';
import { columnsOf, type ReadColumns } from './columns';
import { mappingOf, type Mapping } from './mapping';
import { collectionPath } from './picked';

/**
 * Reads the mapper `parameter` of a list's filters, those on custom fields included.
 *
 * A filter that fell away would give more than was asked for, perhaps to a node that deletes it: so
 * one that the service does not have, or whose expression gives nothing, is an error. Left out are
 * blanks, and what a model gives nothing for, which has to answer for every filter it is shown.
 *
 * @throws Error in the user's words, also from what is returned
 */
export async function filtersOf(
	job: Job,
	parameter: string,
	list: ListDescription,
): Promise<ReadColumns> {
	const mapping = mappingOf(job.n8n, parameter);
	const given = givenIn(mapping);
	const namesCustom = given.some(([name]) => name.startsWith('custom_fields.'));
	const custom =
		list.takesCustomFields && namesCustom
			? customFilters(await customFields(job.api, collectionPath(job, 0)))
			: [];
	const filters = [...list.filters, ...custom];
	refuseUnknown(mapping, filters);

	const labels = new Map(filters.map(({ name, label }) => [name, label]));
	const byModel = new Set(given.filter(([, value]) => isByModel(value)).map(([name]) => name));
	const read = await columnsOf(job, parameter, filters, 'clear');
	return (item) => {
		const query: IDataObject = {};
		for (const [name, value] of Object.entries(read(item))) {
			if (!isNothing(value)) query[name] = value;
			else if (!byModel.has(name)) {
				throw new Error(
					`${labels.get(name) ?? name}: the filter has no value. Remove it or give it one.`,
				);
			}
		}
		return query;
	};
}

/** The filters by their names, as they are stored. */
function givenIn(mapping: Mapping): Array<[name: string, value: unknown]> {
	const linked = mapping.linked.map(({ field, record }): [string, unknown] => [field, record]);
	return mapping.mode === 'each' ? [...mapping.given, ...linked] : linked;
}

function refuseUnknown(mapping: Mapping, filters: Field[]): void {
	const given = mapping.mode === 'each' ? mapping.given.map(([name]) => name) : [];
	const linked = mapping.linked.map(({ field }) => field).filter((name) => name !== '');
	const unknown =
		given.find((name) => !filters.some((filter) => filter.name === name)) ??
		linked.find((name) => !linksOf(filters).some((link) => link.name === name));
	if (unknown === undefined) return;
	throw new Error(
		`The service has no filter ${unknown} (any more), and without it the list would have more records than you want. Open the node and remove the filter, or refresh the filters and choose another.`,
	);
}

function isByModel(value: unknown): boolean {
	return typeof value === 'string' && /\$fromAI\b/i.test(value);
}

/** Nothing to filter by; of a list, in none of its places. */
function isNothing(value: unknown): boolean {
	if (Array.isArray(value)) return value.every(isNothing);
	return value === null || value === undefined || (typeof value === 'string' && value.trim() === '');
}
