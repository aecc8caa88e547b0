import type { IDataObject } from 'n8n-workflow';

import type { ListDescription } from '../openapi/listing';
import type { Page, Send } from './page';
import { readPages } from './pages';
import type { Query } from '../http/path';
import { divide, isWithin, type Division, type Span, type Timeline } from './timeline';

/** A list that is read to its end. */
export interface WholeList {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** Filters, order and fields. */
	query: Query;
	/** The most cursors at once. */
	cursors: number;
}

/** Less than so many pages are not worth dividing: each part ends with a page that is not full. */
const fewPages = 4;

/** A stretch of the list. New ones are linked in where they belong, which keeps the order. */
interface Stretch {
	records: IDataObject[];
	next?: Stretch;
}

/**
 * How the list lies in time, if several cursors can read it: it is in the order of creation, and
 * can be narrowed to a span of it.
 */
export function timelineOf({ list, query, cursors }: Omit<WholeList, 'path'>): Timeline | undefined {
	const { created, sort } = list;
	if (!created || cursors === 1) return undefined;
	const given = [query[created.from], query[created.before]].filter((time) => time !== undefined);
	if (given.some((time) => Number.isNaN(Date.parse(String(time))))) return undefined;

	const order = String((sort && query[sort.name]) ?? sort?.default);
	const [first] = order.split(',');
	if (first === created.field) return { field: created.field, direction: 'ascending' };
	if (first === `-${created.field}`) return { field: created.field, direction: 'descending' };
	return undefined;
}

/**
 * All records of a list, in its order. One cursor begins; whenever others are free and much is
 * left of what a cursor reads, its rest is divided among them by the time of creation.
 *
 * @param handle what becomes of a record, done as it arrives
 * @throws Error in the user's words as `pages` does, and where the service does not filter as it
 * says
 */
export async function readAll(
	send: Send,
	whole: WholeList,
	handle: (record: IDataObject) => IDataObject,
): Promise<IDataObject[]> {
	const { path, list, query, cursors } = whole;
	const timeline = timelineOf(whole);
	const few = fewPages * (list.pageSize?.maximum ?? Infinity);
	const now = Date.now();
	let busy = 1;
	// Set when a cursor has failed as well: then the others end with their page.
	let over = false;

	const read = async (stretch: Stretch, span: Span): Promise<void> => {
		let division: Division | undefined;
		let count = 0;
		const endsWith = ({ records, total = 0 }: Page) => {
			count += records.length;
			const left = total - count;
			const free = cursors - busy;
			if (timeline && free > 0 && left >= few) {
				division = divide(records, span, timeline, { left, parts: 1 + free, now });
				if (division) busy += free;
			}
			return over || division !== undefined;
		};

		const narrowed = { ...query, ...narrowing(list, span) };
		for await (const { records } of readPages(send, { path, list, query: narrowed, endsWith })) {
			if (timeline && !isWithin(records, span, timeline.field)) throw new Error(outside(path));
			for (const record of division?.kept ?? records) stretch.records.push(handle(record));
		}
		if (division) await Promise.all(linked(stretch, division.spans).map((part) => read(...part)));
		else busy -= 1;
	};

	const first: Stretch = { records: [] };
	try {
		await read(first, timeline ? asked(list, query) : {});
		return joined(first);
	} finally {
		over = true;
	}
}

/** The span the user's own filters leave. */
function asked({ created }: ListDescription, query: Query): Span {
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
	`The service gave records of ${path} that were created at another time than it was asked for. Set the option Parallel Reads to 1, and report it to the service’s support.`;
