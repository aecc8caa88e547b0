import type { Slice, MayContinue } from '../../nodes/CrmPlatform/model';
import { runAll, slicesAtOnce as atOnce, type ItemResult } from '../../nodes/CrmPlatform/schedule';

async function all(batches: AsyncGenerator<ItemResult[], void>): Promise<ItemResult[]> {
	const found = [];
	for await (const outcomes of batches) found.push(...outcomes);
	return found;
}

const always = () => true;

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
