import { oncePerConnection, type Connection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { readPages, type Page } from '../api/lists/pages';
import { externalId, sourceId } from '../fields/field';
import { lookUp, withFields, type RecordList } from './lookUp';

/** Lists the records that came from another system. Undefined if the CRM cannot filter them so. */
export function pagesOfSource(
	{ api, path, list, fields }: Omit<RecordList, 'filters'>,
	source: string,
	limit = Infinity,
): AsyncIterable<Page> | undefined {
	const filter = `${externalId.name}[starts_with]`;
	if (!list.filters.some(({ name }) => name === filter)) return undefined;
	return readPages(api.send, { path, list, query: withFields(list, { [filter]: `${source}:` }, fields), limit });
}

/** The records of a collection that came from another system, as far as they were looked up. */
interface SourceRecords {
	recordList: RecordList;
	source: string;
	/** Their IDs by their external IDs; undefined for one that no record has. */
	found: Map<string, string | undefined>;
	requestedIds: number;
	isWhole: boolean;
}

const sourceRecords = oncePerConnection(async (api, collection: Collection, source: string): Promise<SourceRecords | undefined> => {
	const list = (await api.describe(collection))?.list;
	if (!list?.filters.some(({ name }) => name === externalId.name)) return undefined;
	const recordList = { api, path: collection, list, filters: list.filters, fields: [externalId.name] };
	return { recordList, source, found: new Map(), requestedIds: 0, isWhole: false };
});

/** Whether records came from another system; undefined if the CRM does not find records by their external IDs. */
export const hasRecordsOf = oncePerConnection(async (api, collection: Collection, source: string): Promise<boolean | undefined> => {
	const records = await sourceRecords(api, collection, source);
	if (!records) return undefined;
	for await (const { records: page } of pagesOfSource(records.recordList, source, 1) ?? []) return page.length > 0;
	return true;
});

/** Forgets both: since they were read, the rows of a file have become records. */
export function forgetRecordsOf(api: Connection, collection: Collection, source: string): void {
	for (const read of [sourceRecords, hasRecordsOf]) read.forget(api, collection, source);
}

/**
 * Finds the records of a collection by their IDs in another system.
 *
 * @returns the IDs in the CRM by those in the other system, which may belong to none; undefined if the CRM does not find them so
 */
export async function idsInCrm(api: Connection, collection: Collection, source: string, ids: string[]): Promise<Map<string, string> | undefined> {
	const records = await sourceRecords(api, collection, source);
	if (!records) return undefined;
	const { recordList, found } = records;
	const unreadIds = ids.map((id) => sourceId(source, id)).filter((id) => !found.has(id));
	if (unreadIds.length > 0 && !records.isWhole) {
		records.requestedIds += unreadIds.length;
		records.isWhole = records.requestedIds > 1 && (await readAllOfSource(records));
		const resultOf = records.isWhole ? undefined : await lookUp(recordList, externalId, unreadIds);
		for (const id of unreadIds) {
			const result = resultOf?.(id);
			if (result) found.set(id, 'found' in result ? result.found.id : undefined);
		}
	}
	return new Map(ids.flatMap((id): Array<[string, string]> => {
		const idInCrm = found.get(sourceId(source, id));
		return idInCrm === undefined ? [] : [[id, idInCrm]];
	}));
}

/** @returns whether all records of the other system were read: not if that takes more requests than the IDs requested so far */
async function readAllOfSource({ recordList, source, found, requestedIds }: SourceRecords): Promise<boolean> {
	const pages = pagesOfSource(recordList, source);
	if (!pages) return false;
	for await (const { records, total = Infinity } of pages) {
		if (total > requestedIds * records.length && total > records.length) return false;
		for (const { id, external_id: external } of records) found.set(String(external), String(id));
	}
	return true;
}
