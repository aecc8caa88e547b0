import type { IDataObject, INodeListSearchItems, INodePropertyOptions } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import type { Field } from '../fields/field';
import { firstRecords } from '../lookUp/recordList';
import { listItem } from '../lookUp/searchList';

/** The longest list to choose from without a search. */
const maxListLength = 100;

/**
 * Reads the records to which fields can link, if they are few. Each collection is requested once, all at the same time.
 * If a request fails, the fields that link to it are filled in by id.
 *
 * @returns the options by the field's name; none for a field whose records are too many for a list
 */
export async function linkOptionsOf(api: Connection, fields: Field[]): Promise<Map<string, INodePropertyOptions[]>> {
	const collections = [...new Set(fields.flatMap(({ collection = [] }) => collection))];
	const records = new Map(await Promise.all(collections.map(async (collection) =>
		[collection, await firstRecords(api, collection, maxListLength + 1).catch(() => [])] as const)));
	return new Map(fields.flatMap(({ name, collection, part }) => {
		const options = (records.get(collection!) ?? []).flatMap((record) => recordOptions(record, part));
		if (options.length === 0 || options.length > maxListLength) return [];
		// Parts, such as stages, have an order of their own.
		return [[name, part === undefined ? options.sort((a, b) => a.name.localeCompare(b.name, 'en')) : options] as const];
	}));
}

/**
 * Converts a record to an option; or its parts, each with the record's name, since parts of two records may have
 * the same name.
 *
 * @param part the member of the record that lists its parts, such as a pipeline's `stages`
 */
function recordOptions(record: IDataObject, part?: string): INodeListSearchItems[] {
	const option = listItem(record);
	if (part === undefined) return [option];
	const parts = record[part];
	if (!Array.isArray(parts)) return [];
	return (parts as IDataObject[]).map((item) => {
		const { name, value } = listItem(item);
		return { name: `${option.name} – ${name}`, value };
	});
}

/** All records of a short list, or their parts: of one record if it is picked. */
export const listedOptions = async (api: Connection, path: Collection, part?: string, picked?: unknown): Promise<INodeListSearchItems[]> =>
	(await firstRecords(api, path)).filter(({ id }) => !picked || id === picked).flatMap((record) => recordOptions(record, part));

export const choiceOptions = ({ choices }: Field): INodePropertyOptions[] | undefined =>
	choices?.map(({ label, value }) => ({ name: label, value }));

export const optionsOf = (fields: Array<Pick<Field, 'name' | 'label'>>): INodePropertyOptions[] =>
	fields.map(({ name, label }) => ({ name: label, value: name }));
