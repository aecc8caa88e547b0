const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** How long to wait after each failed attempt: the schedule of Standard Webhooks 1.0.0. */
export const retryDelays = [
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

/** So long without success, and a subscription is disabled. */
export const disableAfterMs = 5 * 24 * hour;

const spread = 0.1;
const longestWait = 24 * hour;

/**
 * How long to wait for the next attempt, a little longer or shorter each time, so that what failed
 * together does not come together again.
 *
 * @param failed how many attempts have failed, at least 1
 * @param retryAfter the header of the receiver, which is never asked sooner; up to a day
 * @param random gives numbers in [0, 1)
 * @returns milliseconds, or undefined if that was the last attempt
 */
export function nextDelay(
	failed: number,
	retryAfter: string | null,
	now: number,
	random: () => number = Math.random,
): number | undefined {
	const delay = retryDelays[failed - 1];
	if (delay === undefined) return undefined;
	const asked = Math.min(parseRetryAfter(retryAfter, now), longestWait);
	return Math.max(delay * (1 - spread + 2 * spread * random()), asked);
}

/** Seconds or a date (RFC 9110, 10.2.3); 0 for what cannot be read. */
function parseRetryAfter(value: string | null, now: number): number {
	if (value === null) return 0;
	if (/^\d+$/.test(value)) return Number(value) * second;
	return Math.max(0, Date.parse(value) - now || 0);
}
