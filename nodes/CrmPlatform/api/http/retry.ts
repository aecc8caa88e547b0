import { retryAfter, rateWindow } from './pace';

/** How failed requests are tried again. */
export const retryPolicy = {
	/** Tries of one request, the first included. Being told to slow down does not count as one. */
	tries: 5,
	/** Milliseconds before the second try; doubles each time. */
	firstDelay: 500,
	longestDelay: 15_000,
	/** Milliseconds one request may spend waiting in all; beyond it, it fails and says when to return. */
	longestWait: 5 * 60_000,
	statuses: [408, 425, 429, 500, 502, 503, 504] as readonly number[],
};

export type RetryPolicy = typeof retryPolicy;

/** What came of one try. */
export interface FailedAttempt {
	/** HTTP status, or undefined when no answer came. */
	status?: number;
	/** The service's machine-readable error code, such as `idempotency_in_progress`. */
	code?: string;
	/** Lower-case names; empty when no answer came. */
	headers: Readonly<Record<string, string | undefined>>;
}

export interface RetryProgress {
	/** Tries that counted so far, this one included. */
	tries: number;
	/** How often the service has asked to slow down (429), this time included. */
	refusals: number;
	/** Milliseconds spent waiting so far. */
	waited: number;
	/** Reading, or writing under an idempotency key: trying again cannot do it twice. */
	repeatable: boolean;
	/** Unix epoch milliseconds. */
	now: number;
	/** 0 ≤ random < 1, so that many clients do not return at the same instant. */
	random: number;
}

export type RetryDecision =
	| { retry: true; delay: number; counts: boolean }
	/** `returnAt` (epoch ms) says when it is worth coming back, where the service told. */
	| { retry: false; returnAt?: number };

/** Decides what to do after a failed try. Pure: time and chance are arguments. */
export function decideRetry(failure: FailedAttempt, progress: RetryProgress, policy = retryPolicy): RetryDecision {
	if (!progress.repeatable || !isPassing(failure, policy)) return { retry: false };

	const asked = askedDelay(failure, progress.now);
	const counts = failure.status !== 429;
	const { tries, refusals, waited, now, random } = progress;
	// Being told to slow down is no failed try: only the wait keeps it from going on without end, also
	// where the service says there is none.
	const delay = counts
		? (asked ?? backoff(tries, random, policy))
		: Math.max(asked ?? 0, backoff(refusals, random, policy));
	if ((counts && tries >= policy.tries) || waited + delay > policy.longestWait) {
		return asked ? { retry: false, returnAt: now + asked } : { retry: false };
	}
	return { retry: true, delay, counts };
}

function isPassing({ status, code }: FailedAttempt, policy: RetryPolicy): boolean {
	if (status === undefined) return true;
	// The only conflict that passes by itself: the first try of the same write is still running.
	if (status === 409) return code === 'idempotency_in_progress';
	return policy.statuses.includes(status);
}

function askedDelay({ status, headers }: FailedAttempt, now: number): number | undefined {
	const asked = retryAfter(headers, now);
	if (asked !== undefined || status !== 429) return asked;
	const window = rateWindow(headers, now);
	return window && Math.max(0, window.resetsAt - now);
}

/** Exponential, with the upper half random ("equal jitter"). */
function backoff(times: number, random: number, policy: RetryPolicy): number {
	const ceiling = Math.min(policy.longestDelay, policy.firstDelay * 2 ** (times - 1));
	return ceiling / 2 + (ceiling / 2) * random;
}
