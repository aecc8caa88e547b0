import type { IDataObject } from 'n8n-workflow';

import type { Ending } from './ending';
import { beginningAt, changeOf, endless, nextOf, requestPage, type ArrivedPage, type Page, type PagedList, type Send } from './page';
import type { Query } from '../http/path';
import { idText } from '../../base/json';

/** One walk over a list. */
export interface PageWalk {
	/** Collection path with version prefix. */
	path: string;
	list: PagedList;
	/** Filters, order and fields: the same for every page, as the cursor is bound to them. */
	query: Query;
	/** The maximum number of records; all if absent. */
	limit?: number;
	/** The cursor to continue from; the start of the list if absent. */
	cursor?: string;
	/** Whether the walk ends with a page; called before the next page is requested. */
	endsWith?: (page: Page) => boolean;
}

/** Maximum consecutive pages without records: some services filter after paging, but not that much. */
const maxEmptyPages = 1_000;

/**
 * Yields the records of a list, page by page, until it ends or `limit` is reached. An empty page may have a next page.
 * The next page is requested while the caller handles a page.
 *
 * Each record is yielded once: a record that moves within the list during the reading, or that a page repeats, is
 * skipped the second time. Records without an id are always yielded.
 *
 * @throws Error in the user's words if a response is not a list, if it is unclear whether the list ends, or if the walk
 * would never end: the service repeats a cursor, repeats at least as many records as it adds, or returns only empty pages
 */
export async function* readPages(send: Send, walk: PageWalk): AsyncGenerator<Page, void> {
	const { path, list, limit = Infinity, endsWith = () => false } = walk;
	const query = { ...walk.query, ...sizeOf(walk) };
	const cursors = new Set([walk.cursor]);
	const unseen = newRecordsOf(path);
	const walked = beginningAt(walk.cursor, (cursor) => cursors.has(cursor));
	let left = limit;
	let emptyPages = 0;

	const request = (cursor: string | undefined) => {
		const arriving = requestPage(send, path, { list, query, cursor });
		// A rejection is thrown in its turn; until then, Node.js must not report it as unhandled.
		arriving.catch(() => undefined);
		return { cursor, arriving };
	};

	let requested = left > 0 ? request(walk.cursor) : undefined;
	while (requested) {
		const { cursor } = requested;
		const arrived: ArrivedPage = await requested.arriving;
		const { page } = arrived;
		const received = page.records.length;
		const fresh = unseen(page.records);
		const ending = arrived.endingAfter(walked, fresh.length);
		page.records = fresh.slice(0, left);
		left -= page.records.length;
		emptyPages = page.records.length === 0 ? emptyPages + 1 : 0;
		const isOver = endsWith(page) || left <= 0;
		const next = isOver
			? nextIfAny(ending)
			: await nextOf(send, path, { list, query, cursor }, ending, { ...arrived, page: { ...page, records: fresh } });
		if (!isOver && next !== undefined && emptyPages >= maxEmptyPages) throw new Error(endless(path));
		cursors.add(next);
		if (walked.read !== undefined) walked.read += fresh.length;
		walked.firstTotal ??= page.total;
		walked.changes += changeOf(walked.lastTotal, page.total);
		walked.lastTotal = page.total;
		walked.largestPageSize = Math.max(walked.largestPageSize, received);
		walked.hadCursor ||= next !== undefined;
		if (next !== undefined) page.next = next;
		requested = isOver || next === undefined ? undefined : request(next);
		yield page;
	}
}

/** The cursor after the last page of a walk; `unknown` if it is unclear whether there is one. */
function nextIfAny(ending: Ending): string | undefined {
	if (ending === 'end') return undefined;
	return typeof ending === 'object' && 'next' in ending ? ending.next : 'unknown';
}

/**
 * Returns a function that leaves out the records of a page that were on an earlier page.
 *
 * @throws Error from the returned function, once there are as many repeated records as new ones
 */
function newRecordsOf(path: string): (records: IDataObject[]) => IDataObject[] {
	const ids = new Set<unknown>();
	let repeated = 0;
	let lastWithoutIds = '';
	return (records) => {
		const fresh = ids.size === 0 ? records : records.filter(({ id }) => !hasId(id) || !ids.has(id));
		for (const { id } of fresh) if (hasId(id)) ids.add(id);
		repeated += records.length - fresh.length;
		if (repeated > 0 && repeated >= ids.size) throw new Error(endless(path));

		const first = records[0];
		const withoutIds = first && !hasId(first.id) ? JSON.stringify(records) : '';
		if (withoutIds !== '' && withoutIds === lastWithoutIds) throw new Error(endless(path));
		lastWithoutIds = withoutIds;
		return fresh;
	};
}

const hasId = (id: unknown): boolean => idText(id) !== undefined;

/** The minimum number of pages of one size: some services bind the cursor to the page size. */
function sizeOf({ list, limit = Infinity }: PageWalk): Query {
	if (!list.pageSize || list.pageSize.maximum < 1) return {};
	const { name, maximum, sizes = [] } = list.pageSize;
	const size = limit === Infinity ? maximum : Math.ceil(limit / Math.ceil(limit / maximum));
	return { [name]: sizes.find((allowedSize) => allowedSize >= size) ?? size };
}
