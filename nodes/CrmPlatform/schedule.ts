import { SkippedItem, type ProceedAfter, type Result, type Results, type Work } from './model';

/** Slices in flight at the same time: more gain little, as the service handles one after another. */
export const slicesAtOnce = 4;

/** Lets those that change the same records run one after another, in the order in which they came. */
export class Turns {
	/** The end of the last turn of a record. */
	private readonly ends = new Map<string, Promise<void>>();

	/** Waits for the earlier turns of these records. @returns what ends this turn */
	async begin(records: ReadonlySet<string>): Promise<() => void> {
		const earlier = Promise.all([...records].flatMap((record) => this.ends.get(record) ?? []));
		let end = () => {};
		const ended = new Promise<void>((resolve) => (end = resolve));
		for (const record of records) this.ends.set(record, ended);
		await earlier;
		return () => {
			for (const record of records) if (this.ends.get(record) === ended) this.ends.delete(record);
			end();
		};
	}
}

/** Runs each item by itself; by default, one after another. */
export const eachItem = (handle: (item: number) => Promise<Result>, atOnce = 1): Work => ({
	size: 1,
	atOnce,
	handle: async ([item = 0]) => [await handle(item)],
});

/**
 * Runs the prepared operation in slices, a few at a time. Yields the results in the order of the items.
 *
 * @param proceedAfter called before each request with the new results; after false, nothing more is sent, and requests in flight are awaited
 */
export async function* runAll(
	{ size, atOnce, handle }: Work,
	count: number,
	proceedAfter: ProceedAfter,
): AsyncGenerator<{ item: number; result: Result | Error }, void> {
	const running: Array<{ items: number[]; ended: Promise<Results> }> = [];
	let next = 0;
	let isStopped = false;
	const proceed: ProceedAfter = (results) => {
		isStopped ||= !proceedAfter(results.filter((result) => !(result instanceof SkippedItem)));
		return !isStopped;
	};
	/** The results of a slice; if it fails, its error for each of the items. */
	const runSlice = async (items: number[]): Promise<Results> => {
		const results = await handle(items, proceed).catch((error: Error) => items.map(() => error));
		const mayOmit = !proceed(results);
		// A slice may omit results only after it was told to stop.
		return items.map((_, i) => results[i] ?? (mayOmit ? undefined : new Error(noResult)));
	};
	for (;;) {
		while (next < count && running.length < atOnce && proceed([])) {
			const items = Array.from({ length: Math.min(size, count - next) }, (_, i) => next + i);
			next += size;
			running.push({ items, ended: runSlice(items) });
		}
		const first = running.shift();
		if (!first) return;
		const results = await first.ended;
		for (const [i, item] of first.items.entries()) {
			const result = results[i];
			if (result) yield { item, result: result instanceof SkippedItem ? [] : result };
		}
	}
}

const noResult = 'The node has no result for this item, which may have been written. Check the record, and report this error of the node.';
