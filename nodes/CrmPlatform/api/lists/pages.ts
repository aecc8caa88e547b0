import type { IDataObject } from 'n8n-workflow';

import type { ListDescription } from '../openapi/listing';
import { endless, readPage, type Page, type Send } from './page';
import type { Query } from '../http/path';

/** One walk over a list. */
export interface PageWalk {
	/** Collection path with version prefix. */
	path: string;
	list: Pick<ListDescription, 'cursor' | 'pageSize'>;
	/** Filters, order and fields: the same for every page, as the cursor is bound to them. */
	query: Query;
	/** The maximum number of records; all if absent. */
	limit?: number;
	/** The cursor to continue from; the start of the list if absent. */
	cursor?: string;
	/** Called with each page before the next one is requested: whether the walk ends with it. */
	endsWith?: (page: Page) => boolean;
}

/** Consecutive pages without records: some services filter after paging, but not that much. */
const mostEmptyPages = 1_000;

/**
 * Yields the records of a list, page by page, until it ends or `limit` is reached. A page may be
 * empty and still have a next one. The next page is requested while a page is being handled.
 *
 * Each record comes once: one that moved on in the order of the list while it was read, or that a
 * page repeats from the one before, is left out the second time. Records without id always come.
 *
 * @throws Error in the user's words if a response is not a list, or if the service repeats a cursor,
 * repeats at least as many records as it gives new ones, or gives only empty pages: the walk would
 * never end
 */
export async function* readPages(send: Send, walk: PageWalk): AsyncGenerator<Page, void> {
	const { path, list, limit = Infinity, endsWith = () => false } = walk;
	const query = { ...walk.query, ...sizeOf(walk) };
	const cursors = new Set([walk.cursor]);
	const unseen = newRecordsOf(path);
	let left = limit;
	let emptyPages = 0;

	const request = (cursor: string | undefined) => {
		const page = readPage(send, path, { query, cursor: { name: list.cursor, value: cursor } });
		// A rejection is thrown in its turn; until then, Node.js must not report it as unhandled.
		page.catch(() => undefined);
		return page;
	};

	let coming = left > 0 ? request(walk.cursor) : undefined;
	while (coming) {
		const page: Page = await coming;
		page.records = unseen(page.records).slice(0, left);
		left -= page.records.length;
		emptyPages = page.records.length === 0 ? emptyPages + 1 : 0;
		const next = endsWith(page) || left <= 0 ? undefined : page.next;
		if (next !== undefined && (cursors.has(next) || emptyPages >= mostEmptyPages)) {
			throw new Error(endless(path));
		}
		cursors.add(next);
		coming = next === undefined ? undefined : request(next);
		yield page;
	}
}

/**
 * Leaves out the records of a page that were on an earlier one.
 *
 * @throws Error from the returned function, once there are as many repeated records as new ones
 */
function newRecordsOf(path: string): (records: IDataObject[]) => IDataObject[] {
	const ids = new Set<unknown>();
	let repeated = 0;
	let lastWithoutIds = '';
	return (records) => {
		const fresh = ids.size === 0 ? records : records.filter(({ id }) => id === undefined || !ids.has(id));
		for (const { id } of fresh) if (id !== undefined) ids.add(id);
		repeated += records.length - fresh.length;
		if (repeated > 0 && repeated >= ids.size) throw new Error(endless(path));

		const first = records[0];
		const withoutIds = first && first.id === undefined ? JSON.stringify(records) : '';
		if (withoutIds !== '' && withoutIds === lastWithoutIds) throw new Error(endless(path));
		lastWithoutIds = withoutIds;
		return fresh;
	};
}

/** The fewest pages of one size: some services bind the cursor to the size of the page. */
function sizeOf({ list, limit = Infinity }: PageWalk): Query {
	if (!list.pageSize || list.pageSize.maximum < 1) return {};
	const { name, maximum, sizes = [] } = list.pageSize;
	const size = limit === Infinity ? maximum : Math.ceil(limit / Math.ceil(limit / maximum));
	return { [name]: sizes.find((one) => one >= size) ?? size };
}
