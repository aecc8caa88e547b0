import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { AccountKey } from '../../core/store/credentials/account-key.ts';
import { type Cell, cellOf } from '../../core/store/records/columns.ts';
import type { TableView } from '../../core/store/sight/visible-table.ts';
import { encodeCursor } from './cursor.ts';
import type { ListQuery } from './list-query.ts';
import { readSeen } from './read-seen.ts';

/** A page of a list; `data` is the JSON of each record. */
export interface ListPage {
	data: string[];
	cursor: string | null;
	total: number;
}

/**
 * Reads one page.
 *
 * @param tableNow the table as the caller sees it at this moment
 * @param key signs the cursor
 */
export async function listPage(tableNow: () => TableView, query: ListQuery, key: AccountKey): Promise<ListPage> {
	const { documents, hasMore, total } = await readSeen(tableNow, (table) => table.list(query));
	const last = hasMore ? documents.at(-1) : undefined;
	const data = documents.map((document) => listedRecord(document, query));
	const cursor = last && encodeCursor(key, keysetPosition(last, tableNow(), query), query.fingerprint);
	return { data, cursor: cursor ?? null, total };
}

/** The JSON of a record in a list. Complete records are stored in the form in which they are sent. */
export const listedRecord = (document: string, { fields }: ListQuery): string =>
	fields ? JSON.stringify(pickFields(parseDocument(document), fields)) : document;

/** Reduces a record to the requested fields, id and object. */
export function pickFields(record: StoredRecord, fields: string[] | undefined) {
	if (!fields) return record;
	const names = new Set(['id', 'object', ...fields]);
	return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

/** The values of the sort columns of a record; the next page starts after them. */
function keysetPosition(document: string, table: TableView, query: ListQuery): Cell[] {
	const record = parseDocument(document);
	return query.order.map(({ column }) =>
		column === 'id'
			? record.id
			: cellOf(table.columns.find(({ name }) => name === column)!, record),
	);
}

const parseDocument = (document: string): StoredRecord => JSON.parse(document) as StoredRecord;
