import { attemptMayBeDone, decideRetry, retryPolicy, type FailedAttempt, type RetryProgress } from '../../nodes/CrmPlatform/api/http/retry';

const now = Date.parse('2026-11-21T12:00:00Z');

const decide = (failure: Partial<FailedAttempt>, progress: Partial<RetryProgress> = {}) =>
	decideRetry(
		{ headers: {}, ...failure },
		{ attempts: 1, deferrals: 1, waited: 0, isRepeatable: true, now, random: 1, ...progress },
	);

test.each([408, 425, 429, 500, 502, 503, 504, 520, 524, 530, 599])('%i is retried', (status) => {
	expect(decide({ status }).retry).toBe(true);
});

test.each([400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 501, 505, 511, 600])('%i is not retried', (status) => {
	expect(decide({ status }).retry).toBe(false);
});

test('a request with a broken connection is retried', () => {
	expect(decide({}).retry).toBe(true);
});

describe('a write that is not safe to repeat', () => {
	test.each([undefined, 408, 425, 500, 502, 503, 504, 522])(
		'is not retried if it may have been carried out: %p',
		(status) => {
			const failure = status === undefined ? {} : { status };
			expect(decide(failure, { isRepeatable: false }).retry).toBe(false);
		},
	);

	test.each([
		['429', { status: 429 }],
		['a connection that could not be opened', { neverArrived: true }],
	])('is retried if it was not carried out: %s', (_, failure) => {
		expect(decide(failure, { isRepeatable: false }).retry).toBe(true);
	});

	test('is not retried after 503 with Retry-After, which a gateway sends for a write that was carried out', () => {
		expect(decide({ status: 503, headers: { 'retry-after': '1' } }, { isRepeatable: false }).retry).toBe(false);
	});

	test('waits for an earlier attempt in progress only under a key', () => {
		const failure = { status: 409, code: 'idempotency_in_progress' };
		expect(decide(failure, { isRepeatable: false, hasKey: true }).retry).toBe(true);
		expect(decide(failure, { isRepeatable: false }).retry).toBe(false);
	});
});

test('of all conflicts, only a write still in progress is retried', () => {
	expect(decide({ status: 409, code: 'duplicate' }).retry).toBe(false);
	expect(decide({ status: 409, code: 'idempotency_in_progress' }).retry).toBe(true);
	expect(decide({ status: 422, code: 'idempotency_in_progress' }).retry).toBe(false);
});

test.each<[failure: Partial<FailedAttempt>, mayBeDone: boolean]>([
	[{}, true],
	[{ status: 408 }, true],
	[{ status: 425 }, true],
	[{ status: 500 }, true],
	[{ status: 409, code: 'idempotency_in_progress' }, true],
	[{ status: 409 }, false],
	[{ status: 429 }, false],
	[{ status: 499 }, false],
	[{ neverArrived: true }, false],
])('whether a request that failed with %j may have been carried out: %p', (failure, mayBeDone) => {
	expect(attemptMayBeDone({ headers: {}, ...failure })).toBe(mayBeDone);
});

test('an attempt that is refused while another one under its key is running has certainly done nothing', () => {
	expect(attemptMayBeDone({ status: 409, code: 'idempotency_in_progress', headers: {} }, true)).toBe(false);
});

test('the wait doubles with each attempt up to the longest', () => {
	const delays = [1, 2, 3, 4].map((attempts) => decide({ status: 500 }, { attempts }));
	expect(delays).toEqual([500, 1000, 2000, 4000].map((delay) => ({ retry: true, delay, countsAsAttempt: true })));
});

test('the upper half of the wait is random, so that clients do not retry together', () => {
	expect(decide({ status: 500 }, { random: 0 })).toMatchObject({ delay: 250 });
});

test('Retry-After takes precedence over every other wait', () => {
	expect(decide({ status: 503, headers: { 'retry-after': '9' } })).toMatchObject({ delay: 9000 });
});

test('a response that asks to slow down does not count as a failed attempt', () => {
	expect(decide({ status: 429 }, { attempts: retryPolicy.attempts })).toMatchObject({ retry: true });
	expect(decide({ status: 500 }, { attempts: retryPolicy.attempts })).toEqual({ retry: false });
});

test.each([
	['without headers', {}],
	['with Retry-After 0', { 'retry-after': '0' }],
	['with a Retry-After that has passed', { 'retry-after': new Date(now - 60_000).toUTCString() }],
	['with a reset that has passed', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 - 60) }],
])('a 429 %s is waited for longer each time', (_, headers) => {
	const delays = [1, 2, 3, 9].map((deferrals) => decide({ status: 429, headers }, { deferrals }));
	expect(delays).toEqual([500, 1000, 2000, 15_000].map((delay) => ({ retry: true, delay, countsAsAttempt: false })));
});

test('a service that refuses for minutes and names no time is asked after a fifth of the time so far', () => {
	expect(decide({ status: 429 }, { deferrals: 20, waited: 200_000 })).toMatchObject({ delay: 40_000 });
});

test('a wait beyond the cap fails, and the error tells when to retry', () => {
	const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '3600' };
	// The CRM may report a wrong end: the limit is probed once, after a minute.
	expect(decide({ status: 429, headers })).toMatchObject({ retry: true, delay: 60_000 });
	expect(decide({ status: 429, headers }, { deferrals: 2, waited: 60_000 })).toEqual({ retry: false, retryAt: now + 3_600_000 });
	expect(decide({ status: 503, headers: { 'retry-after': '3600' } })).toEqual({ retry: false, retryAt: now + 3_600_000 });
});

test('a 429 that names hours is retried after a minute, like all requests; if that is too long, the error tells when to retry', () => {
	const headers = { 'retry-after': '3600' };
	expect(decide({ status: 429, headers })).toEqual({ retry: true, delay: 60_000, countsAsAttempt: false });
	expect(decide({ status: 429, headers }, { waited: 241_000 })).toEqual({ retry: false, retryAt: now + 3_600_000 });
});

test('only the end of an exhausted window is waited for, and a wait up to the cap is accepted', () => {
	const left = (remaining: string) => ({ 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': '3600', 'retry-after': '1' });
	expect(decide({ status: 503, headers: { ...left('0'), 'retry-after': '' } })).toMatchObject({ delay: 500 });
	expect([left('5'), left('0')].map((headers) => decide({ status: 429, headers }, { deferrals: 2 }).retry)).toEqual([true, false]);
	expect(decide({ status: 429, headers: { 'retry-after': '60' } }, { waited: 240_000 }).retry).toBe(true);
});
