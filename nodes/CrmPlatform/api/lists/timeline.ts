import type { IDataObject } from 'n8n-workflow';

/** A span of time, in Unix epoch milliseconds; open where a bound is absent. */
export interface Span {
	from?: number;
	/** The first millisecond that is not in it. */
	before?: number;
}

/** How a list lies in time. */
export interface Timeline {
	/** The field of a record that says when it was created. */
	field: string;
	direction: 'ascending' | 'descending';
}

/** What follows a page, in spans of their own. */
export interface Division {
	/** The records of the page that are in none of the spans. */
	kept: IDataObject[];
	/** In the order the list is read. */
	spans: Span[];
}

/**
 * Divides what is left of a span after a page, so that it can be read with several cursors.
 *
 * The page is cut at the millisecond of its last record: others of that millisecond may follow, so
 * all of it belongs to the rest. Every record is then in exactly one part, whatever is written
 * meanwhile, because the time it was created at never changes.
 *
 * The spans are of equal length, as far as the rest reaches at the density of the page. Where that
 * guess is wrong, the last one, which goes to the end, has more or less than the others.
 *
 * @param left how many records follow the page
 * @param parts how many spans are wanted
 * @param now Unix epoch milliseconds, beyond which no records are expected
 * @returns undefined where time does not tell the records apart
 */
export function divide(
	records: IDataObject[],
	span: Span,
	{ field, direction }: Timeline,
	{ left, parts, now }: { left: number; parts: number; now: number },
): Division | undefined {
	const times = records.map((record) => timeOf(record, field));
	const first = times[0] ?? 0;
	const last = times.at(-1) ?? 0;
	const forward = direction === 'ascending';
	// A time that cannot be read is not a number, and in no order.
	const isOrdered = times.every((time, i) => {
		const earlier = times[i - 1] ?? first;
		return forward ? earlier <= time : earlier >= time;
	});
	if (times.length === 0 || !isOrdered || first === last) return undefined;

	const begin = forward ? last : last + 1;
	const room = forward ? (span.before ?? now) - begin : begin - (span.from ?? 0);
	const reach = Math.min((Math.abs(last - first) / records.length) * left, room);
	const step = Math.floor(reach / parts);
	if (step <= 0) return undefined;

	const edges = Array.from({ length: parts }, (_, i) => begin + i * (forward ? step : -step));
	const spans = edges.map((edge, i) =>
		forward ? spanOf(edge, edges[i + 1] ?? span.before) : spanOf(edges[i + 1] ?? span.from, edge),
	);
	return { kept: records.filter((_, i) => times[i] !== last), spans };
}

/** Whether records that are in order lie in the span, as far as they say when they were created. */
export function isWithin(records: IDataObject[], { from, before }: Span, field: string): boolean {
	return [records[0], records.at(-1)].every((record) => {
		const time = timeOf(record, field);
		return !(time < (from ?? -Infinity) || time >= (before ?? Infinity));
	});
}

function spanOf(from: number | undefined, before: number | undefined): Span {
	return { ...(from !== undefined && { from }), ...(before !== undefined && { before }) };
}

/** Whole milliseconds, also of services that keep finer times. */
function timeOf(record: IDataObject | undefined, field: string): number {
	return Date.parse(String(record?.[field]));
}
