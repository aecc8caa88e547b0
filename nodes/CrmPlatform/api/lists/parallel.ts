import type { IDataObject } from 'n8n-workflow';

import { ruleBroken } from '../http/rules';
import type { ListDescription } from '../openapi/listing';
import { completePages, readAhead, readPages, type Send } from './pages';
import { divideRest, isWithin, spanQuery, timelineOf, type Span, type SpanPart, type Timeline } from './timeline';
import { wholePath, type Query } from '../http/path';

/** A list that is read to its end. */
interface WholeList {
	path: string;
	list: ListDescription;
	/** Filters, order and fields. */
	query: Query;
	/** The maximum number of concurrent cursors. */
	cursors: number;
}

/** Minimum number of pages to divide: each part costs an extra page, which is not full. */
const minPages = 4;

/**
 * Reads all records of a list, in its order. It starts with one cursor; whenever others are free and much is left to
 * read, the rest is divided among them by creation time. If the parts have fewer records than the list had at first
 * (some were deleted, or have no creation time), the list is read again with one cursor.
 *
 * @param handle maps each record as it arrives
 * @throws Error in the user's words as readPages does, and if the service ignores the times in the requests
 */
export async function readAll<Item>(send: Send, wholeList: WholeList, handle: (record: IDataObject) => Item): Promise<Item[]> {
	const timeline = timelineOf(wholeList);
	const records = timeline && wholeList.cursors > 1 && (await readDivided(send, wholeList, timeline, handle));
	if (records) return records;

	const { path, list, query } = wholeList;
	const all: Item[] = [];
	for await (const page of readPages(send, { path, list, query, isFixed: timeline !== undefined })) {
		for (const record of page.records) all.push(handle(record));
	}
	return all;
}

/** What the cursors of a list share. */
interface DividedReading<Item> extends WholeList {
	send: Send;
	timeline: Timeline;
	handle: (record: IDataObject) => Item;
	/** When it began (Unix epoch milliseconds): no records are expected after that. */
	now: number;
	/** The number of cursors that could read, too. */
	free: number;
	/** The number of records before the first division. */
	expected: number;
	/** Set when one cursor has failed: the others then stop after their page. */
	isOver: boolean;
}

/** Reads a list with several cursors. @returns undefined if the parts have fewer records than the whole list */
async function readDivided<Item>(
	send: Send,
	wholeList: WholeList,
	timeline: Timeline,
	handle: (record: IDataObject) => Item,
): Promise<Item[] | undefined> {
	const { query, cursors } = wholeList;
	const [from, before] = [query[timeline.from], query[timeline.before]].map((time) => time && Date.parse(String(time)));
	const reading = { ...wholeList, send, timeline, handle, now: Date.now(), free: cursors - 1, expected: 0, isOver: false };
	const span = { from: Number(from ?? -Infinity), before: Number(before ?? Infinity) };
	const items = await readSpan(reading, span).finally(() => (reading.isOver = true));
	return items.length < reading.expected ? undefined : items;
}

/** Reads a span: its pages until it is divided, then all parts of the rest at once. */
async function readSpan<Item>(reading: DividedReading<Item>, span: Span): Promise<Item[]> {
	const all: Item[] = [];
	for await (const { records, rest } of readAhead(pagesUntilDivided(reading, span))) {
		for (const record of records) all.push(reading.handle(record));
		if (rest.length > 0 && !reading.isOver) {
			return all.concat(...(await Promise.all(rest.map(async (part) => await readSpan(reading, part)))));
		}
	}
	reading.free += 1;
	return all;
}

/** Reads the pages of a span, until the free cursors can read the rest of it, too. */
async function* pagesUntilDivided<Item>(reading: DividedReading<Item>, span: Span): AsyncGenerator<SpanPart, void> {
	const { send, path, list, timeline, now } = reading;
	const query = { ...reading.query, ...spanQuery(span, timeline) };
	let count = 0;
	for await (const { records, total = 0 } of completePages(send, { path, list, query, isFixed: true })) {
		if (!isWithin(records, span, timeline)) throw ruleBroken(11, `List ${wholePath(path)}`, outside);
		count += records.length;
		const remaining = total - count;
		const isWorthIt = !reading.isOver && reading.free > 0 && remaining >= minPages * (list.pageSize?.maximum ?? Infinity);
		const division = isWorthIt ? divideRest(records, span, timeline, { remaining, parts: 1 + reading.free, now }) : undefined;
		if (division) {
			reading.free = 0;
			reading.expected ||= total;
		}
		yield division ?? { records, rest: [] };
		if (reading.isOver || division) return;
	}
}

const outside = 'The CRM returned records that were created outside the requested times.';
