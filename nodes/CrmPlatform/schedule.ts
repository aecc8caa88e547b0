import type { Batch, Batched, Result, Run } from './model';

/** The outcome of one input item. */
export interface ItemOutcome {
	item: number;
	result: Result | Error;
}

/** Batches in flight at the same time: more gain little, as the service handles one after another. */
const parallelItems = 4;

/**
 * Does the operation for each of `count` items, one after another, and yields what became of each.
 *
 * @param isWanted asked before each item
 */
export function runSequentially(
	run: Run,
	count: number,
	isWanted: () => boolean,
): AsyncGenerator<ItemOutcome[], void> {
	const assemble = ([item = 0]: number[]): Batch => ({
		records: new Set(),
		send: async () => [await run(item)],
	});
	return inOrder({ size: 1, assemble }, 1, count, isWanted);
}

/**
 * Does the operation for `count` items in batches, a few at a time, and yields the results of one
 * batch after another, in the order of the items. Batches that change the same record go one after another, so that of two
 * items for one record the later one wins, as it would one by one.
 *
 * @param isWanted asked before each batch; once false, batches in flight are still waited for
 */
export function runInBatches(
	batched: Batched,
	count: number,
	isWanted: () => boolean,
): AsyncGenerator<ItemOutcome[], void> {
	return inOrder(batched, parallelItems, count, isWanted);
}

async function* inOrder(
	{ size, assemble }: Batched,
	atOnce: number,
	count: number,
	isWanted: () => boolean,
): AsyncGenerator<ItemOutcome[], void> {
	const running: Array<{ items: number[]; batch: Batch; results: Promise<Array<Result | Error>> }> =
		[];
	// A slice of no items would never end.
	const step = Math.max(1, Math.floor(size) || 1);
	let next = 0;
	for (;;) {
		while (next < count && running.length < atOnce && isWanted()) {
			const items = indexes(next, Math.min(count, next + step));
			next += step;
			const batch = assemble(items);
			const before = running.filter((other) => share(other.batch.records, batch.records));
			const results = Promise.all(before.map((other) => other.results)).then(
				async () => await settled(batch, items),
			);
			running.push({ items, batch, results });
		}
		const first = running.shift();
		if (!first) return;
		const results = await first.results;
		yield first.items.map((item, i) => ({
			item,
			result: results[i] ?? new Error('No result was returned for this item.'),
		}));
	}
}

/** The results of a batch; if it fails, its error for each of the items. */
async function settled(batch: Batch, items: number[]): Promise<Array<Result | Error>> {
	try {
		return await batch.send();
	} catch (error) {
		return items.map(() => error as Error);
	}
}

function share(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
	for (const one of others) if (some.has(one)) return true;
	return false;
}

function indexes(from: number, to: number): number[] {
	return Array.from({ length: to - from }, (_, i) => from + i);
}
