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

	test.each(['30', ' 30 ', String(inSeconds(30)), String(now + 30_000)])('ends in half a minute when the reset is %p', (value) => {
		expect(reset(value)).toBe(now + 30_000);
	});

	test('is unknown without a remainder', () => {
		expect(rateWindow({ 'x-ratelimit-reset': '30' }, now)).toBeUndefined();
		expect(rateWindow({ 'x-ratelimit-remaining': 'many', 'x-ratelimit-reset': '30' }, now)).toBeUndefined();
	});

	test.each(['', 'soon', '-1', '1e3', '30.5', 'NaN'])('is unknown when the reset is %p', (value) => {
		expect(reset(value)).toBeUndefined();
	});

	test('ends within 366 days, whatever the service says', () => {
		const year = 366 * 24 * 3_600_000;
		expect(['1000000000', '1000000000000'].map((value) => reset(value))).toEqual([year, year].map((ms) => now + ms));
		expect(retryAfter({ 'retry-after': '900000000' }, now)).toBe(year);
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
		tracker.noteResponse({ status: 200, headers }, at(sentSecond), at(second), 1);
	};
	return { tracker, at, record };
}

test('a thirty-second of the remainder may be in flight, and at least one; without a window, four, or one that leaves room', () => {
	const { tracker, at, record } = newTracker();
	expect([0, 0.3].map((reserve) => tracker.room(at(1), [], reserve))).toEqual([4, 1]);
	record(1, 5, 60);
	expect(tracker.room(at(1), [], 0)).toBe(1);
	record(1, 640, 60);
	expect(tracker.room(at(1), [{ sentAt: at(1) }], 0)).toBe(19);
	expect(tracker.room(at(60), [], 0)).toBe(4);
});

test('the room for others is a share of the largest window of the last hour', () => {
	const { tracker, at, record } = newTracker();
	const hasRoom = (second: number, remaining: number) => {
		record(second, remaining, second + 60);
		return tracker.exhaustedUntil(at(second), 0.5) === undefined;
	};
	const reports: Array<[second: number, remaining: number]> = [[1, 60], [2, 100], [3, 100], [4, 50], [3602, 50], [3603, 50]];
	expect(reports.map((report) => hasRoom(...report))).toEqual([true, true, true, false, false, true]);
});

test('a response that arrives out of order does not make the next ones count as such', () => {
	const { tracker, at, record } = newTracker();
	record(5, 10, 60);
	record(8, 900, 30, { sent: 4 });
	record(9, 3, 50, { sent: 6 });
	expect(tracker.nextChangeAt(at(9))).toBe(at(50));
});

test('the remainder includes the latest request, even if an earlier one is answered after it', () => {
	const { tracker, at, record } = newTracker();
	record(6, 2, 60, { sent: 5 });
	record(7, 3, 60, { sent: 1 });
	const room = (...sent: number[]) => tracker.room(at(10), sent.map((second) => ({ sentAt: at(second) })), 0);
	expect([room(2, 3, 4), room(6), room(5, 6)]).toEqual([1, 1, 0]);
});

test('a refusal closes the rate limit for the time it names, or for longer each time, and the next success opens it', () => {
	const { tracker, at, record } = newTracker();
	record(1, 640, 600);
	const refuse = (second: number, headers = {}, sent = second) => {
		tracker.noteResponse({ status: 429, headers }, at(sent), at(second), 1);
		return tracker.exhaustedUntil(at(second), 0)! - at(second);
	};
	expect(refuse(2, { 'retry-after': '5' })).toBe(5_000);
	const past = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(at(1) / 1000) };
	const waits = [refuse(8), refuse(9, { 'retry-after': '0' }), refuse(12, past), refuse(12), refuse(13, {}, 11)];
	expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
	for (let second = 30; second < 60; second += 1) refuse(second);
	expect(refuse(60)).toBe(60_000);
	record(121, 640, 600);
	expect(tracker.exhaustedUntil(at(121), 0)).toBeUndefined();
	expect(refuse(122)).toBe(500);
	expect(tracker.exhaustedUntil(at(122.5), 0)).toBeUndefined();
	refuse(130, { 'retry-after': '3600' });
	expect([189, 190].map((second) => tracker.exhaustedUntil(at(second), 0))).toEqual([at(3730), undefined]);
});
