import { RateLimitTracker } from '../../nodes/CrmPlatform/api/http/rateLimitTracker';

/** A new tracker, and a function that records a response at one second of a window that ends at another. */
function newTracker() {
	const tracker = new RateLimitTracker();
	const at = (second: number) => 1_800_000_000_000 + second * 1_000;
	const record = (second: number, remaining: number, end: number, { inFlight = 0, sent: sentSecond = second, status = 200 } = {}) => {
		const headers = { 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${at(end)}` };
		tracker.recordResponse({ status, headers }, inFlight, at(sentSecond), at(second));
	};
	return { tracker, at, record };
}

/** The number of concurrent requests for a remainder and a share. */
const limitOf = (remaining: number, share: number) => Math.floor(remaining * (share / 8 + 1 / 64));

describe('the share of the plan', () => {
	test('is all of it once this process has sent everything that the CRM counted', () => {
		const { tracker, at, record } = newTracker();
		for (let left = 1_000; left >= 980; left -= 1) record(1, left, 60);
		expect(tracker.maxInFlight(at(1))).toBe(limitOf(980, 1));
	});

	test('includes requests in flight, which the CRM may have counted already', () => {
		const { tracker, at, record } = newTracker();
		record(1, 1_000, 60, { inFlight: 5 });
		for (const left of [990, 980, 970, 960, 950]) record(1, left, 60, { inFlight: 5 });
		expect(tracker.maxInFlight(at(1))).toBe(limitOf(950, 1 / 8));
	});

	test('does not include refused requests', () => {
		const { tracker, at, record } = newTracker();
		record(1, 640, 60);
		for (let i = 0; i < 20; i += 1) record(1, 580, 60);
		for (let i = 0; i < 40; i += 1) record(1, 580, 60, { status: 429 });
		expect(tracker.maxInFlight(at(1))).toBe(limitOf(580, 20 / 60));
	});

	test.each([
		['that begins when the last one ends', 60, 60, 120],
		['of one second', 1, 1, 2],
		['that begins before the last one was to end', 60, 30, 90],
	])('is measured again in a window %s, whatever the remainder at its start', (_, end, next, nextEnd) => {
		const { tracker, at, record } = newTracker();
		for (let left = 1_000; left >= 900; left -= 1) record(0, left, end);
		for (const left of [890, 880, 870, 860, 850, 840]) record(next, left, nextEnd, { inFlight: 5 });
		expect(tracker.maxInFlight(at(next))).toBe(limitOf(840, 10 / 50));
	});
});

describe('once a window is known', () => {
	const refuse = (tracker: RateLimitTracker, now: number) =>
		tracker.recordResponse({ status: 429, headers: { 'retry-after': '5' } }, 0, now, now);

	test('a refusal without a window changes nothing, as it may concern one path only', () => {
		const { tracker, at, record } = newTracker();
		record(1, 640, 60);
		refuse(tracker, at(2));
		expect(tracker.maxInFlight(at(2))).toBe(limitOf(640, 1 / 8));
	});

	test('the remainder includes the latest request, even if an earlier one is answered after it', () => {
		const { tracker, at, record } = newTracker();
		record(6, 639, 60, { sent: 5 });
		record(7, 640, 60, { sent: 1 });
		expect(tracker.inFlightCutoff(at(10))).toBe(at(5));
	});
});
