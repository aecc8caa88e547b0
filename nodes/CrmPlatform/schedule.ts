import { SkippedItem, type MayContinue, type Result, type Results, type Slice, type SlicedRun } from './model';

/** The result of one input item. */
export interface ItemResult {
	item: number;
	result: Result | Error;
}

/** Slices in flight at the same time: more gain little, as the service handles one after another. */
export const slicesAtOnce = 4;

/** Runs each item by itself; by default, one after another. */
export const eachItem = (run: (item: number) => Promise<Result>, atOnce = 1): SlicedRun => ({
	size: 1,
	atOnce,
	read: ([item = 0]) => ({ records: new Set(), send: async () => [await run(item)] }),
});

/**
 * Runs the prepared operation for `count` items, in slices, a few at a time. Yields the
 * results in the order of the items. Slices that change the same record run one after another, so that of two items for
 * one record the later one wins.
 *
 * After `mayContinue` returns false, nothing further is sent, and requests in flight are awaited.
 *
 * @param mayContinue called before each request with the new results
 */
export async function* runAll(
	{ size, atOnce, read }: SlicedRun,
	count: number,
	mayContinue: MayContinue,
): AsyncGenerator<ItemResult[], void> {
	const running: Array<{ items: number[]; slice: Slice; results: Promise<Results> }> = [];
	// A loop over slices of no items would never end.
	const sliceSize = Math.max(1, Math.floor(size) || 1);
	let next = 0;
	let isStopped = false;
	const mayProceed: MayContinue = (results) => {
		isStopped ||= !mayContinue(results);
		return !isStopped;
	};
	for (;;) {
		while (next < count && running.length < atOnce && mayProceed([])) {
			const items = Array.from({ length: Math.min(sliceSize, count - next) }, (_, i) => next + i);
			next += sliceSize;
			const slice = read(items);
			const before = running.filter((other) => share(other.slice.records, slice.records));
			const results = Promise.all(before.map((other) => other.results)).then(async () => {
				const settled = mayProceed([]) ? await settledSlice(slice, items, mayProceed) : [];
				mayProceed(settled);
				return settled;
			});
			running.push({ items, slice, results });
		}
		const first = running.shift();
		if (!first) return;
		const results = await first.results;
		const itemResults = first.items.flatMap((item, i) => (results[i] ? [{ item, result: results[i] }] : []));
		if (itemResults.length > 0) yield itemResults;
	}
}

/** The results of a slice; if it fails, its error for each of the items. */
async function settledSlice(slice: Slice, items: number[], mayContinue: MayContinue): Promise<Results> {
	try {
		const results = await slice.send(mayContinue);
		// A slice may omit results only after it was told to stop.
		return items.map((_, i) => withoutSkipped(results[i]) ?? (mayContinue([]) ? new Error(noResult) : undefined));
	} catch (error) {
		return items.map(() => withoutSkipped(error as Error));
	}
}

const withoutSkipped = <Value>(result: Value): Value | [] => (result instanceof SkippedItem ? [] : result);

const share = (records: ReadonlySet<string>, others: ReadonlySet<string>): boolean => [...others].some((record) => records.has(record));

const noResult = 'The node has no result for this item, which may have been written. Check the record, and report this error of the node.';
