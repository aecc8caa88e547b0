import fc from 'fast-check';

import { randomRuns } from '../support/random-runs.ts';
import { guardDeletions, type Readings } from '../../nodes/CrmPlatform/sync/syncPlan';
import type { PlannedChange } from '../../nodes/CrmPlatform/changes/plan';

const record = (id: number) => ({ id: `con_${id}` }) as PlannedChange['record'] & object;
const missing = (howMany: number, action: PlannedChange['action'] = 'delete'): PlannedChange[] =>
	Array.from({ length: howMany }, (_, i) => ({ action, record: record(i), changes: [] }));

const guarded = (planned: PlannedChange[], limits: { share?: number; number?: number }, readings: Partial<Readings> = {}) =>
	guardDeletions(
		planned,
		{ share: 100, number: Infinity, ...limits },
		{ comparable: planned.length, inSource: 1, unknown: 0, ...readings },
	);

test.each([
	['one more than the number', 101, { number: 100 }, 1000, /allows 100\./],
	['one more than the share', 11, { share: 10 }, 100, /allows 10 %/],
	['two of three, as fewer would remain', 2, { share: 10 }, 3, /allows 10 %/],
	['all of one', 1, { share: 10 }, 1, /allows 10 %/],
	['four of thirty-nine, if a tenth is allowed', 4, { share: 10 }, 39, /allows 10 %/],
	['one of three, if no share is allowed', 1, { share: 0 }, 3, /allows 0 %/],
	['one of three, if no number is allowed', 1, { number: 0 }, 3, /allows 0\./],
	['anything if the number is not a number', 1, { number: NaN }, 1000, /allows NaN/],
	['anything if the share is not a number', 1, { share: NaN }, 1000, /allows NaN/],
])('%s is not deleted, nor are the others', (_, count, limits, comparable, reason) => {
	const result = guarded(missing(count), limits, { comparable });
	expect(result.reason).toMatch(reason);
	expect(result.reason).toContain(`${count} of ${comparable} records`);
	expect(result.planned).toHaveLength(count);
	for (const change of result.planned) expect(change).toMatchObject({ action: 'conflict', reason: result.reason });
});

test('setting records as missing counts like deleting them', () => {
	const planned = [...missing(1, 'update'), ...missing(1)];
	expect(guarded(planned, { number: 1 }).reason).toMatch(/^2 of 2/);
});

test('changes of records that the source has are neither counted nor held back', () => {
	const update: PlannedChange = { action: 'update', item: 0, record: record(9), patch: { last_name: 'x' }, changes: [] };
	const unchanged: PlannedChange = { action: 'unchanged', record: record(8), changes: [] };
	const { planned, reason } = guarded([update, unchanged, ...missing(2)], { number: 1 });
	expect(reason).toMatch(/^2 of 4/);
	expect(planned.slice(0, 2)).toEqual([update, unchanged]);
	// No record is missing here, so an empty source is not a reason to refuse.
	expect(guarded([update], { number: 0 }, { inSource: 0 })).toEqual({ planned: [update] });
});

describe('whatever the limits and the size of the account,', () => {
	const limits = fc.record({
		share: fc.oneof(fc.nat(100), fc.constantFrom(0, 0.5, 10, NaN)), number: fc.oneof(fc.nat(50), fc.constantFrom(0, 100, NaN)),
	});
	const sizes = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(60)).map(([count, stay]) => ({ count, comparable: count + stay }));
	const isAllowed = (count: number, comparable: number, allowed: { share: number; number: number }) =>
		guarded(missing(count), allowed, { comparable }).reason === undefined;

	test('no more are deleted than both limits allow, or three of a list of which half stays', () => {
		fc.assert(
			fc.property(limits, sizes, ({ share, number }, { count, comparable }) => {
				const few = [1, 2, 3].includes(count) && comparable - count >= count && share > 0;
				expect(isAllowed(count, comparable, { share, number })).toBe(count <= number && (few || (count / comparable) * 100 <= share + 1e-9));
			}),
			randomRuns(100),
		);
	});
});
