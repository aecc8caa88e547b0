import { retryAfter } from './rateLimitHeaders';
import { rateLimited, unavailable } from './statuses';

/** How failed requests are retried, except after a 429, for which they wait in the queue. Times are milliseconds. */
export const retryPolicy = {
	/** Maximum attempts per request, including the first. While an earlier attempt is still in progress, there are more. */
	attempts: 5,
	/** Delay before the second attempt; it doubles with each further one. */
	firstDelay: 500,
	maxDelay: 15_000,
	/**
	 * Each of the two waits of a request, for the rate limit and before other retries, may take this long in all. A request
	 * that would have to wait longer fails at once, with the time to retry.
	 */
	maxWait: 5 * 60_000,
};

export type RetryPolicy = typeof retryPolicy;

export interface FailedAttempt {
	status?: number;
	/** The service's machine-readable error code, such as `idempotency_in_progress`. */
	code?: string;
	/** Lower-case names; empty without a response. */
	headers: Readonly<Record<string, string | undefined>>;
	/** Whether the connection could not be opened, so that the service never saw the request. */
	neverArrived?: boolean;
}

export interface RetryProgress {
	/** Attempts that the service has not deferred by a 429, including this one. */
	attempts: number;
	/** Milliseconds waited before retries so far. */
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
	| { retry: true; delay: number }
	/** `retryAt` (epoch milliseconds) is when to retry, if the service said so. */
	| { retry: false; retryAt?: number };

/** Decides whether to retry after a failed attempt. Pure: time and randomness are arguments. */
export function decideRetry(failure: FailedAttempt, progress: RetryProgress, policy = retryPolicy): RetryDecision {
	const { attempts, waited, isRepeatable, hasKey, now, random } = progress;
	if (!(isRepeatable || hadNoEffect(failure, hasKey)) || !isTransient(failure)) return { retry: false };
	// The queue waits until the service accepts requests again.
	if (failure.status === rateLimited) return { retry: true, delay: 0 };
	const named = retryAfter(failure.headers, now) ?? 0;
	const delay = Math.max(named, backoff(attempts, random, policy.maxDelay));
	const isLast = attempts >= policy.attempts && !isInProgress(failure);
	if (!isLast && waited + delay <= policy.maxWait) return { retry: true, delay };
	return named > 0 ? { retry: false, retryAt: now + named } : { retry: false };
}

/** Whether the first attempt of the same write is still running. */
const isInProgress = ({ status, code }: FailedAttempt): boolean => status === 409 && code === 'idempotency_in_progress';

/** Whether the service asks to retry later: it limits the rate (RFC 6585, section 4), or an earlier attempt is still running. */
export const asksToWait = (failure: FailedAttempt): boolean => failure.status === rateLimited || isInProgress(failure);

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

/** Whether another attempt may succeed. */
export function isTransient(failure: FailedAttempt): boolean {
	const { status } = failure;
	if (status === undefined || asksToWait(failure)) return true;
	// Proxies such as Cloudflare use their own statuses, 520 and above, if the origin is unreachable.
	return [408, 425, 500, 502, unavailable, 504].includes(status) || (status >= 520 && status <= 599);
}

/** Exponential, with the upper half random ("equal jitter"). */
export function backoff(attempts: number, random: number, maxDelay: number): number {
	const ceiling = Math.min(maxDelay, retryPolicy.firstDelay * 2 ** (attempts - 1));
	return ceiling / 2 + (ceiling / 2) * random;
}
