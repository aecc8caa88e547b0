import type { Slice, MayContinue } from '../../nodes/CrmPlatform/model';
import { eachItem, runAll, slicesAtOnce as atOnce, type ItemResult } from '../../nodes/CrmPlatform/schedule';

/** Batches that end when the test says so. */
function controlled(records: (items: number[]) => string[] = () => []) {
	const begun: number[][] = [];
	const enders: Array<() => void> = [];
	let atOnce = 0;
	let maxAtOnce = 0;
	const read = (items: number[]): Slice => ({
		records: new Set(records(items)),
		async send() {
			begun.push(items);
			maxAtOnce = Math.max(maxAtOnce, (atOnce += 1));
			await new Promise<void>((resolve) => enders.push(resolve));
			atOnce -= 1;
			return items.map((item) => ({ item }));
		},
	});
	/** Ends what is under way, the last begun first, until nothing new begins. */
	const endAll = async () => {
		for (;;) {
			await new Promise((resolve) => setImmediate(resolve));
			const end = enders.pop();
			if (!end) return;
			end();
		}
	};
	return { read, begun, endAll, maxAtOnce: () => maxAtOnce };
}

async function all(batches: AsyncGenerator<ItemResult[], void>): Promise<ItemResult[]> {
	const found = [];
	for await (const outcomes of batches) found.push(...outcomes);
	return found;
}

const always = () => true;

describe('batches', () => {
	test('do not begin once they are no longer needed; batches in progress are waited for', async () => {
		const { read, begun, endAll } = controlled();
		let isWanted = true;
		const outcomes = runAll({ size: 1, atOnce, read }, 100, () => isWanted);
		const first = outcomes.next();
		await endAll();
		await first;
		const before = begun.length;
		isWanted = false;
		const rest = await all(outcomes);
		expect(begun).toHaveLength(before);
		expect(rest).toHaveLength(before - 1);
	});
});

test('an error of a batch is the error of each of its items, and of no others', async () => {
	const read = (items: number[]): Slice => ({
		records: new Set(),
		async send() {
			if (items.includes(2)) throw new Error('that batch');
			return items.map((item) => ({ item }));
		},
	});
	expect(await all(runAll({ size: 2, atOnce, read }, 5, always))).toEqual([
		{ item: 0, result: { item: 0 } },
		{ item: 1, result: { item: 1 } },
		{ item: 2, result: new Error('that batch') },
		{ item: 3, result: new Error('that batch') },
		{ item: 4, result: { item: 4 } },
	]);
});

test('items that run one by one stop at the first that is no longer wanted', async () => {
	let isWanted = true;
	const run = async (item: number) => {
		isWanted = item < 2;
		if (item === 1) throw new Error('one of them');
		return { item };
	};
	const outcomes = await all(runAll(eachItem(run), 10, () => isWanted));
	expect(outcomes).toEqual([
		{ item: 0, result: { item: 0 } },
		{ item: 1, result: new Error('one of them') },
		{ item: 2, result: { item: 2 } },
	]);
});

test.each([0, -1, NaN, 0.5])('slices of %p items are slices of one, and the slicing ends', async (size) => {
	const read = ([item = 0]: number[]): Slice => ({ records: new Set(), send: async () => [{ item }] });
	const outcomes = await all(runAll({ size, atOnce, read }, 3, always));
	expect(outcomes.map(({ item }) => item)).toEqual([0, 1, 2]);
});

test('a batch that waits for a failed one of the same record is not sent once a failure stops the run', async () => {
	for (const isStopping of [true, false]) {
		const sentItems: number[] = [];
		const read = ([item = 0]: number[]): Slice => ({
			records: new Set(['the one record']),
			async send() {
				sentItems.push(item);
				return await Promise.resolve([item === 0 ? new Error('refused') : { item }]);
			},
		});
		const mayContinue: MayContinue = (results) => !isStopping || !results.some((result) => result instanceof Error);
		const outcomes = await all(runAll({ size: 1, atOnce, read }, 3, mayContinue));
		expect(sentItems).toEqual(isStopping ? [0] : [0, 1, 2]);
		expect(outcomes).toHaveLength(sentItems.length);
	}
});
