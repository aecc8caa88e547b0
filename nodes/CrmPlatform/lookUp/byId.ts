import type { Connection } from '../api/connection';
import { encodedPath, type Collection, type Query } from '../api/http/path';
import { inParallel } from '../api/inParallel';
import type { ListDescription } from '../api/openapi/listing';
import { findRecord } from '../api/record';
import { idText } from '../base/json';
import { chunks } from '../base/lists';
import { onceFor } from '../base/maps';
import { idField } from '../fields/field';
import { foundIn, lookUp, maxIds, valuesPerRequest, wholeListIfShort, type IdentifiedRecord } from './lookUp';

/** Reads records by their ids: with one request for each if the service cannot filter by id. */
export async function recordsById(
	api: Connection,
	{ path, list, fields }: { path: Collection; list: ListDescription | undefined; fields: string[] },
	ids: string[],
	scopeQuery: Query = {},
): Promise<Map<string, IdentifiedRecord>> {
	const found = new Map<string, IdentifiedRecord>();
	const readAlone = async (id: string) => {
		const record = await findRecord(api, path + encodedPath`/${id}`);
		if (record && idText(record.id) === id) found.set(id, { ...record, id });
	};
	if (!list || valuesPerRequest(list, idField) <= 1) {
		await inParallel(ids, readAlone);
		return found;
	}
	const idSet = new Set(ids);
	const allRecords = await wholeListIfShort(api, { path, list, fields }, Math.ceil(idSet.size / maxIds), scopeQuery);
	for (const record of allRecords ?? []) if (idSet.has(record.id)) found.set(record.id, record);
	for (const chunk of allRecords ? [] : chunks(ids, maxIds * 10)) {
		const lookedUp = await lookUp({ api, path, list, filters: list.filters, fields }, idField, chunk, scopeQuery);
		const unclear: string[] = [];
		for (const id of chunk) {
			const result = lookedUp(id);
			if ('found' in result) found.set(id, result.found);
			else if (!('notFound' in result)) unclear.push(id);
		}
		await inParallel(unclear, readAlone);
	}
	return found;
}

const lookedUpIds = onceFor<Connection, Map<string, boolean | undefined>>(() => new Map());

/** Looks IDs up, a hundred a request. @returns whether records have them; undefined for IDs that cannot be looked up */
export async function lookUpIds(api: Connection, collection: Collection, ids: string[]): Promise<ReadonlyMap<string, boolean | undefined>> {
	const idExists = lookedUpIds(api, collection);
	const unreadIds = ids.filter((id) => !idExists.has(id));
	const list = unreadIds.length > 0 ? (await api.describe(collection))?.list : undefined;
	const recordList = list && { api, path: collection, list, filters: list.filters, fields: [] };
	const resultOf = recordList && (await lookUp(recordList, idField, unreadIds).catch(() => undefined));
	for (const id of unreadIds) {
		const result = resultOf?.(id);
		idExists.set(id, !result || 'failed' in result ? undefined : foundIn(result).length > 0);
	}
	return idExists;
}
