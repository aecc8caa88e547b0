import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { connect, type Connection } from '../api/connection';
import { readPage } from '../api/lists/page';
import type { Query } from '../api/http/path';
import { matchingName } from './matching';
import { editorContext } from './editorContext';

/** Records a list shows at a time. */
const pageSize = 100;

/**
 * The records of the chosen resource whose text matches `filter`, a page at a time.
 *
 * @param cursor where the last page ended
 */
export async function searchRecords(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const { api, resource, collection } = await editorContext(this);
	return await search(api, { resource: resource.path, collection }, { filter, cursor });
}

/** The picker of the records at `resource` (`/tags`), whatever the node's own resource is. */
function searchAt(resource: string, value?: string) {
	return async function (
		this: ILoadOptionsFunctions,
		filter?: string,
		cursor?: string,
	): Promise<INodeListSearchResult> {
		const wanted = { filter, cursor, ...(value !== undefined && { value }) };
		const records = { resource, collection: `/v1${resource}` };
		return await search(await connect(this), records, wanted);
	};
}

export const searchTags = searchAt('/tags');
export const searchUsers = searchAt('/users');
export const searchPipelines = searchAt('/pipelines');
export const searchWebhooks = searchAt('/webhooks');
/** Paths name custom objects by key. */
export const searchCustomObjects = searchAt('/custom-objects', 'key');

interface Wanted {
	filter: string | undefined;
	cursor: string | undefined;
	/** The field that is picked. */
	value?: string;
}

/** One page of the records at `collection`, as a list shows them. */
export async function search(
	api: Connection,
	{ resource, collection }: { resource: string; collection: string },
	{ filter, cursor, value = 'id' }: Wanted,
): Promise<INodeListSearchResult> {
	const list = (await api.describe(resource))?.list;
	if (!list) throw new Error(`The service does not list ${resource}. Pick the record by its id.`);

	const query: Query = { [list.cursor]: cursor };
	if (filter && list.search !== undefined) query[list.search] = filter;
	if (list.pageSize) query[list.pageSize.name] = Math.min(pageSize, list.pageSize.maximum);
	const page = await readPage(api.send, collection, query);

	const items = page.records.map((record) => listItem(record, value));
	const results = list.search === undefined ? matchingName(items, filter) : items;
	return page.next === undefined ? { results } : { results, paginationToken: page.next };
}

/** A record by its title, and what tells it from others of the same. */
export function listItem(record: IDataObject, value = 'id'): INodeListSearchItems {
	const id = String(record[value]);
	const title = textOf(record, nameFields) ?? textOf(record, contentFields)?.slice(0, mostShown);
	const subtitle = textOf(record, ['email', 'domain', ...(hasName(record) ? [] : timeFields)]);
	const name = [title, subtitle].filter((part) => part !== undefined).join(' – ');
	return { name: name || id, value: id };
}

/** The fields that name a record: services differ, and custom objects have a title. */
const nameFields = ['name', 'title', 'subject', 'label', 'label_plural', 'email'];
/** Where a record has no name, the beginning of what it says. */
const contentFields = ['url', 'body', 'text', 'event_type', 'type', 'operation'];
const timeFields = ['created_at', 'timestamp'];
/** Characters of a content; more would not fit. */
const mostShown = 60;

const hasName = (record: IDataObject): boolean => textOf(record, nameFields) !== undefined;

function textOf(record: IDataObject, fields: string[]): string | undefined {
	return fields
		.map((field) => record[field])
		.find((value): value is string => typeof value === 'string' && value !== '');
}
