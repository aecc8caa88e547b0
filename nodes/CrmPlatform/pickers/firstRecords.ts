import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { readPages } from '../api/lists/pages';

/** More than a list can show with sense. */
const mostShown = 1_000;

/** The records at a path such as `/pipelines`, for lists that cannot be searched. */
export async function firstRecords(api: Connection, path: string): Promise<IDataObject[]> {
	const list = (await api.describe(path))?.list;
	if (!list) return [];
	const records: IDataObject[] = [];
	for await (const page of readPages(api.send, { path: `/v1${path}`, list, query: {}, limit: mostShown })) {
		records.push(...page.records);
	}
	return records;
}
