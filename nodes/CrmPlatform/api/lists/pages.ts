import type { IDataObject } from 'n8n-workflow';

import { idText, isObject } from '../../base/json';
import { wholeNumber } from '../../base/numbers';
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
}

/** The parts of a list's description that reading its pages needs. */
type PagedList = Pick<ListDescription, 'cursor' | 'pageSize'>;

interface PageRequest {
	list: PagedList;
	query: Query;
	/** Where the page begins; at the start of the list if absent. */
	cursor?: string | undefined;
}

/**
 * Reads one page of a list: the envelope `{ data, next_cursor, total }`.
 *
 * @throws Error in the user's words if the response is not a list of records, repeats the requested cursor, or does not
 * say whether the list continues
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
		throw new Error(
			`The response from ${wholePath(path)} is not a list of records. Check that the base URL in the credential is the URL of the API.`,
		);
	}
	if (data.some(({ id }) => idText(id) === undefined)) throw ruleBroken(3, `id of a record of ${wholePath(path)}`, 'It is neither a text nor a whole number.');
	if (body.error || (Array.isArray(body.errors) && body.errors.length > 0)) throw ruleBroken(20, `List ${wholePath(path)}`, 'It comes with an error, so records may be missing.');
	const { next_cursor: next } = body;
	const total = wholeNumber(body.total);
	const isNamed = typeof next === 'string' && next !== '';
	if (!isNamed && next !== null && (total === undefined || (next !== undefined && next !== ''))) {
		throw ruleBroken(4, `next_cursor of ${wholePath(path)}`, 'It is neither a text nor null, so the list may be longer.');
	}
	return { records: data, ...(isNamed && { next }), ...(total !== undefined && { total }) };
}

export interface PageWalk {
	path: string;
	list: PagedList;
	/** Filters, order and fields: the same for every page, as the cursor is bound to them. */
	query: Query;
	limit?: number;
	/** The cursor to continue from; the start of the list if absent. */
	cursor?: string;
	/** Whether the walk ends with a page; called before the next page is requested. */
	endsWith?: (page: Page) => boolean;
	/** Whether records keep their places in the order of the list: then those added during the reading are left out. */
	isFixed?: boolean;
}

/** Maximum consecutive pages without records: some services filter after paging, but not that much. */
const maxEmptyPages = 1_000;
/** How often a list is read, at most, until nothing is missing. */
const maxReadings = 5;

/**
 * Yields the records of a list, page by page, until it ends or `limit` is reached. An empty page may have a next page.
 * The next page is requested while the caller handles a page.
 *
 * Each record is yielded once, although it may move within the list during the reading. A record that moves to a page
 * that was already read would be missing: if the list has more records than were read, it is read again, and what was
 * missing comes last.
 *
 * @throws Error in the user's words if a response is not a list, if the list stays incomplete, or if the walk would never
 * end: the service repeats a cursor, repeats at least as many records as it adds, or returns only empty pages
 */
export async function* readPages(send: Send, walk: PageWalk): AsyncGenerator<Page, void> {
	const { path, list, cursor: start, limit = Infinity, endsWith = () => false, isFixed = false } = walk;
	const query = { ...walk.query, ...sizeOf(walk) };
	const request = (cursor: string | undefined) => {
		const arriving = requestPage(send, path, { list, query, cursor });
		// A rejection is thrown in its turn; until then, Node.js must not report it as unhandled.
		arriving.catch(() => undefined);
		return arriving;
	};
	const ids = new Set<string>();
	let read = 0;
	let left = limit;
	let firstTotal: number | undefined;
	/** Number of records that must be read; 0 if that is unknown. */
	let expected = 0;
	for (let readings = 1; left > 0; readings += 1) {
		const isAgain = readings > 1;
		const readBefore = read;
		const check = progressCheck(path, start);
		let pages = 0;
		let cutOff: IDataObject[] | undefined;
		let isOver = false;
		let arriving: Promise<Page> | undefined = request(start);
		while (arriving) {
			const page: Page = await arriving;
			const { total } = page;
			check(page);
			pages += 1;
			firstTotal ??= total;
			const fresh = page.records.filter(({ id }) => isAdded(ids, id));
			read += fresh.length;
			if (start === undefined && total !== undefined) expected = isFixed ? Math.min(firstTotal ?? total, total) : total;
			if (isAgain && isFixed) {
				// After the records of the first reading: they were cut off. Among them: they were added meanwhile.
				const added = new Set(fresh);
				const lastKnown = page.records.findLastIndex((record) => !added.has(record));
				if (lastKnown !== -1) cutOff = [];
				if (cutOff) cutOff.push(...page.records.slice(lastKnown + 1));
			}
			page.records = isAgain && isFixed ? [] : fresh.slice(0, left);
			left -= page.records.length;
			// Nothing is missing any more.
			if (isAgain && read >= expected) delete page.next;
			isOver = endsWith(page) || left <= 0;
			arriving = isOver || page.next === undefined ? undefined : request(page.next);
			yield page;
		}
		if (cutOff?.length) yield { records: cutOff.slice(0, left) };
		if (isOver || read >= expected) return;
		const isStuck = pages === 1 || (isAgain && read === readBefore);
		if (isStuck) throw incomplete(path, expected, read);
		if (readings === maxReadings) throw new Error(changing(path));
	}
}

/** Adds an id to a set. @returns whether it is new */
function isAdded(ids: Set<string>, id: unknown): boolean {
	const { size } = ids;
	return ids.add(String(id)).size > size;
}

/** Checks the pages of a reading of a list from its start. @throws Error in the user's words if the list would never end */
function progressCheck(path: string, start: string | undefined): (page: Page) => void {
	const cursors = new Set([start]);
	const ids = new Set<string>();
	let repeated = 0;
	let emptyPages = 0;
	return ({ records, next }) => {
		repeated += records.filter(({ id }) => !isAdded(ids, id)).length;
		emptyPages = records.length === 0 ? emptyPages + 1 : 0;
		const isCircle = next !== undefined && (cursors.has(next) || emptyPages >= maxEmptyPages);
		if (isCircle || (repeated > 0 && repeated >= ids.size)) throw endless(path);
		cursors.add(next);
	};
}

/** The minimum number of pages of one size: some services bind the cursor to the page size. */
function sizeOf({ list: { pageSize }, limit = Infinity }: PageWalk): Query {
	if (!pageSize) return {};
	const { name, maximum } = pageSize;
	return { [name]: limit === Infinity ? maximum : Math.ceil(limit / Math.ceil(limit / maximum)) };
}

const endless = (path: string): Error =>
	ruleBroken(20, `List ${wholePath(path)}`, 'The CRM returned the same page twice, so the list would never end.');

const incomplete = (path: string, total: number, received: number): Error =>
	ruleBroken(20, `List ${wholePath(path)}`, `It has ${total} records, but the CRM returned only ${received}.`);

const changing = (path: string): string =>
	`The list ${wholePath(path)} changes faster than it can be read completely. Sort it by the time of creation, or narrow it with filters.`;
