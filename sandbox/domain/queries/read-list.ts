import { inTurns } from '../../core/foundation/background.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { AccountKey } from '../../core/store/credentials/account-key.ts';
import type { TableView } from '../../core/store/visibility/visible-table.ts';
import { encodeCursor } from './cursor.ts';
import type { ListQuery } from './list-query.ts';
import { readVisible } from './read-visible.ts';

/** A page of a list; `data` is the JSON of each record. */
interface ListPage {
	data: string[];
	cursor: string | null;
	total: number;
}

/**
 * Reads one page.
 *
 * @param tableNow the table as the caller currently sees it
 * @param key signs the cursor
 */
export async function listPage(tableNow: () => TableView, query: ListQuery, key: AccountKey): Promise<ListPage> {
	const { documents, end, total } = await readVisible(tableNow, (table) => table.list(query));
	const data = query.fields ? await inTurns(documents, (document) => listedRecord(document, query)) : documents;
	return { data, cursor: end ? encodeCursor(key, end, query.fingerprint) : null, total };
}

/** The JSON of a record in a list. Complete records are stored in the form in which they are sent. */
export const listedRecord = (document: string, { fields }: ListQuery): string =>
	fields ? JSON.stringify(pickFields(JSON.parse(document) as StoredRecord, fields)) : document;

/** Reduces a record to the requested fields, id and object. */
export function pickFields(record: StoredRecord, fields: string[] | undefined) {
	if (!fields) return record;
	const names = new Set(['id', 'object', ...fields]);
	return Object.fromEntries(Object.entries(record).filter(([name]) => names.has(name)));
}
