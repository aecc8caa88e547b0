import { latestWindow, rateWindow, retryAfter } from '../../nodes/CrmPlatform/api/http/rateLimitHeaders';
import { concurrencyLimit, measuredShare } from '../../nodes/CrmPlatform/api/http/sharedPlan';

const now = Date.parse('2026-11-21T12:00:00Z');
const at = (seconds: number) => now / 1000 + seconds;

const reset = (value: string, more: Record<string, string> = {}) =>
	rateWindow({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value, ...more }, now)?.resetsAt;

describe('the rate-limit window', () => {
	test('is read from a reset in epoch seconds', () => {
		expect(reset(String(at(30)))).toBe(now + 30_000);
	});

	test('is read from a reset in epoch milliseconds', () => {
		expect(reset(String(now + 30_000))).toBe(now + 30_000);
	});

	test('is read from a reset in seconds from now', () => {
		expect(reset('30')).toBe(now + 30_000);
	});

	test('is read from a reset with fractions of a second', () => {
		expect(reset('1.5')).toBe(now + 1_500);
		expect(reset(`${at(30)}.25`)).toBe(now + 30_250);
	});

	test('is measured with the clock of the CRM, however wrong ours is', () => {
		const theirs = new Date(now - 3_600_000).toUTCString();
		expect(reset(String(at(30 - 3600)), { date: theirs })).toBe(now + 30_000);
	});

	test.each(['', 'soon', '-1', '1e3', '.5', 'NaN'])('is unknown when the reset is %p', (value) => {
		expect(reset(value)).toBeUndefined();
	});

	test('is unknown when a header is missing', () => {
		expect(rateWindow({}, now)).toBeUndefined();
		expect(rateWindow({ 'x-ratelimit-reset': '30' }, now)).toBeUndefined();
		expect(rateWindow({ 'x-ratelimit-remaining': '5' }, now)).toBeUndefined();
	});

	test('is read from headers with white space around the numbers', () => {
		expect(rateWindow({ 'x-ratelimit-remaining': ' 5 ', 'x-ratelimit-reset': ' 30 ' }, now)).toEqual({ remaining: 5, resetsAt: now + 30_000 });
	});

	test('ends within 366 days, whatever the service says', () => {
		expect(reset('900000000')).toBe(now + 366 * 24 * 3_600_000);
		expect(retryAfter({ 'retry-after': '900000000' }, now)).toBe(366 * 24 * 3_600_000);
	});
});

describe('requests in flight', () => {
	const limit = (remaining: number, share: number) => concurrencyLimit({ remaining, resetsAt: now + 30_000 }, share);

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
		['a few requests change nothing', { share: 0.5, counted: 9, responses: 9, inFlight: 0 }, 0.5],
		['ten do', { share: 0.5, counted: 10, responses: 10, inFlight: 0 }, 1],
	])('%s', (_, { share, counted, responses, inFlight }, expected) => {
		expect(measuredShare(share, counted, responses, inFlight)).toBe(expected);
	});
});

describe('from two responses about the window', () => {
	const current = { remaining: 5, resetsAt: now + 30_000 };

	test.each([
		['the remainder falls', { remaining: 4, resetsAt: now + 30_000 }, { remaining: 4, resetsAt: now + 30_000 }],
		['an end that seems a second earlier is the better measured one', { remaining: 6, resetsAt: now + 29_000 }, { remaining: 5, resetsAt: now + 29_000 }],
		['an end that seems a second later is not', { remaining: 4, resetsAt: now + 31_000 }, { remaining: 4, resetsAt: now + 30_000 }],
		['a response that arrives out of order changes nothing', { remaining: 6, resetsAt: now + 30_000 }, current],
		['a later window replaces it, whatever its remainder', { remaining: 900, resetsAt: now + 31_001 }, { remaining: 900, resetsAt: now + 31_001 }],
		['an earlier window does not', { remaining: 1, resetsAt: now + 28_999 }, current],
		['no window changes nothing', undefined, current],
	])('%s', (_, reported, expected) => {
		expect(latestWindow(current, reported, now)).toEqual(expected);
	});

	test('a window that has ended is replaced, and so is an unknown one', () => {
		const reported = { remaining: 900, resetsAt: now + 500 };
		expect(latestWindow({ remaining: 0, resetsAt: now }, reported, now)).toBe(reported);
		expect(latestWindow({ remaining: 0, resetsAt: now + 1 }, reported, now)).toEqual({ remaining: 0, resetsAt: now + 1 });
		expect(latestWindow(undefined, reported, now)).toBe(reported);
		expect(latestWindow(undefined, undefined, now)).toBeUndefined();
	});
});

describe('Retry-After', () => {
	test('is read as seconds', () => {
		expect(retryAfter({ 'retry-after': '7' }, now)).toBe(7000);
		expect(retryAfter({ 'retry-after': ' 7 ' }, now)).toBe(7000);
		expect(retryAfter({ 'retry-after': ' ' }, now)).toBeUndefined();
	});

	test('is read as a date', () => {
		const date = new Date(now + 7000).toUTCString();
		expect(retryAfter({ 'retry-after': date }, now)).toBe(7000);
	});

	test('in the past means now', () => {
		const date = new Date(now - 7000).toUTCString();
		expect(retryAfter({ 'retry-after': date }, now)).toBe(0);
	});

	test.each([undefined, 'later', '1e3', '0x10', '1.5', '-5', '+5', '5 s', '5, 7', '2026-11-21T12:00:07Z', 'Nov 21 2026', 'Infinity'])(
		'that is neither digits nor an HTTP date is ignored: %p',
		(value) => {
			expect(retryAfter({ 'retry-after': value }, now)).toBeUndefined();
		},
	);

	test.each(['Saturday, 21-Nov-26 12:00:07 GMT', 'Sat Nov 21 12:00:07 2026'])('is read in the older forms of dates: %s', (value) => {
		expect(retryAfter({ 'retry-after': value }, now)).toBe(7000);
	});

	test.each(['9'.repeat(20), '9'.repeat(300)])('and a reset, however distant, give a date that can be written: %s', (value) => {
		const until = [now + retryAfter({ 'retry-after': value }, now)!, reset(value)!];
		expect(until.map((date) => new Date(date).toISOString())).toHaveLength(2);
	});
});
