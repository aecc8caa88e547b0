import type { IDataObject } from 'n8n-workflow';

import type { Query } from '../http/path';
import type { ListDescription } from '../openapi/listing';

/** The order of a list in time, by the field with a record's creation time, and the parameters for a span. */
export type Timeline = NonNullable<ListDescription['created']> & { isForward: boolean };

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
export interface Span {
	from: number;
	before: number;
}

/** The query for the records of a span. */
export const spanQuery = ({ from, before }: Span, parameters: Timeline): Query => ({
	...(from > -Infinity && { [parameters.from]: new Date(from).toISOString() }),
	...(before < Infinity && { [parameters.before]: new Date(before).toISOString() }),
});

/** Records of a page of a span, and the spans that others read instead of the rest, in the order of the list. */
export interface SpanPart {
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
 * @param parts number of spans
 * @param now Unix epoch milliseconds, after which no records are expected
 * @returns undefined if the times are all equal or not in order
 */
export function divideRest(
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
export const isWithin = (records: IDataObject[], { from, before }: Span, { field }: Timeline): boolean =>
	[records[0], records.at(-1)].every((record) => {
		const time = timeOf(record, field);
		return !(time < from || time >= before);
	});

/** Whole milliseconds, even if the service keeps finer times. */
const timeOf = (record: IDataObject | undefined, field: string): number => Date.parse(String(record?.[field]));
