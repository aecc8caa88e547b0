import type { CrmEvent } from './crmEvent';

/** The parts of a log that are needed here. */
interface Readable {
	/** Maximum events in one response. */
	pageSize: number;
	/** The events above a sequence, in sequence. */
	after(sequence: number, limit?: number): AsyncGenerator<CrmEvent, void>;
	/** The sequence of the newest event. */
	newest(): Promise<number | undefined>;
}

/** Maximum ranges that are read at the same time. */
const rangesAtOnce = 6;

interface Range {
	from: number;
	events: CrmEvent[];
	/** Whether it was read to its end. */
	isComplete: boolean;
}

/**
 * The events above a sequence, in sequence. A long log is divided by sequence into ranges of about a page, a few of which
 * are read at the same time. If a range ends too early, as on a lagging replica, the rest is read with one cursor.
 *
 * @throws Error in the user's words if the log ends before its newest event
 */
export async function* readInRanges({ pageSize, after, newest }: Readable, sequence: number): AsyncGenerator<CrmEvent, void> {
	const first: CrmEvent[] = [];
	for await (const event of after(sequence, pageSize)) first.push(event);
	yield* first;
	let from = first.at(-1)?.sequence ?? sequence;
	const width = from - sequence;
	if (first.length < pageSize || width < 1) return;
	const last = await newest();
	if (last === undefined) return yield* after(from);

	/** The last page may extend beyond the range; those events are left to the next range. */
	const read = async (above: number, to: number): Promise<Range> => {
		const range: Range = { from: above, events: [], isComplete: false };
		for (let reached = above, isEnded = false; !isEnded; ) {
			const before = reached;
			let count = 0;
			for await (const event of after(before, pageSize)) {
				count++;
				if (event.sequence > above && event.sequence <= to) range.events.push(event);
				reached = Math.max(reached, event.sequence);
			}
			range.isComplete = reached >= to;
			isEnded = range.isComplete || reached === before || count < pageSize;
		}
		return range;
	};
	const ranges: Array<Promise<Range>> = [];
	/** The events written meanwhile. Their first page is requested together with the last ranges. */
	let rest: AsyncGenerator<CrmEvent, void> | undefined;
	let firstOfRest: Promise<IteratorResult<CrmEvent, void>> | undefined;
	const begin = () => {
		while (from < last && ranges.length < rangesAtOnce) ranges.push(read(from, (from = Math.min(from + width, last))));
		if (from >= last && rest === undefined) {
			rest = after(from);
			firstOfRest = rest.next();
		}
		// A rejection is thrown in its turn.
		for (const reading of [...ranges, firstOfRest]) reading?.catch(() => undefined);
	};
	begin();
	while (ranges.length > 0) {
		const range = await ranges.shift()!;
		if (!range.isComplete) return yield* allUpTo(last, after(range.from));
		begin();
		yield* range.events;
	}
	const { value } = await firstOfRest!;
	if (value) yield value;
	yield* rest!;
}

async function* allUpTo(last: number, events: AsyncGenerator<CrmEvent, void>): AsyncGenerator<CrmEvent, void> {
	let reached = -Infinity;
	for await (const event of events) {
		reached = Math.max(reached, event.sequence);
		yield event;
	}
	if (reached < last) throw new Error(`The CRM’s log ends before its newest event (sequence ${last}), so changes would be missed. Nothing was written. Run the node again later.`);
}
