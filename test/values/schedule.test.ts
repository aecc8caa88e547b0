import { runAll } from '../../nodes/CrmPlatform/schedule';

test.each([0, -1, NaN, 0.5])('slices of %p items are slices of one, and the slicing ends', async (size) => {
	const outcomes = [];
	const work = { size, atOnce: 4, run: async ([item = 0]: number[]) => [{ item }] };
	for await (const { item } of runAll(work, 3, () => true)) outcomes.push(item);
	expect(outcomes).toEqual([0, 1, 2]);
});
