import { latestWindow, rateWindow, retryAfter } from '../../nodes/CrmPlatform/api/http/rateLimitHeaders';
import { RateLimitTracker } from '../../nodes/CrmPlatform/api/http/rateLimitTracker';

const now = Date.parse('2026-11-21T12:00:00Z');
const inSeconds = (seconds: number) => now / 1000 + seconds;

const reset = (value: string, more: Record<string, string> = {}) =>
	rateWindow({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': value, ...more }, now)?.resetsAt;

describe('the rate-limit window', () => {
	test('is measured with the clock of the CRM, however wrong ours is', () => {
		const theirs = new Date(now - 3_600_000).toUTCString();
		expect(reset(String(inSeconds(30 - 3600)), { date: theirs })).toBe(now + 30_000);
	});

	test.each(['30', ' 30.0 ', String(inSeconds(30)), String(now + 30_000)])('ends in half a minute when the reset is %p', (value) => {
		expect(reset(value)).toBe(now + 30_000);
	});

	test('is unknown without a remainder', () => {
		expect(rateWindow({ 'x-ratelimit-reset': '30' }, now)).toBeUndefined();
	});

	test.each(['', 'soon', '-1', '1e3', '.5', 'NaN'])('is unknown when the reset is %p', (value) => {
		expect(reset(value)).toBeUndefined();
	});

	test('ends within 366 days, whatever the service says', () => {
		expect(reset('900000000')).toBe(now + 366 * 24 * 3_600_000);
		expect(retryAfter({ 'retry-after': '900000000' }, now)).toBe(366 * 24 * 3_600_000);
	});
});

describe('from two responses about the window', () => {
	const current = { remaining: 5, resetsAt: now + 30_000 };

	test.each([
		['the remainder falls', { remaining: 4, resetsAt: now + 30_000 }, { remaining: 4, resetsAt: now + 30_000 }],
		[
			'an end that seems a second earlier is more accurate', { remaining: 6, resetsAt: now + 29_000 },
			{ remaining: 5, resetsAt: now + 29_000 },
		],
		['an end that seems a second later is not', { remaining: 4, resetsAt: now + 31_000 }, { remaining: 4, resetsAt: now + 30_000 }],
		['a response that arrives out of order changes nothing', { remaining: 6, resetsAt: now + 30_000 }, current],
		[
			'a later window replaces it, whatever its remainder', { remaining: 900, resetsAt: now + 31_001 },
			{ remaining: 900, resetsAt: now + 31_001 },
		],
		['an earlier window does not', { remaining: 1, resetsAt: now + 28_999 }, current],
	])('%s', (_, reported, expected) => {
		expect(latestWindow(current, reported, now)).toEqual(expected);
	});

	test('a window that has ended is replaced, and so is an unknown one', () => {
		const reported = { remaining: 900, resetsAt: now + 500 };
		expect(latestWindow({ remaining: 0, resetsAt: now }, reported, now)).toBe(reported);
		expect(latestWindow({ remaining: 0, resetsAt: now + 1 }, reported, now)).toEqual({ remaining: 0, resetsAt: now + 1 });
		expect(latestWindow(undefined, reported, now)).toBe(reported);
	});
});

describe('Retry-After', () => {
	test.each([
		['as seconds', '7', 7_000],
		['with white space around the number', ' 7 ', 7_000],
		['as a date', new Date(now + 7_000).toUTCString(), 7_000],
		['as a date in the past, which means now', new Date(now - 7_000).toUTCString(), 0],
		['as a date of RFC 850', 'Saturday, 21-Nov-26 12:00:07 GMT', 7_000],
		['as a date of asctime', 'Sat Nov 21 12:00:07 2026', 7_000],
	])('is read %s', (_, value, ms) => {
		expect(retryAfter({ 'retry-after': value }, now)).toBe(ms);
	});

	test.each([undefined, ' ', 'later', '1e3', '0x10', '1.5', '-5', '+5', '5 s', '5, 7', '2026-11-21T12:00:07Z', 'Nov 21 2026', 'Infinity'])(
		'that is neither digits nor an HTTP date is ignored: %p',
		(value) => {
			expect(retryAfter({ 'retry-after': value }, now)).toBeUndefined();
		},
	);
});

/** A new tracker, and a function that records a response at one second of a window that ends at another. */
function newTracker() {
	const tracker = new RateLimitTracker();
	const at = (second: number) => 1_800_000_000_000 + second * 1_000;
	const record = (second: number, remaining: number, end: number, { sent: sentSecond = second } = {}) => {
		const headers = { 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${at(end)}` };
		tracker.recordResponse({ status: 200, headers }, at(sentSecond), at(second), 1);
	};
	return { tracker, at, record };
}

test('a thirty-second of the remainder may be in flight, and at least one request', () => {
	const { tracker, at, record } = newTracker();
	record(1, 640, 60);
	expect(tracker.room(at(1), [{ sentAt: at(1) }], 0)).toBe(19);
	record(2, 5, 60);
	expect(tracker.room(at(2), [], 0)).toBe(1);
});

test('the remainder includes the latest request, even if an earlier one is answered after it', () => {
	const { tracker, at, record } = newTracker();
	record(6, 2, 60, { sent: 5 });
	record(7, 3, 60, { sent: 1 });
	const room = (...sent: number[]) => tracker.room(at(10), sent.map((second) => ({ sentAt: at(second) })), 0);
	expect([room(2, 3, 4), room(6), room(6, 7)]).toEqual([1, 1, 0]);
});

test('a refusal closes the rate limit for the time it names, or for longer each time, and the next success opens it', () => {
	const { tracker, at, record } = newTracker();
	record(1, 640, 600);
	const refuse = (second: number, headers = {}) => {
		tracker.recordResponse({ status: 429, headers }, at(second), at(second), 1);
		return tracker.exhaustedUntil(at(second), 0)! - at(second);
	};
	expect(refuse(2, { 'retry-after': '5' })).toBe(5_000);
	const past = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(at(1) / 1000) };
	expect([refuse(8), refuse(9, { 'retry-after': '0' }), refuse(12, past), refuse(20)]).toEqual([1_000, 2_000, 4_000, 8_000]);
	for (let second = 30; second < 60; second += 1) refuse(second);
	expect(refuse(60)).toBe(60_000);
	record(121, 640, 600);
	expect(tracker.exhaustedUntil(at(121), 0)).toBeUndefined();
	expect(refuse(122)).toBe(500);
});
