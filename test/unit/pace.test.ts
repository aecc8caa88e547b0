import { delayBeforeNext, latestWindow, rateWindow, retryAfter } from '../../nodes/CrmPlatform/api/http/pace';

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

	test('is measured on the clock of the service, however wrong ours is', () => {
		const theirs = new Date(now - 3_600_000).toUTCString();
		expect(reset(String(at(30 - 3600)), { date: theirs })).toBe(now + 30_000);
	});

	test.each(['', 'soon', '-1', 'NaN'])('is unknown when the reset is %p', (value) => {
		expect(reset(value)).toBeUndefined();
	});

	test('is unknown when the headers are missing', () => {
		expect(rateWindow({}, now)).toBeUndefined();
	});
});

describe('the next request', () => {
	test('goes at once while the window has room', () => {
		expect(delayBeforeNext({ remaining: 1, resetsAt: now + 30_000 }, 0, now)).toBe(0);
	});

	test('waits for the reset when the window is used up', () => {
		expect(delayBeforeNext({ remaining: 0, resetsAt: now + 30_000 }, 0, now)).toBe(30_000);
	});

	test('goes at once when the reset has passed', () => {
		expect(delayBeforeNext({ remaining: 0, resetsAt: now - 1 }, 0, now)).toBe(0);
	});

	test('goes at once when nothing is known', () => {
		expect(delayBeforeNext(undefined, 0, now)).toBe(0);
	});
});

describe('requests in flight', () => {
	test.each([
		[3, 2, 0],
		[3, 3, 30_000],
		[3, 4, 30_000],
		[1, 1, 30_000],
	])('take their share: %d left with %d in flight', (remaining, underWay, delay) => {
		expect(delayBeforeNext({ remaining, resetsAt: now + 30_000 }, underWay, now)).toBe(delay);
	});
});

describe('of two answers about the window', () => {
	const known = { remaining: 5, resetsAt: now + 30_000 };

	test.each([
		['the one that leaves less', { remaining: 4, resetsAt: now + 30_000 }],
		['the one that leaves less, though its end seems a second earlier', { remaining: 4, resetsAt: now + 29_000 }],
		['the one that leaves less, though its end seems a second later', { remaining: 4, resetsAt: now + 31_000 }],
		['a later window, whatever it leaves', { remaining: 900, resetsAt: now + 31_001 }],
	])('counts %s', (_, told) => {
		expect(latestWindow(known, told, now)).toBe(told);
	});

	test.each([
		['one that was overtaken', { remaining: 6, resetsAt: now + 30_000 }],
		['one that leaves more, a second later', { remaining: 6, resetsAt: now + 31_000 }],
		['one of an earlier window', { remaining: 1, resetsAt: now + 28_999 }],
		['none', undefined],
	])('%s changes nothing', (_, told) => {
		expect(latestWindow(known, told, now)).toBe(known);
	});

	test('a window that is over counts no more, and neither does one that nobody knows', () => {
		const told = { remaining: 900, resetsAt: now + 500 };
		expect(latestWindow({ remaining: 0, resetsAt: now }, told, now)).toBe(told);
		expect(latestWindow({ remaining: 0, resetsAt: now + 1 }, told, now)).toEqual({ remaining: 0, resetsAt: now + 1 });
		expect(latestWindow(undefined, told, now)).toBe(told);
		expect(latestWindow(undefined, undefined, now)).toBeUndefined();
	});
});

describe('Retry-After', () => {
	test('is understood in seconds', () => {
		expect(retryAfter({ 'retry-after': '7' }, now)).toBe(7000);
	});

	test('is understood as a date', () => {
		const date = new Date(now + 7000).toUTCString();
		expect(retryAfter({ 'retry-after': date }, now)).toBe(7000);
	});

	test('in the past means now', () => {
		const date = new Date(now - 7000).toUTCString();
		expect(retryAfter({ 'retry-after': date }, now)).toBe(0);
	});

	test('that means nothing is not there', () => {
		expect(retryAfter({ 'retry-after': 'later' }, now)).toBeUndefined();
		expect(retryAfter({}, now)).toBeUndefined();
	});
});
