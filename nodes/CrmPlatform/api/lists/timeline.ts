import type { IDataObject } from 'n8n-workflow';

/** A span of time, in Unix epoch milliseconds; open-ended if a bound is absent. */
export interface Span {
	from?: number;
	/** The first millisecond after the span. */
	before?: number;
}

/** The order of a list in time. */
export interface Timeline {
	/** The field with a record's creation time. */
	field: string;
	direction: 'ascending' | 'descending';
}

/** The rest of a list after a page, as spans of time. */
export interface Division {
	/** The records of the page that are not in any span. */
	keptRecords: IDataObject[];
	/** In the order the list is read. */
	spans: Span[];
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
 * @param left number of records after the page
 * @param parts number of spans
 * @param now Unix epoch milliseconds, after which no records are expected
 * @returns undefined if the times are all equal or not in order
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
	const isForward = direction === 'ascending';
	// An unreadable time is NaN, which compares false.
	const isOrdered = times.every((time, i) => {
		const earlier = times[i - 1] ?? first;
		return isForward ? earlier <= time : earlier >= time;
	});
	if (times.length === 0 || !isOrdered || first === last) return undefined;

	const begin = isForward ? last : last + 1;
	const room = isForward ? (span.before ?? now) - begin : begin - (span.from ?? 0);
	const reach = Math.min((Math.abs(last - first) / records.length) * left, room);
	const step = Math.floor(reach / parts);
	if (step <= 0) return undefined;

	const edges = Array.from({ length: parts }, (_, i) => begin + i * (isForward ? step : -step));
	const spans = edges.map((edge, i) =>
		isForward ? spanOf(edge, edges[i + 1] ?? span.before) : spanOf(edges[i + 1] ?? span.from, edge),
	);
	return { keptRecords: records.filter((_, i) => times[i] !== last), spans };
}

/** Whether the first and the last record are within the span, if they have a time. */
export function isWithin(records: IDataObject[], { from, before }: Span, field: string): boolean {
	return [records[0], records.at(-1)].every((record) => {
		const time = timeOf(record, field);
		return !(time < (from ?? -Infinity) || time >= (before ?? Infinity));
	});
}

function spanOf(from: number | undefined, before: number | undefined): Span {
	return { ...(from !== undefined && { from }), ...(before !== undefined && { before }) };
}

/** Whole milliseconds, even if the service keeps finer times. */
function timeOf(record: IDataObject | undefined, field: string): number {
	return Date.parse(String(record?.[field]));
}
