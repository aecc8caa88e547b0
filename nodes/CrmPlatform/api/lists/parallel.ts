import type { IDataObject } from 'n8n-workflow';

import type { ListDescription } from '../openapi/listing';
import type { Page, Send } from './page';
import { readPages } from './pages';
import type { Query } from '../http/path';
import { divide, isWithin, type Division, type Span, type Timeline } from './timeline';

/** A list that is read to its end. */
interface WholeList {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** Filters, order and fields. */
	query: Query;
	/** The maximum number of concurrent cursors. */
	cursors: number;
}

/** Minimum number of pages to divide: each part ends with a page that is not full. */
const minPages = 4;

/** How often a part can be divided again; its records are closer together each time. */
const maxDepth = 20;

/** A part of the list, in a linked list: parts divided from it are inserted after it. */
interface Stretch {
	records: IDataObject[];
	next?: Stretch;
}

/**
 * Where the list's records lie in time, if several cursors can read it: it is in the order of
 * creation, and can be narrowed to a span of it.
 */
export function timelineOf({ list, query, cursors }: Omit<WholeList, 'path'>): Timeline | undefined {
	const { created, sort } = list;
	if (!created || cursors === 1) return undefined;
	const bounds = [query[created.from], query[created.before]].filter((time) => time !== undefined);
	if (bounds.some((time) => Number.isNaN(Date.parse(String(time))))) return undefined;

	const order = String((sort && query[sort.name]) ?? sort?.default);
	const [first] = order.split(',');
	if (first === created.field) return { field: created.field, direction: 'ascending' };
	if (first === `-${created.field}`) return { field: created.field, direction: 'descending' };
	return undefined;
}

/**
 * Reads all records of a list, in its order. It starts with one cursor; whenever others are free and
 * much is left to read, the rest is divided among them by the time of creation.
 *
 * If the parts do not add up to the total that the service reports (records without a time of
 * creation, filters the service ignores or rounds), the list is read again with one cursor.
 *
 * @param handle maps each record as it arrives
 * @throws Error in the user's words as readPages does, and if the service ignores the user's own
 * filter by the time of creation
 */
export async function readAll(
	send: Send,
	wholeList: WholeList,
	handle: (record: IDataObject) => IDataObject,
): Promise<IDataObject[]> {
	const timeline = timelineOf(wholeList);
	const records = timeline && (await readDivided(send, wholeList, timeline, handle));
	if (records) return records;

	const { path, list, query } = wholeList;
	const all: IDataObject[] = [];
	for await (const page of readPages(send, { path, list, query })) {
		for (const record of page.records) all.push(handle(record));
	}
	return all;
}

/** @returns undefined if the parts of the list did not add up to it */
async function readDivided(
	send: Send,
	{ path, list, query, cursors }: WholeList,
	timeline: Timeline,
	handle: (record: IDataObject) => IDataObject,
): Promise<IDataObject[] | undefined> {
	const querySpan = ownSpan(list, query);
	const few = minPages * (list.pageSize?.maximum ?? Infinity);
	const now = Date.now();
	let busy = 1;
	let addsUp = true;
	// Set when one cursor has failed: the others then stop after their page.
	let over = false;

	const refute = () => {
		addsUp = false;
		over = true;
	};

	const read = async (stretch: Stretch, span: Span, depth: number, reportTotal?: (total: number | undefined) => void) => {
		let division: Division | undefined;
		let count = 0;
		let rest = 0;
		const endsWith = ({ records, total = 0 }: Page) => {
			count += records.length;
			const left = total - count;
			const free = cursors - busy;
			if (!over && free > 0 && left >= few && depth < maxDepth) {
				division = divide(records, span, timeline, { left, parts: 1 + free, now });
				if (division) {
					busy += free;
					rest = left + records.length - division.keptRecords.length;
				}
			}
			return over || division !== undefined;
		};

		let isFirst = true;
		const narrowed = { ...query, ...narrowing(list, span) };
		for await (const { records, total } of readPages(send, { path, list, query: narrowed, endsWith })) {
			if (isFirst) reportTotal?.(total);
			isFirst = false;
			if (!isWithin(records, span, timeline.field)) {
				if (span === querySpan) throw new Error(outside(path));
				refute();
			}
			for (const record of division?.keptRecords ?? records) stretch.records.push(handle(record));
		}
		if (over || !division) return void (busy -= 1);
		const report = addingUpTo(rest, division.spans.length, refute);
		await Promise.all(linked(stretch, division.spans).map((part) => read(...part, depth + 1, report)));
	};

	const first: Stretch = { records: [] };
	try {
		await read(first, querySpan, 0);
		return addsUp ? joined(first) : undefined;
	} finally {
		over = true;
	}
}

/**
 * Compares the totals of the parts with the whole once every part has reported one. All are requested at the
 * same moment, so concurrent writes hardly matter.
 *
 * @param rest how many records were divided
 * @param refute called if the parts have fewer, or one of them more
 */
function addingUpTo(rest: number, parts: number, refute: () => void) {
	const totals: number[] = [];
	return (total: number | undefined) => {
		totals.push(total ?? NaN);
		if (totals.length < parts) return;
		const sum = totals.reduce((all, partTotal) => all + partTotal, 0);
		if (!(sum >= rest) || Math.max(...totals) > rest) refute();
	};
}

/** The span that the user's own filters leave. */
function ownSpan({ created }: ListDescription, query: Query): Span {
	const span: Span = {};
	if (!created) return span;
	const { [created.from]: from, [created.before]: before } = query;
	if (from !== undefined) span.from = Date.parse(String(from));
	if (before !== undefined) span.before = Date.parse(String(before));
	return span;
}

function narrowing({ created }: ListDescription, { from, before }: Span): Query {
	const query: Query = {};
	if (created && from !== undefined) query[created.from] = new Date(from).toISOString();
	if (created && before !== undefined) query[created.before] = new Date(before).toISOString();
	return query;
}

/** A stretch for each span, linked in after the given one. */
function linked(after: Stretch, spans: Span[]): Array<[Stretch, Span]> {
	let last = after;
	return spans.map((span) => {
		const stretch: Stretch = { records: [] };
		if (last.next) stretch.next = last.next;
		last.next = stretch;
		last = stretch;
		return [stretch, span];
	});
}

function joined(first: Stretch): IDataObject[] {
	const { records } = first;
	for (let next = first.next; next; next = next.next) {
		for (const record of next.records) records.push(record);
	}
	return records;
}

const outside = (path: string) =>
	`The service returned records of ${path} that do not match the filter on the creation time. Remove that filter, and report this to the service’s support.`;
