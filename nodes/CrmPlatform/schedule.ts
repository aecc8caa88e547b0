import type { Slice, Sliced, MayContinue, Result, Results, Run } from './model';

/** The result of one input item. */
export interface ItemResult {
	item: number;
	result: Result | Error;
}

/** Slices in flight at the same time: more gain little, as the service handles one after another. */
const slicesAtOnce = 4;

/**
 * Runs the prepared operation for each of `count` items, one after another or in slices, a few at a time. Yields the
 * results in the order of the items. Slices that change the same record run one after another, so that of two items for
 * one record the later one wins.
 *
 * After `mayContinue` returns false, nothing further is sent, and requests in flight are awaited.
 *
 * @param mayContinue called before each request with the new results
 */
export function runAll(work: Run | Sliced, count: number, mayContinue: MayContinue): AsyncGenerator<ItemResult[], void> {
	if (typeof work !== 'function') return inOrder(work, slicesAtOnce, count, mayContinue);
	const assemble = ([item = 0]: number[]): Slice => ({ records: new Set(), send: async () => [await work(item)] });
	return inOrder({ size: 1, assemble }, 1, count, mayContinue);
}

async function* inOrder(
	{ size, assemble }: Sliced,
	atOnce: number,
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
			const slice = assemble(items);
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
		return items.map((_, i) => results[i] ?? (mayContinue([]) ? new Error(noResult) : undefined));
	} catch (error) {
		return items.map(() => error as Error);
	}
}

const share = (records: ReadonlySet<string>, others: ReadonlySet<string>): boolean => [...others].some((record) => records.has(record));

const noResult = 'The node has no result for this item, which may have been written. Check the record, and report this error of the node.';
