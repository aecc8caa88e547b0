import type { IDataObject, INodeListSearchItems, INodePropertyOptions } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Field } from '../fields/field';
import { readPages } from '../api/lists/pages';
import { listItem } from '../lookUp/recordLabels';

/** The longest list to choose from without a search. */
const maxListLength = 100;

/** The records that a field refers to, by the field's name; absent if they are too many for a list. */
type References = Map<string, INodePropertyOptions[]>;

/**
 * Reads the records that fields can refer to, if they are few. Each record type is requested once,
 * all at the same time. If a request fails, the fields that refer to it are filled in by id.
 */
export async function referencesOf(api: Connection, fields: Field[]): Promise<References> {
	const resources = [...new Set(fields.flatMap(({ reference = [] }) => reference))];
	const read = await Promise.all(
		resources.map(async (resource) => [resource, await fewRecords(api, resource)] as const),
	);
	const records = new Map(read);
	const references: References = new Map();
	for (const { name, reference, part } of fields) {
		const few = reference === undefined ? undefined : records.get(reference);
		const options = few?.flatMap((record) => recordOptions(record, part)) ?? [];
		if (options.length === 0 || options.length > maxListLength) continue;
		// Parts, such as stages, have an order of their own.
		references.set(name, part === undefined ? options.sort(byName) : options);
	}
	return references;
}

const byName = (a: INodePropertyOptions, b: INodePropertyOptions) =>
	a.name.localeCompare(b.name, 'en');

async function fewRecords(api: Connection, resource: string): Promise<IDataObject[] | undefined> {
	try {
		const list = (await api.describe(`/${resource}`))?.list;
		if (!list) return undefined;
		const walk = { path: `/v1/${resource}`, list, query: {}, limit: maxListLength };
		const { value: page } = await readPages(api.send, walk).next();
		return page?.next === undefined ? page?.records : undefined;
	} catch {
		return undefined;
	}
}

/**
 * Converts a record to an option; or its parts, each with the record's name, since parts of two records may have
 * the same name.
 *
 * @param part the member of the record that lists its parts, such as a pipeline's `stages`
 */
export function recordOptions(record: IDataObject, part?: string): INodeListSearchItems[] {
	const option = (object: IDataObject, prefix = ''): INodeListSearchItems => {
		const { name, value } = listItem(object);
		return { name: prefix + name, value };
	};
	if (part === undefined) return [option(record)];
	const items = record[part];
	if (!Array.isArray(items)) return [];
	return (items as IDataObject[]).map((item) => option(item, `${listItem(record).name} – `));
}
