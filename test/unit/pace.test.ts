import { latestWindow, measuredShare, mostUnderWay, rateWindow, retryAfter } from '../../nodes/CrmPlatform/api/http/pace';

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

describe('requests under way', () => {
	const most = (remaining: number, share: number) => mostUnderWay({ remaining, resetsAt: now + 30_000 }, share);

	test.each([
		[1000, 1, 140],
		[1000, 0.25, 46],
		[100, 1, 14],
		[100, 0.125, 3],
	])('are a part of what is left: %d left, and a share of %d', (remaining, share, expected) => {
		expect(most(remaining, share)).toBe(expected);
	});

	test.each([1, 2, 7])('are never less than one while %d are left, however small the share', (remaining) => {
		expect(most(remaining, 0.001)).toBe(1);
	});

	test('are none when nothing is left', () => {
		expect(most(0, 1)).toBe(0);
	});
});

describe('the share of the plan', () => {
	test.each([
		['what has been answered is surely ours', { share: 0.1, counted: 100, answered: 50, underWay: 0 }, 0.5],
		['what is under way may be ours', { share: 0.1, counted: 100, answered: 5, underWay: 45 }, 0.1],
		['the rest is the work of others', { share: 1, counted: 100, answered: 20, underWay: 5 }, 0.25],
		['no share is more than the whole', { share: 0.5, counted: 10, answered: 12, underWay: 5 }, 1],
		['a few requests say nothing', { share: 0.5, counted: 9, answered: 9, underWay: 0 }, 0.5],
		['ten do', { share: 0.5, counted: 10, answered: 10, underWay: 0 }, 1],
	])('%s', (_, { share, counted, answered, underWay }, expected) => {
		expect(measuredShare(share, counted, answered, underWay)).toBe(expected);
	});
});

describe('of two answers about the window', () => {
	const known = { remaining: 5, resetsAt: now + 30_000 };

	test.each([
		['what is left falls', { remaining: 4, resetsAt: now + 30_000 }, { remaining: 4, resetsAt: now + 30_000 }],
		['an end that seems a second earlier is the better measured one', { remaining: 6, resetsAt: now + 29_000 }, { remaining: 5, resetsAt: now + 29_000 }],
		['an end that seems a second later is not', { remaining: 4, resetsAt: now + 31_000 }, { remaining: 4, resetsAt: now + 30_000 }],
		['an answer that was overtaken changes nothing', { remaining: 6, resetsAt: now + 30_000 }, known],
		['a later window counts, whatever it leaves', { remaining: 900, resetsAt: now + 31_001 }, { remaining: 900, resetsAt: now + 31_001 }],
		['an earlier window does not', { remaining: 1, resetsAt: now + 28_999 }, known],
		['no window changes nothing', undefined, known],
	])('%s', (_, told, expected) => {
		expect(latestWindow(known, told, now)).toEqual(expected);
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

	test.each([undefined, 'later', '1e3', '0x10', '1.5', '-5', '+5', '5 s', '5, 7', '2026-11-21T12:00:07Z', 'Nov 21 2026', 'Infinity'])(
		'that is neither digits nor an HTTP date is not there: %p',
		(value) => {
			expect(retryAfter({ 'retry-after': value }, now)).toBeUndefined();
		},
	);

	test.each(['Saturday, 21-Nov-26 12:00:07 GMT', 'Sat Nov 21 12:00:07 2026'])('is understood in the older forms of dates: %s', (value) => {
		expect(retryAfter({ 'retry-after': value }, now)).toBe(7000);
	});

	test.each(['9'.repeat(20), '9'.repeat(300)])('and a reset, however far, name a date that can be written: %s', (value) => {
		const until = [now + retryAfter({ 'retry-after': value }, now)!, reset(value)!];
		expect(until.map((date) => new Date(date).toISOString())).toHaveLength(2);
	});
});
