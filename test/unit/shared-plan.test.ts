import { concurrencyLimit, measuredShare } from '../../nodes/CrmPlatform/api/http/sharedPlan';

describe('requests in flight', () => {
	const limit = (remaining: number, share: number) => concurrencyLimit({ remaining, resetsAt: 30_000 }, share);

	test.each([
		[1000, 1, 140],
		[1000, 0.25, 46],
		[100, 1, 14],
		[100, 0.125, 3],
	])('are a part of the remainder: %d left, and a share of %d', (remaining, share, expected) => {
		expect(limit(remaining, share)).toBe(expected);
	});

	test.each([1, 2, 7])('are at least one while %d are left, however small the share', (remaining) => {
		expect(limit(remaining, 0.001)).toBe(1);
	});

	test('are none when nothing is left', () => {
		expect(limit(0, 1)).toBe(0);
	});
});

describe('the share of the plan', () => {
	test.each([
		['answered requests are certainly ours', { share: 0.1, counted: 100, responses: 50, inFlight: 0 }, 0.5],
		['requests in flight may be among those counted', { share: 0.1, counted: 100, responses: 5, inFlight: 45 }, 0.1],
		['the rest was sent by other clients', { share: 1, counted: 100, responses: 20, inFlight: 5 }, 0.25],
		['a share is at most 1', { share: 0.5, counted: 10, responses: 12, inFlight: 5 }, 1],
		['nine requests are too few to measure it', { share: 0.5, counted: 9, responses: 9, inFlight: 0 }, 0.5],
		['ten are enough', { share: 0.5, counted: 10, responses: 10, inFlight: 0 }, 1],
	])('%s', (_, { share, counted, responses, inFlight }, expected) => {
		expect(measuredShare(share, counted, responses, inFlight)).toBe(expected);
	});
});
