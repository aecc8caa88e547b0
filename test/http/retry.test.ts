import {
	afterFailure, attemptMayBeDone, noAttempts, usualLimits, type FailedAttempt, type NextStep, type RetriedRequest, type RetryProgress,
} from '../../nodes/CrmPlatform/api/http/retry';

const now = Date.parse('2026-11-21T12:00:00Z');

type State = RetriedRequest & RetryProgress & { random: number };

function decide(failure: Partial<FailedAttempt>, { random = 1, ...more }: Partial<State> = {}) {
	const request = { method: 'POST', isRepeatable: true, hasKey: false, ...more };
	return afterFailure(request, { ...noAttempts, ...more }, { headers: {}, ...failure }, { now, random }).step;
}
const isRetried = (...attempt: Parameters<typeof decide>) => decide(...attempt).next !== 'fail';

test.each([408, 425, 429, 500, 502, 503, 504, 520, 524, 530, 599])('%i is retried', (status) => {
	expect(isRetried({ status })).toBe(true);
});

test.each([400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 501, 505, 511, 600])('%i is not retried', (status) => {
	expect(isRetried({ status })).toBe(false);
});

describe('a write that is not safe to repeat', () => {
	test.each([undefined, 408, 425, 500, 502, 503, 504, 522])(
		'is not retried if it may have been carried out: %p',
		(status) => {
			const failure = status === undefined ? {} : { status };
			expect(isRetried(failure, { isRepeatable: false })).toBe(false);
		},
	);

	test.each([
		['429', { status: 429 }],
		['a connection that could not be opened', { neverArrived: true }],
	])('is retried if it was not carried out: %s', (_, failure) => {
		expect(isRetried(failure, { isRepeatable: false })).toBe(true);
	});

	test('is not retried after 503 with Retry-After, which a gateway sends for a write that was carried out', () => {
		expect(isRetried({ status: 503, headers: { 'retry-after': '1' } }, { isRepeatable: false })).toBe(false);
	});

	test('waits for an earlier attempt in progress only under a key', () => {
		const failure = { status: 409, code: 'idempotency_in_progress' };
		expect(isRetried(failure, { isRepeatable: false, hasKey: true })).toBe(true);
		expect(isRetried(failure, { isRepeatable: false })).toBe(false);
	});
});

test('of all conflicts, only a write still in progress is retried', () => {
	expect(isRetried({ status: 409, code: 'duplicate' })).toBe(false);
	expect(isRetried({ status: 409, code: 'idempotency_in_progress' })).toBe(true);
	expect(isRetried({ status: 422, code: 'idempotency_in_progress' })).toBe(false);
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
	expect(delays).toEqual([500, 1000, 2000, 4000].map((delay) => ({ next: 'wait', ms: delay })));
});

test('the upper half of the wait is random, so that clients do not retry together', () => {
	expect(decide({ status: 500 }, { random: 0 })).toMatchObject({ ms: 250 });
});

test('Retry-After is waited for if it is longer', () => {
	const after = (seconds: string) => decide({ status: 503, headers: { 'retry-after': seconds } });
	expect([after('9'), after('0')]).toMatchObject([{ ms: 9000 }, { ms: 500 }]);
});

test('attempts that fail are counted, those that the CRM defers are not', () => {
	const last = { attempts: usualLimits.attempts };
	expect(decide({ status: 500 }, last)).toEqual({ next: 'fail' });
	expect(decide({ status: 409, code: 'idempotency_in_progress' }, last)).toMatchObject({ next: 'wait' });
	expect(decide({ status: 429 }, last)).toEqual({ next: 'queue' });
});

test('a wait beyond the cap fails, and the error tells when to retry; a wait up to the cap is accepted', () => {
	const after = (seconds: string, waited = 0) => decide({ status: 503, headers: { 'retry-after': seconds } }, { waited });
	expect(after('3600')).toEqual({ next: 'fail', retryAt: now + 3_600_000 });
	expect([after('60', 240_000).next, after('60', 240_001).next]).toEqual(['wait', 'fail']);
});

describe('what the attempts of a request have shown', () => {
	const read = { method: 'GET', isRepeatable: true, hasKey: false };
	const write = { method: 'PUT', isRepeatable: true, hasKey: false };
	const oneWrite = { method: 'POST', isRepeatable: false, hasKey: false };
	const deletion = { ...write, method: 'DELETE' };

	const nothing = { mayBeDone: false, isUncertain: false, wasDeferred: false };
	const uncertain = { ...nothing, mayBeDone: true, isUncertain: true };
	const deferred = { ...nothing, wasDeferred: true };
	test.each<[string, RetriedRequest, Array<Partial<FailedAttempt>>, Partial<RetryProgress>]>([
		['a write that was not sent', oneWrite, [], nothing],
		['a write that never arrived', oneWrite, [{ neverArrived: true }], nothing],
		['a write that was redirected', oneWrite, [{ status: 300 }], nothing],
		['a write that was refused in a complete response', oneWrite, [{ status: 200, isFinal: true }], nothing],
		['a write with an unreadable response', oneWrite, [{ status: 200 }], uncertain],
		['a write with an unreadable response, then deferred', oneWrite, [{ status: 200 }, { status: 429 }], { ...uncertain, wasDeferred: true }],
		['a repeatable write that failed', write, [{ status: 500 }], { ...uncertain, attempts: 2 }],
		['a repeatable write that failed, then was deferred', write, [{ status: 500 }, { status: 429 }], { ...deferred, mayBeDone: true }],
		['a read that was deferred, then failed', read, [{ status: 429 }, { status: 500 }], { ...deferred, attempts: 2 }],
	])('%s', (_, request, failures, shown) => {
		const progress = failures.reduce(
			(before, failure) => afterFailure(request, before, { headers: {}, ...failure }, { now, random: 1 }).progress, noAttempts,
		);
		expect(progress).toMatchObject(shown);
	});

	test.each<[string, RetriedRequest, Partial<FailedAttempt>, mayBeDone: boolean, NextStep]>([
		['gone after a lost response', deletion, { status: 404, isGone: true }, true, { next: 'succeed' }],
		['gone before', deletion, { status: 404, isGone: true }, false, { next: 'fail' }],
		['refused', deletion, { status: 403 }, true, { next: 'fail' }],
		['gone, to be changed', write, { status: 404, isGone: true }, true, { next: 'fail' }],
	])('a record that is %s', (_, request, failure, mayBeDone, step) => {
		const before = { ...noAttempts, mayBeDone };
		expect(afterFailure(request, before, { headers: {}, ...failure }, { now, random: 1 }).step).toEqual(step);
	});
});
