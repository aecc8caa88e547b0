import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { searchList } from '../lookUp/searchList';
import { editorConnection, editorContext } from './editorContext';

/**
 * Finds the records of the chosen resource whose text matches `filter`, one page at a time.
 *
 * @param cursor the paginationToken of the previous page
 */
export async function searchRecords(
	this: ILoadOptionsFunctions,
	filter?: string,
	cursor?: string,
): Promise<INodeListSearchResult> {
	const { api, resource, collection } = await editorContext(this);
	return await searchList(api, { path: resource.path, collection }, { filter, cursor });
}

/** The picker of the records at `path` (`/tags`), whatever the node's own resource is. */
function searchAt(path: string, value?: string) {
	return async function (
		this: ILoadOptionsFunctions,
		filter?: string,
		cursor?: string,
	): Promise<INodeListSearchResult> {
		const searchQuery = { filter, cursor, order: ['name', 'label_plural'], ...(value !== undefined && { value }) };
		return await searchList(await editorConnection(this), { path }, searchQuery);
	};
}

export const searchTags = searchAt('/tags');
export const searchUsers = searchAt('/users');
export const searchPipelines = searchAt('/pipelines');
export const searchWebhooks = searchAt('/webhooks');
/** Custom objects are named by key in paths. */
export const searchCustomObjects = searchAt('/custom-objects', 'key');
