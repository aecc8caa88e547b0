import { DateTime } from 'luxon';

import { wholeNumber } from '../../base/numbers';

/** The end of one window may vary by this (ms) between responses, since the Date header is precise to the second. */
const sameWindowTolerance = 1_000;
/** Maximum length (ms) of a window, so that its end is a valid date. */
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
 * @returns undefined if the service sent no usable window
 */
export function rateWindow(headers: Headers, now: number): RateWindow | undefined {
	const remaining = wholeNumber(headers['x-ratelimit-remaining']);
	const reset = wholeNumber(headers['x-ratelimit-reset']);
	if (remaining === undefined || reset === undefined) return undefined;
	return { remaining, resetsAt: now + Math.min(untilReset(reset, serverTime(headers, now)), maxWindowLength) };
}

/**
 * The window after a response. Responses may arrive out of order, and within one window the remainder only decreases.
 *
 * @param current the window before
 * @param reported the window in the response
 * @param now Unix epoch milliseconds
 */
export function latestWindow(current: RateWindow | undefined, reported: RateWindow, now: number): RateWindow {
	if (!current || current.resetsAt <= now) return reported;
	const difference = reported.resetsAt - current.resetsAt;
	if (Math.abs(difference) > sameWindowTolerance) return difference > 0 ? reported : current;
	return {
		remaining: Math.min(current.remaining, reported.remaining),
		resetsAt: Math.min(current.resetsAt, reported.resetsAt),
	};
}

/**
 * `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now Unix epoch milliseconds
 * @returns undefined if it is absent or malformed
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
	const value = headers['retry-after']?.trim() ?? '';
	if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, maxWindowLength);
	const date = DateTime.fromHTTP(value);
	return date.isValid ? Math.min(Math.max(0, date.toMillis() - serverTime(headers, now)), maxWindowLength) : undefined;
}

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
