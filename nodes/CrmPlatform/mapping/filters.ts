import { readCustomFields, customFilters } from '../api/customFields';
import type { ListDescription } from '../api/openapi/listing';
import type { Execution } from '../model';
import { readAcceptedFields, type ReadFields } from './readFields';
import { requireFilterValues, refuseFilter } from './everyFilter';
import { unsentValues } from './unsentValues';
import { storedMapping, mappedNames } from './stored';
import { acceptedFieldsByCollection, type AcceptedFields } from './acceptedFields';

/** Reads the mapper `parameter` of a list's filters, those on custom fields included. */
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
	const takenBy = await acceptedFieldsByCollection(job, withCustom, own, () => isNeeded);
	const left = { ...unsentValues(job.api.notices), unknown: refuseFilter };
	const read = readAcceptedFields(job, mapping, takenBy, 'clear', left);
	return requireFilterValues(mapping, (item) => takenBy(item).fields, read);
}
