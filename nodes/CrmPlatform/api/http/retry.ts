import { longestPause, retryAfter, rateWindow } from './pace';

/** The service limits the rate (RFC 6585, section 4): nothing was done. */
export const rateLimited = 429;
/** It cannot answer now: something may have been done. */
export const unavailable = 503;

/** How failed requests are retried. Times are milliseconds. */
export const retryPolicy = {
	/** Attempts at one request, the first included. Being asked to wait does not count as one. */
	tries: 5,
	/** Before the second attempt; doubles with each further one. */
	firstDelay: 500,
	maxDelay: 15_000,
	/** Total time one request may spend waiting; beyond it, it fails and says when to return. */
	maxWait: 5 * 60_000,
	statuses: [408, 425, rateLimited, 500, 502, unavailable, 504] as readonly number[],
};

export type RetryPolicy = typeof retryPolicy;

/** The outcome of one failed attempt. */
export interface FailedAttempt {
	/** HTTP status, or undefined when no answer came. */
	status?: number;
	/** The service's machine-readable error code, such as `idempotency_in_progress`. */
	code?: string;
	/** Lower-case names; empty when no answer came. */
	headers: Readonly<Record<string, string | undefined>>;
	/** Whether the connection could not be opened, so that the service never saw the request. */
	neverArrived?: boolean;
}

export interface RetryProgress {
	/** Attempts that counted so far, this one included. */
	tries: number;
	/** How often the service has asked to wait, this time included. */
	refusals: number;
	/** Milliseconds spent waiting so far. */
	waited: number;
	/** Whether the request can be repeated without effect: a read, an idempotent method, a write under a key. */
	repeatable: boolean;
	/** Whether it carries an idempotency key, whether or not the service honors it. */
	hasKey?: boolean;
	/** Unix epoch milliseconds. */
	now: number;
	/** 0 ≤ random < 1, so that many clients do not return at the same instant. */
	random: number;
}

export type RetryDecision =
	| { retry: true; delay: number; counts: boolean }
	/** `returnAt` (epoch milliseconds) says when to come back, where the service said so. */
	| { retry: false; returnAt?: number };

/** Decides whether to retry after a failed attempt. Pure: time and chance are arguments. */
export function decideRetry(failure: FailedAttempt, progress: RetryProgress, policy = retryPolicy): RetryDecision {
	const mayRepeat = progress.repeatable || nothingWasDone(failure, progress.hasKey);
	if (!mayRepeat || !isTransient(failure, policy)) return { retry: false };

	const isLimited = failure.status === rateLimited;
	const window = isLimited ? rateWindow(failure.headers, progress.now) : undefined;
	const untilReset = window && Math.max(0, window.resetsAt - progress.now);
	const asked = retryAfter(failure.headers, progress.now) ?? untilReset;
	// By then, the queue lets one request ask, and those that were refused are to be among the first.
	const pause = isLimited ? Math.min(asked ?? 0, longestPause) : (asked ?? 0);
	const counts = !asksToWait(failure);
	const { tries, refusals, waited, now, random } = progress;
	// Being asked to wait is not a failed attempt, so only the longest wait ends it, also where the
	// service says to come back at once.
	const delay = counts
		? (asked ?? backoff(tries, random, policy))
		: Math.max(pause, backoff(refusals, random, policy, asked ? 0 : waited / 5));
	const needed = window?.remaining === 0 ? Math.max(delay, untilReset ?? 0) : delay;
	if ((counts && tries >= policy.tries) || waited + needed > policy.maxWait) {
		return asked ? { retry: false, returnAt: now + asked } : { retry: false };
	}
	return { retry: true, delay, counts };
}

/**
 * Whether the service asks to come back later: it limits the rate (RFC 6585, section 4), or the
 * first attempt of the same write is still running.
 */
export function asksToWait({ status, code }: Pick<FailedAttempt, 'status' | 'code'>): boolean {
	return status === rateLimited || (status === 409 && code === 'idempotency_in_progress');
}

/**
 * Whether the attempt certainly had no effect, so that even a write without a key can be repeated:
 * it never arrived, the service limits the rate, or it knows the key of an attempt still running. A 503
 * with Retry-After does not prove it: gateways also send it for a service that has carried out the write.
 */
function nothingWasDone(failure: FailedAttempt, hasKey = false): boolean {
	return failure.neverArrived === true || failure.status === rateLimited || (hasKey && asksToWait(failure));
}

/** Whether the service may have carried out a request that it did not report as successful. */
export function leavesOutcomeOpen(failure: FailedAttempt, hasKey = false): boolean {
	const { status } = failure;
	if (nothingWasDone(failure, hasKey)) return false;
	return status === undefined || status === 408 || status === 425 || status >= 500 || asksToWait(failure);
}

function isTransient(failure: FailedAttempt, policy: RetryPolicy): boolean {
	const { status } = failure;
	if (status === undefined || asksToWait(failure)) return true;
	// Proxies such as Cloudflare use their own statuses, 520 and above, if the origin is unreachable.
	return policy.statuses.includes(status) || (status >= 520 && status <= 599);
}

/**
 * Exponential, with the upper half random ("equal jitter").
 *
 * @param longer allows more than the maximum: a service that refuses without saying for how long is asked ever more rarely
 */
function backoff(times: number, random: number, policy: RetryPolicy, longer = 0): number {
	const ceiling = Math.min(Math.max(policy.maxDelay, longer), policy.firstDelay * 2 ** (times - 1));
	return ceiling / 2 + (ceiling / 2) * random;
}
