import type { Batch, Batched, Result, Run } from './model';

/** What came of one input item. */
export interface Outcome {
	item: number;
	result: Result | Error;
}

/** Batches on their way at the same time: more gain little, as the service does one after another. */
const atOnce = 4;

/**
 * Does the operation for each of `count` items, one after another.
 *
 * @param isWanted asked before each item
 */
export async function* oneByOne(
	run: Run,
	count: number,
	isWanted: () => boolean,
): AsyncGenerator<Outcome, void> {
	for (let item = 0; item < count && isWanted(); item++) {
		yield { item, result: await settled(run(item)) };
	}
}

/**
 * Does the operation for `count` items in batches, a few at a time, and gives the results in the
 * order of the items. Batches that change the same record go one after another, so that of two
 * items for one record the later has the last word, as it would one by one.
 *
 * @param isWanted asked before each batch; once false, what is on its way is still waited for
 */
export async function* inBatches(
	{ size, assemble }: Batched,
	count: number,
	isWanted: () => boolean,
): AsyncGenerator<Outcome, void> {
	const running: Array<{ items: number[]; batch: Batch; results: Promise<Array<Result | Error>> }> =
		[];
	let next = 0;
	for (;;) {
		while (next < count && running.length < atOnce && isWanted()) {
			const items = indexes(next, Math.min(count, next + size));
			next += size;
			const batch = assemble(items);
			const before = running.filter((other) => share(other.batch.records, batch.records));
			const results = Promise.all(before.map((other) => other.results)).then(
				async () => await batch.send(),
			);
			running.push({ items, batch, results });
		}
		const first = running.shift();
		if (!first) return;
		const results = await first.results;
		for (const [i, item] of first.items.entries()) {
			yield { item, result: results[i] ?? new Error('Nothing came of this item.') };
		}
	}
}

async function settled(result: Promise<Result>): Promise<Result | Error> {
	try {
		return await result;
	} catch (error) {
		return error as Error;
	}
}

function share(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
	for (const one of others) if (some.has(one)) return true;
	return false;
}

function indexes(from: number, to: number): number[] {
	return Array.from({ length: to - from }, (_, i) => from + i);
}
