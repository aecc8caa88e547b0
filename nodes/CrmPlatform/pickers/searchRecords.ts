import type {
	IDataObject,
	ILoadOptionsFunctions,
	INodeListSearchItems,
	INodeListSearchResult,
} from 'n8n-workflow';

import { readPage } from '../api/page';
import type { Query } from '../api/path';
import { opened } from './opened';

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
	const { api, resource, description } = await opened(this);
	const { list } = description;
	if (!list) throw new Error(`The service does not list ${resource.path}. Pick the record by its id.`);

	const query: Query = { [list.cursor]: cursor };
	if (filter && list.search !== undefined) query[list.search] = filter;
	if (list.pageSize) query[list.pageSize.name] = Math.min(pageSize, list.pageSize.maximum);
	const page = await readPage(api.send, `/v1${resource.path}`, query);

	const items = page.records.map(listItem);
	const wanted = (filter ?? '').toLowerCase();
	const results =
		list.search === undefined
			? items.filter(({ name }) => name.toLowerCase().includes(wanted))
			: items;
	return page.next === undefined ? { results } : { results, paginationToken: page.next };
}

function listItem(record: IDataObject): INodeListSearchItems {
	const id = String(record.id);
	const title = titleOf(record);
	const subtitle = [record.email, record.domain].find((value) => typeof value === 'string');
	const name = [title, subtitle].filter((part) => part !== undefined && part !== '').join(' – ');
	return { name: name || id, value: id };
}

/** The field that names a record: services differ, and custom objects have a title. */
const titleFields = ['name', 'title', 'subject', 'label', 'email'];

function titleOf(record: IDataObject): string | undefined {
	const field = titleFields.find((name) => typeof record[name] === 'string' && record[name] !== '');
	return field && String(record[field]);
}
