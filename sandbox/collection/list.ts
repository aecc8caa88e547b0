import type { StoredRecord } from '../schemas/resource.ts';
import { cellOf } from '../store/columns.ts';
import type { Table } from '../store/table.ts';
import { encodeCursor } from './cursor.ts';
import type { ListQuery } from './list-query.ts';

/** One page: the list envelope, as JSON. */
export async function listPage(table: Table, query: ListQuery): Promise<string> {
	// One more than asked for shows whether there is a next page.
	const { documents, total } = await table.list({ ...query, limit: query.limit + 1 });
	const page = documents.slice(0, query.limit);
	const last = documents.length > query.limit ? page.at(-1) : undefined;
	// Records are kept as they are answered, so that a whole page need not be parsed.
	const data = query.fields
		? page.map((document) => JSON.stringify(onlyFields(parse(document), query.fields)))
		: page;
	const cursor = last && encodeCursor(orderValues(table, query, parse(last)), query.fingerprint);
	const next = JSON.stringify(cursor ?? null);
	return `{"data":[${data.join()}],"next_cursor":${next},"total":${total}}`;
}

/** The record with the fields asked for; id and object are always there. */
export function onlyFields(record: StoredRecord, fields: string[] | undefined) {
	if (!fields) return record;
	const names = new Set(['id', 'object', ...fields]);
	return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}

const orderValues = (table: Table, query: ListQuery, record: StoredRecord) =>
	query.order.map(({ column }) =>
		column === 'id'
			? record.id
			: cellOf(table.columns.find(({ name }) => name === column)!, record[column]),
	);

const parse = (document: string): StoredRecord => JSON.parse(document) as StoredRecord;
