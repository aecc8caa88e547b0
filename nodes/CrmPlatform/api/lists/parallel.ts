import type { IDataObject } from 'n8n-workflow';

import { wholePath, type Query } from '../http/path';
import { ruleBroken } from '../http/rules';
import type { ListDescription } from '../openapi/listing';
import { completePages, readAhead, readPages, type Send } from './pages';

/** The order of a list in time, by the field with a record's creation time, and the parameters for a span. */
type Timeline = NonNullable<ListDescription['created']> & { isForward: boolean };

/** The order of a list in time, if several cursors can read it: the list is in order of creation and can be limited to a span. */
export function timelineOf({ list, query }: { list: ListDescription; query: Query }): Timeline | undefined {
	const { created, sort } = list;
	if (!created) return undefined;
	const bounds = [query[created.from], query[created.before]].filter((time) => time !== undefined);
	if (bounds.some((time) => Number.isNaN(Date.parse(String(time))))) return undefined;

	const order = String((sort && query[sort.name]) ?? sort?.default);
	const [first] = order.split(',');
	const isForward = first === created.field;
	return isForward || first === `-${created.field}` ? { ...created, isForward } : undefined;
}

/** A span of time, in Unix epoch milliseconds, from the first instant to the one after the last; open ends are infinite. */
interface Span {
	from: number;
	before: number;
}

const spanQuery = ({ from, before }: Span, parameters: Timeline): Query => ({
	...(from > -Infinity && { [parameters.from]: new Date(from).toISOString() }),
	...(before < Infinity && { [parameters.before]: new Date(before).toISOString() }),
});

/** Records of a page of a span, and the spans that others read instead of the rest, in the order of the list. */
interface SpanPart {
	records: IDataObject[];
	rest: Span[];
}

/**
 * Divides the rest of a span after a page, so that several cursors can read it.
 *
 * The page is cut at the millisecond of its last record: more records of that millisecond may follow, so all of them
 * belong to the rest. Each record is then in exactly one part, whatever is written meanwhile, since its creation time
 * never changes.
 *
 * The spans have equal lengths. Together they cover what the rest would need at the density of the page. If that
 * estimate is wrong, the last span, which extends to the end, has more or fewer records.
 *
 * @param remaining number of records after the page
 * @param now Unix epoch milliseconds, after which no records are expected
 * @returns undefined if the times are all equal or not in order
 */
function divideRest(
	records: IDataObject[],
	span: Span,
	{ field, isForward }: Timeline,
	{ remaining, parts, now }: { remaining: number; parts: number; now: number },
): SpanPart | undefined {
	const times = records.map((record) => timeOf(record, field));
	const first = times[0] ?? 0;
	const last = times.at(-1) ?? 0;
	// An unreadable time is NaN, which compares false.
	const isOrdered = times.every((time, i) => {
		const earlier = times[i - 1] ?? first;
		return isForward ? earlier <= time : earlier >= time;
	});
	if (times.length === 0 || !isOrdered || first === last) return undefined;

	const begin = isForward ? last : last + 1;
	const room = isForward ? (span.before < Infinity ? span.before : now) - begin : begin - Math.max(span.from, 0);
	const reach = Math.min((Math.abs(last - first) / records.length) * remaining, room);
	const step = Math.floor(reach / parts);
	if (step <= 0) return undefined;

	const edges = Array.from({ length: parts }, (_, i) => begin + i * (isForward ? step : -step));
	const rest = edges.map((edge, i) =>
		isForward ? { from: edge, before: edges[i + 1] ?? span.before } : { from: edges[i + 1] ?? span.from, before: edge },
	);
	return { records: records.filter((_, i) => times[i] !== last), rest };
}

/** Whether the first and the last record are within the span, if they have a time. */
const isWithin = (records: IDataObject[], { from, before }: Span, { field }: Timeline): boolean =>
	[records[0], records.at(-1)].every((record) => {
		const time = timeOf(record, field);
		return !(time < from || time >= before);
	});

/** Whole milliseconds, even if the service keeps finer times. */
const timeOf = (record: IDataObject | undefined, field: string): number => Date.parse(String(record?.[field]));

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
