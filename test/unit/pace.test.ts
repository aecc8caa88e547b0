import { delayBeforeNext, rateWindow, retryAfter } from '../../nodes/CrmPlatform/api/http/pace';

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
