import type { IDataObject } from 'n8n-workflow';

import { idText, isObject } from '../../base/json';
import { wholeNumber } from '../../base/numbers';
import { defined, withoutMembers } from '../../base/ownMembers';
import { wholePath, type Query } from '../http/path';
import type { ApiRequest, ApiResponse } from '../http/request';
import { ruleBroken } from '../http/rules';
import type { ListDescription } from '../openapi/listing';

export type Send = (request: ApiRequest) => Promise<ApiResponse>;

export interface Page {
	records: IDataObject[];
	/** The cursor of the next page; absent on the last page. */
	next?: string;
	/** Number of records in the whole list, if the service reports it. */
	total?: number;
	/** Whether the page was longer than the limit of the walk, beyond which records were left out. */
	isCut?: boolean;
}

type PagedList = Pick<ListDescription, 'cursor' | 'pageSize'>;

/**
 * Reads the envelope `{ data, next_cursor, total }`. @throws Error in the user's words if the response is not a list of
 * records, repeats the requested cursor, or does not say whether the list continues
 */
export async function readPage(send: Send, path: string, request: PageRequest): Promise<Page> {
	const page = await requestPage(send, path, request);
	const { records, next, total = 0 } = page;
	const isWhole = request.cursor === undefined && next === undefined;
	if (isWhole && total > records.length) throw incomplete(path, total, records.length);
	if (next !== undefined && next === request.cursor) throw endless(path);
	return page;
}

async function requestPage(send: Send, path: string, { list, query, cursor }: PageRequest): Promise<Page> {
	const { body } = await send({ method: 'GET', path, query: { ...query, [list.cursor]: cursor } });
	const data = isObject(body) ? body.data : undefined;
	// Checked but not copied: a copy of 100,000 records would double the memory.
	if (!isObject(body) || !Array.isArray(data) || !data.every(isObject)) {
		throw new Error(`The response from ${wholePath(path)} is not a list of records. Check that the base URL in the credential is the URL of the API.`);
	}
	if (data.some(({ id }) => idText(id) === undefined)) {
		throw ruleBroken(3, `id of a record of ${wholePath(path)}`, 'It is neither a text nor a whole number.');
	}
	if (body.error || (Array.isArray(body.errors) && body.errors.length > 0)) {
		throw wrongList(path, 'It comes with an error, so records may be missing.');
	}
	const { next_cursor: next } = body;
	const total = wholeNumber(body.total);
	const isNamed = typeof next === 'string' && next !== '';
	if (!isNamed && next !== null && (total === undefined || (next !== undefined && next !== ''))) {
		throw ruleBroken(4, `next_cursor of ${wholePath(path)}`, 'It is neither a text nor null, so the list may be longer.');
	}
	return defined({ records: data, next: isNamed ? next : undefined, total });
}

export interface PageWalk {
	path: string;
	list: PagedList;
	/** Filters, order and fields: the same for every page, as the cursor is bound to them. */
	query: Query;
	limit?: number;
	/** The cursor to continue from; the start of the list if absent. */
	cursor?: string | undefined;
	/** Whether records keep their places in the order of the list: then those added during the reading are left out. */
	isFixed?: boolean;
}

type PageRequest = Pick<PageWalk, 'list' | 'query' | 'cursor'>;

/** Maximum consecutive pages without records: some services filter after paging, but not that much. */
const maxEmptyPages = 1_000;
/** How often a list is read, at most, until nothing is missing. */
const maxReadings = 5;

/** Reads the pages of a list as `completePages` does. The next page is requested while the caller handles a page. */
export const readPages = (send: Send, walk: PageWalk): AsyncGenerator<Page, void> => readAhead(completePages(send, walk));

/** Reads the next element while the caller handles one. */
export async function* readAhead<T>(elements: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
	let arriving = elements.next();
	for (;;) {
		const { done, value } = await arriving;
		if (done) return;
		arriving = elements.next();
		// A rejection is thrown in its turn; until then, Node.js must not report it as unhandled.
		arriving.catch(() => undefined);
		yield value;
	}
}

/**
 * Yields the records of a list, page by page, until it ends or `limit` is reached. An empty page may have a next page.
 *
 * Each record is yielded once, although it may move within the list during the reading. A record that moves to a page
 * that was already read would be missing: if the list has more records than were read, it is read again, and what was
 * missing comes last.
 *
 * @throws Error in the user's words if a response is not a list, if the list stays incomplete, or if the walk would never
 * end: the service repeats a cursor, repeats at least as many records as it adds, or returns only empty pages
 */
export async function* completePages(send: Send, walk: PageWalk): AsyncGenerator<Page, void> {
	const { path, limit = Infinity } = walk;
	const progress: ReadingProgress = { ids: new Set(), totals: [] };
	let remaining = limit;
	for (let readings = 1; remaining > 0; readings += 1) {
		const [isAgain, readBefore] = [readings > 1, progress.ids.size];
		let pages = 0;
		for await (const page of isAgain ? furtherReading(send, walk, progress) : firstReading(send, walk, progress)) {
			pages += 1;
			const isCut = page.records.length > remaining;
			const records = page.records.slice(0, remaining);
			remaining -= records.length;
			yield { ...page, records, ...(isCut && { isCut }) };
			if (remaining <= 0) return;
		}
		const [size, expected] = [progress.ids.size, expectedSize(progress, walk)];
		if (size >= expected) return;
		if (isAgain ? size === readBefore : pages === 1) throw incomplete(path, expected, size);
		if (readings === maxReadings) throw changing(path);
	}
}

interface ReadingProgress {
	ids: Set<string>;
	/** The number of records in the list, as the pages said one after the other. */
	totals: number[];
}

/** Number of records that must be read; 0 if it is unknown. */
function expectedSize({ totals: [first = 0, ...others] }: ReadingProgress, { isFixed }: PageWalk): number {
	const last = others.at(-1) ?? first;
	return isFixed ? Math.min(first, last) : last;
}

async function* firstReading(send: Send, walk: PageWalk, progress: ReadingProgress): AsyncGenerator<Page, void> {
	for await (const [page, isNew] of pagesOfReading(send, walk, progress)) {
		yield { ...page, records: page.records.filter((_, i) => isNew[i]) };
	}
}

/** Reads a list again, until nothing is missing. */
async function* furtherReading(send: Send, walk: PageWalk, progress: ReadingProgress): AsyncGenerator<Page, void> {
	let cutOff: IDataObject[] | undefined;
	for await (const [page, isNew] of pagesOfReading(send, walk, progress)) {
		if (walk.isFixed) cutOff = cutOffAfter(cutOff, page.records, isNew);
		const isCompleted = progress.ids.size >= expectedSize(progress, walk);
		const records = walk.isFixed ? [] : page.records.filter((_, i) => isNew[i]);
		yield { ...(isCompleted ? withoutMembers(page, 'next') : page), records };
		if (isCompleted) break;
	}
	if (cutOff?.length) yield { records: cutOff };
}

/**
 * The records that an earlier reading lacks because it was cut off: those after all that it has. Between these are the
 * ones that were added meanwhile.
 *
 * @param before those of the pages so far; undefined as long as none had a record of the earlier reading
 */
function cutOffAfter(before: IDataObject[] | undefined, records: IDataObject[], isNew: boolean[]): IDataObject[] | undefined {
	const end = records.slice(isNew.lastIndexOf(false) + 1);
	return isNew.includes(false) ? end : before?.concat(end);
}

/** Follows the cursors of a list from its start, and notes the progress. @throws as completePages, if it would never end */
async function* pagesOfReading(send: Send, walk: PageWalk, { ids, totals }: ReadingProgress): AsyncGenerator<[page: Page, isNew: boolean[]], void> {
	const { path, list } = walk;
	const query = { ...walk.query, ...pageSizeOf(walk) };
	const cursors = new Set<string | undefined>();
	let [received, emptyPages] = [0, 0];
	let { cursor } = walk;
	do {
		cursors.add(cursor);
		const page = await requestPage(send, path, { list, query, cursor });
		const { records, next, total } = page;
		if (walk.cursor === undefined && total !== undefined) totals.push(total);
		const isNew = records.map(({ id }) => ids.size < ids.add(String(id)).size);
		received += records.length;
		emptyPages = records.length === 0 ? emptyPages + 1 : 0;
		const isRepeating = received > 0 && received >= 2 * ids.size;
		if (isRepeating || (next !== undefined && (cursors.has(next) || emptyPages >= maxEmptyPages))) throw endless(path);
		yield [page, isNew];
		cursor = next;
	} while (cursor !== undefined);
}

/** The minimum number of pages of one size: some services bind the cursor to the page size. */
function pageSizeOf({ list: { pageSize }, limit = Infinity }: PageWalk): Query {
	if (!pageSize) return {};
	const { name, maximum } = pageSize;
	return { [name]: limit === Infinity ? maximum : Math.ceil(limit / Math.ceil(limit / maximum)) };
}

const wrongList = (path: string, problem: string): Error => ruleBroken(20, `List ${wholePath(path)}`, problem);

const endless = (path: string): Error => wrongList(path, 'The CRM returned the same page twice, so the list would never end.');

const incomplete = (path: string, total: number, received: number): Error =>
	wrongList(path, `It has ${total} records, but the CRM returned only ${received}.`);

const changing = (path: string): Error =>
	new Error(
		`The list ${wholePath(path)} changes faster than it can be read completely. Sort it by the time of creation, or narrow it with filters.`,
	);
