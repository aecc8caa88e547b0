import { limitProbeAfter, retryAfter, rateWindow } from './rateLimitHeaders';
import { rateLimited, unavailable } from './statuses';

/** How failed requests are retried. Times are milliseconds. */
export const retryPolicy = {
	/** Maximum attempts per request, including the first. An attempt that the service asks to repeat later does not count. */
	attempts: 5,
	/** Delay before the second attempt; it doubles with each further one. */
	firstDelay: 500,
	maxDelay: 15_000,
	/**
	 * Each of the two waits of a request, for the rate limit and before other retries, may take this long in all. A request
	 * that would have to wait longer fails at once, with the time to retry.
	 */
	maxWait: 5 * 60_000,
	statuses: [408, 425, rateLimited, 500, 502, unavailable, 504] as readonly number[],
};

export type RetryPolicy = typeof retryPolicy;

/** The outcome of one failed attempt. */
export interface FailedAttempt {
	/** HTTP status; undefined without a response. */
	status?: number;
	/** The service's machine-readable error code, such as `idempotency_in_progress`. */
	code?: string;
	/** Lower-case names; empty without a response. */
	headers: Readonly<Record<string, string | undefined>>;
	/** Whether the connection could not be opened, so that the service never saw the request. */
	neverArrived?: boolean;
}

export interface RetryProgress {
	/** Attempts that count, including this one. */
	attempts: number;
	/** How often the service has asked to wait, including this time. */
	deferrals: number;
	/** Milliseconds waited so far: for the rate limit if the response was 429, otherwise before other retries. */
	waited: number;
	/** Whether repeating the request has no further effect: a read, an idempotent method, a write under a key. */
	isRepeatable: boolean;
	/** Whether the request has an idempotency key, even one that the service may ignore. */
	hasKey?: boolean;
	/** Unix epoch milliseconds. */
	now: number;
	/** 0 ≤ random < 1, so that many clients do not retry at the same instant. */
	random: number;
}

export type RetryDecision =
	| { retry: true; delay: number; countsAsAttempt: boolean }
	/** `retryAt` (epoch milliseconds) is when to retry, if the service said so. */
	| { retry: false; retryAt?: number };

/** Decides whether to retry after a failed attempt. Pure: time and randomness are arguments. */
export function decideRetry(failure: FailedAttempt, progress: RetryProgress, policy = retryPolicy): RetryDecision {
	const mayRepeat = progress.isRepeatable || hadNoEffect(failure, progress.hasKey);
	if (!mayRepeat || !isTransient(failure, policy)) return { retry: false };

	const isLimited = failure.status === rateLimited;
	const window = isLimited ? rateWindow(failure.headers, progress.now) : undefined;
	const untilReset = window && Math.max(0, window.resetsAt - progress.now);
	const requestedDelay = retryAfter(failure.headers, progress.now) ?? untilReset;
	// After `limitProbeAfter` at the latest, the queue sends one request to probe the limit. By then the refused request has
	// to be queued again, since it goes first.
	const pause = Math.min(requestedDelay ?? 0, isLimited ? limitProbeAfter : Infinity);
	const countsAsAttempt = !asksToWait(failure);
	const { attempts, deferrals, waited, now, random } = progress;
	// If no time is named, the delay may grow to a fifth of the time waited so far: one minute after five minutes.
	const extendedMax = requestedDelay ? 0 : waited / 5;
	// A deferral is not a failed attempt, so only `maxWait` ends the retries, even if the service says to retry at once.
	const delay = countsAsAttempt
		? (requestedDelay ?? backoff(attempts, random, policy))
		: Math.max(pause, backoff(deferrals, random, policy, extendedMax));
	// After `delay`, the request waits in the queue until the window opens, or until the limit is first probed. That wait has
	// to fit, too.
	const untilOpen = deferrals > 1 ? (untilReset ?? 0) : Math.min(untilReset ?? 0, limitProbeAfter);
	const untilNextAttempt = window?.remaining === 0 ? Math.max(delay, untilOpen) : delay;
	if ((countsAsAttempt && attempts >= policy.attempts) || waited + untilNextAttempt > policy.maxWait) {
		return requestedDelay ? { retry: false, retryAt: now + requestedDelay } : { retry: false };
	}
	return { retry: true, delay, countsAsAttempt };
}

/**
 * Whether the service asks to retry later: it limits the rate (RFC 6585, section 4), or the first attempt
 * of the same write is still running.
 */
export function asksToWait({ status, code }: Pick<FailedAttempt, 'status' | 'code'>): boolean {
	return status === rateLimited || (status === 409 && code === 'idempotency_in_progress');
}

/**
 * Whether the attempt certainly had no effect, so that even a write without a key can be repeated: it never
 * arrived, the service limits the rate, or an attempt with the same key is still running. A 503 with
 * Retry-After proves nothing: gateways also send it after the service has carried out the write.
 */
function hadNoEffect(failure: FailedAttempt, hasKey = false): boolean {
	return failure.neverArrived === true || failure.status === rateLimited || (hasKey && asksToWait(failure));
}

/** Whether the service may have carried out a request although it reported no success. */
export function attemptMayBeDone(failure: FailedAttempt, hasKey?: boolean): boolean {
	const { status } = failure;
	if (hadNoEffect(failure, hasKey)) return false;
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
 * @param extendedMax raises the maximum delay for a service that keeps refusing without a Retry-After
 */
function backoff(attempts: number, random: number, policy: RetryPolicy, extendedMax = 0): number {
	const ceiling = Math.min(Math.max(policy.maxDelay, extendedMax), policy.firstDelay * 2 ** (attempts - 1));
	return ceiling / 2 + (ceiling / 2) * random;
}
