import { retryAfter } from './rateLimitHeaders';
import { rateLimited, unavailable } from './statuses';

/** How often a request is sent, and how long (ms) it may wait: one that would wait longer fails at once, with the time to retry. */
export interface RequestLimits {
	/** Maximum attempts, including the first. While an earlier attempt is still in progress, there are more. */
	attempts: number;
	/**
	 * Total before its retries, except after a 429; also the total in the queue, for the rate limit, while a person waits. The
	 * two are counted separately: an hour in the queue must not prevent a retry.
	 */
	wait: number;
	/** Total in the queue if nobody waits for it, as in an import. */
	unattendedWait: number;
}

/** The same limit for each wait, as *Maximum Wait* sets it. */
export const equalWaits = (ms: number): Omit<RequestLimits, 'attempts'> => ({ wait: ms, unattendedWait: ms });

export const usualLimits: RequestLimits = { attempts: 5, ...equalWaits(5 * 60_000), unattendedWait: 60 * 60_000 };

/** Delay (ms) before the second attempt; it doubles with each further one. */
const firstDelay = 500;
const maxDelay = 15_000;

export interface FailedAttempt {
	status?: number;
	/** The service's machine-readable error code, such as `idempotency_in_progress`. */
	code?: string;
	/** Lower-case names; empty without a response. */
	headers: Readonly<Record<string, string | undefined>>;
	/** Whether the connection could not be opened, so that the service never saw the request. */
	neverArrived?: boolean;
	/** Whether the answer is complete, so that a retry would return the same. */
	isFinal?: boolean;
	/** Whether the API says that what was requested does not exist. */
	isGone?: boolean;
}

export interface RetriedRequest {
	method: string;
	/** Whether repeating it has no further effect: a read, an idempotent method, a write under a key. */
	isRepeatable: boolean;
	/** Whether it has an idempotency key, even one that the service may ignore. */
	hasKey: boolean;
}

export interface RetryProgress {
	/** Attempts that the service has not deferred by a 429, including the next one. */
	attempts: number;
	/** Milliseconds waited before retries. */
	waited: number;
	/** Milliseconds waited in the queue. */
	queued: number;
	/** Whether any attempt may have written something. */
	mayBeDone: boolean;
	/** Whether it may have written something that the service has not confirmed: for a repeatable write, the last attempt decides. */
	isUncertain: boolean;
	wasDeferred: boolean;
}

export const noAttempts: RetryProgress = { attempts: 1, waited: 0, queued: 0, mayBeDone: false, isUncertain: false, wasDeferred: false };

export type NextStep =
	| { next: 'wait'; ms: number }
	/** It is sent again in its turn: after a 429, the queue waits until the service accepts requests. */
	| { next: 'queue' }
	/** `retryAt` (epoch milliseconds) is when to retry, if the service said so. */
	| { next: 'fail'; retryAt?: number }
	/** An earlier attempt, whose response was lost, has deleted the record. */
	| { next: 'succeed' };

/** Decides what follows a failed attempt. Pure: time (epoch milliseconds) and randomness (0 ≤ random < 1) are arguments. */
export function afterFailure(
	{ method, isRepeatable, hasKey }: RetriedRequest,
	before: RetryProgress,
	failure: FailedAttempt,
	{ now, random }: { now: number; random: number },
	limits = usualLimits,
): { progress: RetryProgress; step: NextStep } {
	const { status = 0, headers, isFinal = false, isGone = false } = failure;
	// A success without readable data does not show whether the record was written.
	const isUnreadable = status > 0 && status < 300 && !isFinal;
	const lastMayBeDone = method !== 'GET' && (isUnreadable || attemptMayBeDone(failure, hasKey));
	const mayBeDone = before.mayBeDone || lastMayBeDone;
	const isUncertain = isRepeatable ? lastMayBeDone : mayBeDone;
	const progress = { ...before, mayBeDone, isUncertain, wasDeferred: before.wasDeferred || asksToWait(failure) };

	if (method === 'DELETE' && isGone && before.mayBeDone) return { progress, step: { next: 'succeed' } };
	const mayRepeat = isRepeatable || hadNoEffect(failure, hasKey);
	if (isFinal || !mayRepeat || !isTransient(failure)) return { progress, step: { next: 'fail' } };
	if (status === rateLimited) return { progress, step: { next: 'queue' } };
	const named = retryAfter(headers, now) ?? 0;
	const ms = Math.max(named, backoff(before.attempts, random, maxDelay));
	const waited = before.waited + ms;
	const isLast = before.attempts >= limits.attempts && !isInProgress(failure);
	if (isLast || waited > limits.wait) return { progress, step: { next: 'fail', ...(named > 0 && { retryAt: now + named }) } };
	return { progress: { ...progress, attempts: before.attempts + 1, waited }, step: { next: 'wait', ms } };
}

/** Whether the first attempt of the same write is still running. */
export const isInProgress = ({ status, code }: Pick<FailedAttempt, 'status' | 'code'>): boolean => status === 409 && code === 'idempotency_in_progress';

/** Whether the service asks to retry later: it limits the rate (RFC 6585, section 4), or an earlier attempt is still running. */
const asksToWait = (failure: FailedAttempt): boolean => failure.status === rateLimited || isInProgress(failure);

/**
 * Whether the attempt certainly had no effect, so that even a write without a key can be repeated. A 503 with Retry-After
 * proves nothing: gateways also send it after the service has carried out the write.
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
export function backoff(attempts: number, random: number, longest: number): number {
	const ceiling = Math.min(longest, firstDelay * 2 ** (attempts - 1));
	return ceiling / 2 + (ceiling / 2) * random;
}
