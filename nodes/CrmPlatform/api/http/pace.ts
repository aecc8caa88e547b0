import { DateTime } from 'luxon';

/** Cap (ms) on the Retry-After of a 429 that reports no window: the limit may concern one path only. */
export const maxRetryAfter = 60_000;
/** Cap (ms) on the length of a window, so that its end is a valid date. */
const maxWindowLength = 366 * 24 * 60 * 60_000;

/** The caller's rate-limit window, as the service reported it. */
export interface RateWindow {
	/** Requests that may still be sent before `resetsAt`. */
	remaining: number;
	/** Unix epoch milliseconds on this machine's clock. */
	resetsAt: number;
}

type Headers = Readonly<Record<string, string | undefined>>;

/**
 * Reads `X-RateLimit-Remaining` and `X-RateLimit-Reset`.
 *
 * @param headers response headers, lower-case names
 * @param now Unix epoch milliseconds on this machine
 * @returns undefined when the service sent no usable window
 */
export function rateWindow(headers: Headers, now: number): RateWindow | undefined {
	const remaining = decimalIn(headers['x-ratelimit-remaining']);
	const reset = decimalIn(headers['x-ratelimit-reset']);
	if (remaining === undefined || reset === undefined) return undefined;
	return { remaining: Math.floor(remaining), resetsAt: now + Math.min(untilReset(reset, serverTime(headers, now)), maxWindowLength) };
}

/**
 * The window after a response. Responses arrive out of order, and within one window the remainder only falls.
 *
 * @param current the window before
 * @param reported the window in the response
 * @param now Unix epoch milliseconds
 */
export function latestWindow(
	current: RateWindow | undefined,
	reported: RateWindow | undefined,
	now: number,
): RateWindow | undefined {
	if (!reported) return current;
	if (!current || current.resetsAt <= now) return reported;
	const difference = reported.resetsAt - current.resetsAt;
	// The Date header is precise to the second, so the end of one window may vary by a second.
	if (Math.abs(difference) > 1_000) return difference > 0 ? reported : current;
	return {
		remaining: Math.min(current.remaining, reported.remaining),
		resetsAt: Math.min(current.resetsAt, reported.resetsAt),
	};
}

/**
 * How many requests may be in flight: an eighth of this process's share of the remainder, which does not
 * include requests in flight.
 *
 * @param share of the plan, 0 to 1
 */
export function concurrencyLimit({ remaining }: RateWindow, share: number): number {
	if (remaining <= 0) return 0;
	// The added 1/64 lets a process with a small share catch up. One request is always allowed.
	return Math.max(1, Math.floor(remaining * (share / 8 + 1 / 64)));
}

/**
 * The share of the plan that this process uses, measured within one window. Of the requests that the service
 * has counted, this process sent at least those with a response, and at most those plus the ones in flight.
 *
 * @param share the previous share
 * @param counted requests that the service has counted since the first response of the window
 * @param responses responses to this process since then
 */
export function measuredShare(share: number, counted: number, responses: number, inFlight: number): number {
	// Too few requests to tell the share of other clients.
	if (counted < 10) return share;
	return Math.min(1, Math.max(share, responses / counted), (responses + inFlight) / counted);
}

/**
 * `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now Unix epoch milliseconds
 * @returns undefined if it is absent or malformed
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
	const value = headers['retry-after']?.trim();
	if (!value) return undefined;
	if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, maxWindowLength);
	const date = DateTime.fromHTTP(value);
	return date.isValid ? Math.min(Math.max(0, date.toMillis() - serverTime(headers, now)), maxWindowLength) : undefined;
}

/** Some services report fractions: `599.0` requests, or half a second. */
const decimalIn = (text = ''): number | undefined => (/^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : undefined);

/**
 * The unit of X-RateLimit-Reset is undocumented and differs between services. Its magnitude tells epoch
 * milliseconds, epoch seconds (GitHub) and seconds from now (RateLimit drafts) apart.
 */
function untilReset(reset: number, serverNow: number): number {
	if (reset > 1e12) return reset - serverNow;
	if (reset > 1e9) return reset * 1000 - serverNow;
	return reset * 1000;
}

/** The server's clock if the response has a Date: the clock of this machine may be minutes off. */
function serverTime(headers: Headers, now: number): number {
	const date = Date.parse(headers.date ?? '');
	return Number.isNaN(date) ? now : date;
}
