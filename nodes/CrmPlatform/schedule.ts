import { SkippedItem, type MayContinue, type Result, type Results, type Work } from './model';

/** The result of one input item. */
export interface ItemResult {
	item: number;
	result: Result | Error;
}

/** Slices in flight at the same time: more gain little, as the service handles one after another. */
export const slicesAtOnce = 4;

/** Runs each item by itself; by default, one after another. */
export const eachItem = (run: (item: number) => Promise<Result>, atOnce = 1): Work => ({
	size: 1,
	atOnce,
	send: async ([item = 0]) => [await run(item)],
});

/**
 * Runs the prepared operation for `count` items, in slices, a few at a time. Yields the results in the order of the items.
 *
 * After `mayContinue` returns false, nothing further is sent, and requests in flight are awaited.
 *
 * @param mayContinue called before each request with the new results
 */
export async function* runAll({ size, atOnce, send }: Work, count: number, mayContinue: MayContinue): AsyncGenerator<ItemResult, void> {
	const running: Array<{ items: number[]; ended: Promise<Results> }> = [];
	// A loop over slices of no items would never end.
	const sliceSize = Math.max(1, Math.floor(size) || 1);
	let next = 0;
	let isStopped = false;
	const mayProceed: MayContinue = (results) => {
		isStopped ||= !mayContinue(results.filter((result) => !(result instanceof SkippedItem)));
		return !isStopped;
	};
	/** The results of a slice; if it fails, its error for each of the items. */
	const sent = async (items: number[]): Promise<Results> => {
		const results = await send(items, mayProceed).catch((error: Error) => items.map(() => error));
		const mayOmit = !mayProceed(results);
		// A slice may omit results only after it was told to stop.
		return items.map((_, i) => results[i] ?? (mayOmit ? undefined : new Error(noResult)));
	};
	for (;;) {
		while (next < count && running.length < atOnce && mayProceed([])) {
			const items = Array.from({ length: Math.min(sliceSize, count - next) }, (_, i) => next + i);
			next += sliceSize;
			running.push({ items, ended: sent(items) });
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
