import { customFields, customFilters } from '../api/customFields';
import type { ListDescription } from '../api/listing';
import type { Job } from '../model';
import { columnsOf, type ReadColumns } from './columns';
import { everyFilter } from './everyFilter';
import { mappingOf } from './mapping';
import { collectionPath } from './picked';

/** Reads the mapper `parameter` of a list's filters, those on custom fields included. */
export async function filtersOf(
	job: Job,
	parameter: string,
	list: ListDescription,
): Promise<ReadColumns> {
	const mapping = mappingOf(job.n8n, parameter);
	const names = [
		...(mapping.mode === 'each' ? mapping.given.map(([name]) => name) : []),
		...mapping.linked.map(({ field }) => field),
	];
	const namesCustom = names.some((name) => name.startsWith('custom_fields.'));
	const custom =
		list.takesCustomFields && namesCustom
			? customFilters(await customFields(job.api, collectionPath(job, 0)))
			: [];
	const filters = [...list.filters, ...custom];
	const read = await columnsOf(job, parameter, filters, 'clear');
	return everyFilter(mapping, () => filters, read);
}
