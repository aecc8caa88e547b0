import { RateLimitTracker } from '../../nodes/CrmPlatform/api/http/rateLimitTracker';

/** A new tracker, and a function that records a response at one second of a window that ends at another. */
function newTracker() {
	const tracker = new RateLimitTracker();
	const at = (second: number) => 1_800_000_000_000 + second * 1_000;
	const record = (second: number, remaining: number, end: number, { sent: sentSecond = second } = {}) => {
		const headers = { 'x-ratelimit-remaining': `${remaining}`, 'x-ratelimit-reset': `${at(end)}` };
		tracker.recordResponse({ status: 200, headers }, at(sentSecond), at(second));
	};
	return { tracker, at, record };
}

test('a thirty-second of the remainder may be in flight, and at least one request', () => {
	const { tracker, at, record } = newTracker();
	record(1, 640, 60);
	expect(tracker.maxInFlight(at(1))).toBe(20);
	record(2, 5, 60);
	expect(tracker.maxInFlight(at(2))).toBe(1);
});

describe('once a window is known', () => {
	const refuse = (tracker: RateLimitTracker, now: number) =>
		tracker.recordResponse({ status: 429, headers: { 'retry-after': '5' } }, now, now);

	test('a refusal without a window changes nothing, as it may concern one path only', () => {
		const { tracker, at, record } = newTracker();
		record(1, 640, 60);
		refuse(tracker, at(2));
		expect(tracker.maxInFlight(at(2))).toBe(20);
	});

	test('the remainder includes the latest request, even if an earlier one is answered after it', () => {
		const { tracker, at, record } = newTracker();
		record(6, 639, 60, { sent: 5 });
		record(7, 640, 60, { sent: 1 });
		expect(tracker.inFlightCutoff(at(10))).toBe(at(5));
	});
});
