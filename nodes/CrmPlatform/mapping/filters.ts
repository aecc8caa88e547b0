import { customFields, customFilters } from '../api/customFields';
import type { ListDescription } from '../api/listing';
import type { Job } from '../model';
import { columnsIn, type ReadColumns } from './columns';
import { everyFilter } from './everyFilter';
import { mappingOf, namesIn } from './mapping';
import { takenByCollection, type Taken } from './taken';

/** Reads the mapper `parameter` of a list's filters, those on custom fields included. */
export async function filtersOf(
	job: Job,
	parameter: string,
	list: ListDescription,
): Promise<ReadColumns> {
	const mapping = mappingOf(job.n8n, parameter);
	const namesCustom = namesIn(mapping).some((name) => name.startsWith('custom_fields.'));
	const own: Taken = { fields: list.filters, recordNames: new Set() };
	const withCustom = async (collection: string): Promise<Taken> => {
		const { fields } = await customFields(job.api, collection);
		return { ...own, fields: [...own.fields, ...customFilters(fields)] };
	};
	const isNeeded = list.takesCustomFields === true && namesCustom;
	const takenBy = await takenByCollection(job, withCustom, own, () => isNeeded);
	const read = columnsIn(job, mapping, takenBy, 'clear');
	return everyFilter(mapping, (item) => takenBy(item).fields, read);
}
