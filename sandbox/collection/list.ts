import type { StoredRecord } from '../schemas/resource.ts';
import type { AccountKey } from '../store/account-key.ts';
import { type Cell, cellOf } from '../store/columns.ts';
import type { Table } from '../store/table.ts';
import { encodeCursor } from './cursor.ts';
import type { ListQuery } from './list-query.ts';

/**
 * One page: the list envelope, as JSON.
 *
 * @param key signs the cursor
 */
export async function listPage(table: Table, query: ListQuery, key: AccountKey): Promise<string> {
	// One more than asked for shows whether there is a next page.
	const { documents, total } = await table.list({ ...query, limit: query.limit + 1 });
	const page = documents.slice(0, query.limit);
	const last = documents.length > query.limit ? page.at(-1) : undefined;
	const data = page.map((document) => answered(document, query));
	const cursor = last && encodeCursor(key, placeOf(last, table, query), query.fingerprint);
	const next = JSON.stringify(cursor ?? null);
	return `{"data":[${data.join()}],"next_cursor":${next},"total":${total}}`;
}

/** A record as JSON, as the list answers it. Whole records are kept as they are answered. */
export const answered = (document: string, { fields }: ListQuery): string =>
	fields ? JSON.stringify(onlyFields(parse(document), fields)) : document;

/** The record with the fields asked for; id and object are always there. */
export function onlyFields(record: StoredRecord, fields: string[] | undefined) {
	if (!fields) return record;
	const names = new Set(['id', 'object', ...fields]);
	return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

/** Where a record stands in the list: what comes next is after these values of its order. */
export function placeOf(document: string, table: Table, query: ListQuery): Cell[] {
	const record = parse(document);
	return query.order.map(({ column }) =>
		column === 'id'
			? record.id
			: cellOf(table.columns.find(({ name }) => name === column)!, record[column]),
	);
}

const parse = (document: string): StoredRecord => JSON.parse(document) as StoredRecord;
