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
export async function readAll<Item>(
	send: Send,
	wholeList: WholeList,
	handle: (record: IDataObject) => Item,
): Promise<Item[]> {
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

/** Reads a list with several cursors. @returns undefined if the parts have fewer records than the whole list */
async function readDivided<Item>(
	send: Send,
	{ path, list, query, cursors }: WholeList,
	timeline: Timeline,
	handle: (record: IDataObject) => Item,
): Promise<Item[] | undefined> {
	const now = Date.now();
	/** The number of cursors that could read, too. */
	let free = cursors - 1;
	/** The number of records before the first division. */
	let expected = 0;
	/** Set when one cursor has failed: the others then stop after their page. */
	let isOver = false;

	const [from, before] = [query[timeline.from], query[timeline.before]].map((time) => time && Date.parse(String(time)));
	const items = await readSpan({ from: Number(from ?? -Infinity), before: Number(before ?? Infinity) }).finally(() => (isOver = true));
	return items.length < expected ? undefined : items;

	/** Reads a span: its pages until it is divided, then all parts of the rest at once. */
	async function readSpan(span: Span): Promise<Item[]> {
		const all: Item[] = [];
		for await (const { records, rest } of readAhead(pagesUntilDivided(span))) {
			for (const record of records) all.push(handle(record));
			if (rest.length > 0 && !isOver) return all.concat(...(await Promise.all(rest.map(readSpan))));
		}
		free += 1;
		return all;
	}

	/** Reads the pages of a span, until the free cursors can read the rest of it, too. */
	async function* pagesUntilDivided(span: Span): AsyncGenerator<SpanPart, void> {
		let count = 0;
		const narrowed = { ...query, ...spanQuery(span, timeline) };
		for await (const { records, total = 0 } of completePages(send, { path, list, query: narrowed, isFixed: true })) {
			if (!isWithin(records, span, timeline)) throw ruleBroken(11, `List ${wholePath(path)}`, outside);
			count += records.length;
			const left = total - count;
			const isWorthIt = !isOver && free > 0 && left >= minPages * (list.pageSize?.maximum ?? Infinity);
			const division = isWorthIt ? divideRest(records, span, timeline, { left, parts: 1 + free, now }) : undefined;
			if (division) {
				free = 0;
				expected ||= total;
			}
			yield division ?? { records, rest: [] };
			if (isOver || division) return;
		}
	}
}

const outside = 'The CRM returned records that were created outside the requested times.';
