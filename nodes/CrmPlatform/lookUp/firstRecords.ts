import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { readPages } from '../api/lists/pages';

/** The longest list that helps a person. */
const maxShown = 1_000;

/** The first records at a path such as `/pipelines`, for lists that cannot be searched. */
export async function firstRecords(api: Connection, path: string): Promise<IDataObject[]> {
	const list = (await api.describe(path))?.list;
	if (!list) return [];
	const records: IDataObject[] = [];
	for await (const page of readPages(api.send, { path: `/v1${path}`, list, query: {}, limit: maxShown })) {
		records.push(...page.records);
	}
	return records;
}
