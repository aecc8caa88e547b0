import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../../base/json';
import type { Query } from '../http/path';
import type { ApiRequest, ApiResponse } from '../http/request';
import type { ListDescription } from '../openapi/listing';
import { endingOf, type Ending, type ReadSoFar } from './ending';
import { readContinuation } from './continuation';

/** Sends a request and returns the successful response. */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

/** One page of a list. */
export interface Page {
	records: IDataObject[];
	/** The cursor of the next page; absent on the last page. */
	next?: string;
	/** Number of records in the whole list, if the service reports it. */
	total?: number;
}

/** The parts of a list's description that reading its pages needs. */
export type PagedList = Pick<ListDescription, 'cursor' | 'next' | 'ambiguousNext' | 'fixed' | 'pageSize' | 'takesCursor'>;

interface PageRequest {
	list: PagedList;
	query: Query;
	/** Where the page begins; at the start of the list if absent. */
	cursor?: string | undefined;
}

/** The earlier pages of a walk. */
interface Walked {
	/** Records of earlier pages; undefined if the walk began in the middle. */
	read: number | undefined;
	/** The total of the first and of the last page, and the sum of the changes in between. */
	firstTotal?: number | undefined;
	lastTotal?: number | undefined;
	changes: number;
	hadCursor: boolean;
	/** The largest page so far. */
	largestPageSize: number;
	/** Whether the page at this cursor was read. */
	isRead(cursor: string): boolean;
}

/** A page before the decision whether the list continues. */
export interface ArrivedPage {
	/** `next` is absent. */
	page: Page;
	/** @param fresh number of records that were not on the pages walked before */
	endingAfter(walked: Walked, fresh: number): Ending;
}

/** @param isRead whether a page at a cursor was read */
export const beginningAt = (cursor: string | undefined, isRead = (other: string) => other === cursor): Walked => ({
	read: cursor === undefined ? 0 : undefined,
	changes: 0,
	hadCursor: cursor !== undefined,
	largestPageSize: 0,
	isRead,
});

// Lists that are known to name each next page, so a page without a cursor is the last one.
const leavingCursorOut = new WeakSet<PagedList>();

/**
 * Requests one page of a list. Whether the list continues is decided later (`endingAfter`).
 *
 * @param path collection path with version prefix
 * @throws Error in the user's words if the response is not a list of records
 */
export async function requestPage(send: Send, path: string, request: PageRequest): Promise<ArrivedPage> {
	const { list, query, cursor } = request;
	const fixed = (cursor !== undefined && list.fixed) || {};
	const isOther = ([name, value]: [string, unknown]) => query[name] !== undefined && String(query[name]) !== String(value);
	if (Object.entries(fixed).some(isOther)) throw new Error(unclear(path, 'a link of its API description'));
	const { status, body, headers } = await send({ method: 'GET', path, query: { ...query, ...fixed, [list.cursor]: cursor } });
	const data = isObject(body) ? body.data : undefined;
	// Checked but not copied: a copy of 100,000 records would double the memory.
	if (!isObject(body) || !Array.isArray(data) || !data.every(isObject)) {
		throw new Error(
			`The response from ${path} is not a list of records. Check that the base URL in the credential is the URL of the API.`,
		);
	}
	const received = data.length;
	const { total } = readContinuation({ status, body, headers }, list, 0);
	const endingAfter = ({ read: before, isRead, ...walked }: Walked, fresh: number): Ending => {
		const read = before === undefined ? undefined : before + fresh;
		const continuation = readContinuation({ status, body, headers }, list, read ?? Infinity);
		const requestedSize = list.pageSize && query[list.pageSize.name];
		const soFar: ReadSoFar = {
			received,
			read,
			firstTotal: walked.firstTotal,
			changes: walked.changes + changeOf(walked.lastTotal, total),
			largestPageSize: walked.largestPageSize,
			hadCursor: walked.hadCursor,
			isFirst: cursor === undefined,
			isFull: received > 0 && received >= (walked.largestPageSize || Number(requestedSize ?? 1)),
			isRepeated: typeof continuation.cursor === 'string' && isRead(continuation.cursor),
			isPaged: list.takesCursor === true || list.pageSize !== undefined || walked.hadCursor,
			canBeSmaller: smallerSize(request, received) !== undefined,
			leavesCursorOut: leavingCursorOut.has(list),
		};
		return endingOf(continuation, soFar);
	};
	return { page: { records: data, ...(total !== undefined && { total }) }, endingAfter };
}

/** The absolute difference of two totals. */
export const changeOf = (from: number | undefined, to: number | undefined): number =>
	from === undefined || to === undefined ? 0 : Math.abs(to - from);

/** A page size below the number of records received; undefined if the list does not support one. */
function smallerSize({ list: { pageSize } }: PageRequest, received: number): number | undefined {
	if (!pageSize || received < 2) return undefined;
	const { sizes } = pageSize;
	return sizes ? sizes.findLast((size) => size < received) : received - 1;
}

/**
 * The cursor of the next page; undefined if the list ends.
 *
 * @throws Error in the user's words if the list would never end, or its end is unclear
 */
export async function nextOf(
	send: Send,
	path: string,
	request: PageRequest,
	ending: Ending,
	{ page: { records, total } }: ArrivedPage,
): Promise<string | undefined> {
	if (ending === 'end') return undefined;
	if (ending === 'endless') throw new Error(endless(path));
	if (ending !== 'ask') {
		if ('next' in ending) return ending.next;
		if (ending.unclear === 'total') throw new Error(cutOff(path, total, ending.read));
		throw new Error(unclear(path, ending.unclear));
	}
	const { list, query } = request;
	const size = smallerSize(request, records.length);
	const smaller = { ...request, query: { ...query, ...(list.pageSize && { [list.pageSize.name]: size }) } };
	const smallerPage = await requestPage(send, path, smaller);
	const found = smallerPage.endingAfter(beginningAt(request.cursor), smallerPage.page.records.length);
	if (typeof found !== 'object' || !('next' in found)) throw new Error(unclear(path, 'next_cursor'));
	leavingCursorOut.add(list);
	return undefined;
}

/**
 * Reads one page of a list, with the cursor of the next one.
 *
 * @param path collection path with version prefix
 * @throws Error in the user's words if the response is not a list of records, repeats the requested cursor, or does not
 * say whether and where the list continues
 */
export async function readPage(send: Send, path: string, request: PageRequest): Promise<Page> {
	const arrived = await requestPage(send, path, request);
	const ending = arrived.endingAfter(beginningAt(request.cursor), arrived.page.records.length);
	const next = await nextOf(send, path, request, ending, arrived);
	return next === undefined ? arrived.page : { ...arrived.page, next };
}

/** The error message for a list that would never end. */
export const endless = (path: string) =>
	`The CRM returned the same page of ${path} twice, so the list would never end. The workflow is not the cause: please report this to the CRM’s support.`;

const cutOff = (path: string, total: number | undefined, received: number | undefined) =>
	`The list ${path} has ${total} records, but the CRM returned only ${received} and no next_cursor for the rest. The list cannot be read completely. The workflow is not the cause: please report this to the CRM’s support.`;

const unclear = (path: string, member: string) =>
	member === 'next_cursor'
		? `The CRM returned a page of ${path} without a next_cursor, and its API description does not say where the next page begins, so the list may be longer. Please report this to the CRM’s support.`
		: `The CRM indicates (${member}) that the list ${path} has more records, but its API description does not say how to read them, so the list would be incomplete. Please report this to the CRM’s support.`;
