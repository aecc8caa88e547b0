import type { CrmEvent } from './crmEvent';

/** The parts of a log that are needed here. */
interface Readable {
	/** Maximum events in one response. */
	pageSize: number;
	after(sequence: number, limit?: number): AsyncGenerator<CrmEvent, void>;
	/** The sequence of the newest event. */
	newest(): Promise<number | undefined>;
}

/** Maximum ranges that are read at the same time. */
const rangesAtOnce = 6;

/**
 * The events above a sequence, in sequence. A long log is divided by sequence into ranges of about a page, a few of which
 * are read at the same time.
 *
 * @throws Error in the user's words if the log ends before its newest event, as on a lagging replica
 */
export async function* readInRanges(log: Readable, sequence: number): AsyncGenerator<CrmEvent, void> {
	const first: CrmEvent[] = [];
	for await (const event of log.after(sequence, log.pageSize)) first.push(event);
	yield* first;
	if (first.length < log.pageSize) return;
	const begin = first.at(-1)!.sequence;
	// Where the log begins may be far above the sequence.
	const width = begin - first[0]!.sequence + 1;
	const end = (await log.newest()) ?? begin;
	const ranges: Array<{ above: number; to: number }> = [];
	for (let above = begin; above < end; above += width) ranges.push({ above, to: Math.min(above + width, end) });

	const startReading = ({ above, to }: { above: number; to: number }): Promise<CrmEvent[]> => {
		const events = readRange(log, above, to, end);
		// A rejection is thrown in its turn.
		events.catch(() => undefined);
		return events;
	};
	const running = ranges.splice(0, rangesAtOnce).map(startReading);
	while (running.length > 0) {
		const events = await running.shift()!;
		running.push(...ranges.splice(0, 1).map(startReading));
		yield* events;
	}
	// The events written meanwhile.
	yield* log.after(Math.max(begin, end));
}

/** The events above a sequence, up to another. @param end the sequence of the newest event of the log */
async function readRange({ after, pageSize }: Readable, above: number, to: number, end: number): Promise<CrmEvent[]> {
	const events: CrmEvent[] = [];
	for (let reached = above; reached < to; ) {
		const before = reached;
		for await (const event of after(before, pageSize)) {
			reached = event.sequence;
			// The last page may extend beyond the range; those events are left to the next range.
			if (reached <= to) events.push(event);
		}
		if (reached === before) throw new Error(endsEarly(end));
	}
	return events;
}

const endsEarly = (end: number) =>
	`The CRM’s log ends before its newest event (sequence ${end}), so changes would be missed. Run the node again later.`;
