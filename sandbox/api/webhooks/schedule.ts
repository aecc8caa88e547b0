const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delay after each failed attempt: the schedule of Standard Webhooks 1.0.0. */
const retryDelays = [
	5 * second,
	5 * minute,
	30 * minute,
	2 * hour,
	5 * hour,
	10 * hour,
	14 * hour,
	20 * hour,
	24 * hour,
] as const;

/** A subscription that fails for this long is disabled. */
export const disableAfterMs = 5 * 24 * hour;

const spread = 0.1;
const maxWait = 24 * hour;

/**
 * Returns the delay before the next attempt, with jitter, so that deliveries that failed together are
 * not retried together.
 *
 * @param failed the number of failed attempts, at least 1
 * @param retryAfter the receiver's header, respected up to a day
 * @param random returns numbers in [0, 1)
 * @returns milliseconds; undefined after the last attempt
 */
export function nextDelay(
	failed: number,
	retryAfter: string | null,
	now: number,
	random: () => number = Math.random,
): number | undefined {
	const delay = retryDelays[failed - 1];
	if (delay === undefined) return undefined;
	const requestedDelay = Math.min(parseRetryAfter(retryAfter, now), maxWait);
	return Math.max(delay * (1 - spread + 2 * spread * random()), requestedDelay);
}

/** Parses seconds or a date (RFC 9110, 10.2.3) to milliseconds; 0 if it is invalid. */
function parseRetryAfter(value: string | null, now: number): number {
	if (value === null) return 0;
	if (/^\d+$/.test(value)) return Number(value) * second;
	return Math.max(0, Date.parse(value) - now || 0);
}
