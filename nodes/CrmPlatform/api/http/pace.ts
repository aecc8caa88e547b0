import { DateTime } from 'luxon';

/** Maximum time (ms) for which a refusal that names no window is taken at its word: it may concern one path only. */
export const longestPause = 60_000;
/** Milliseconds; no window is longer, and no date fails. */
const longestWindow = 366 * 24 * 60 * 60_000;

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
	const remaining = wholeNumber(headers['x-ratelimit-remaining']);
	const reset = wholeNumber(headers['x-ratelimit-reset']);
	if (remaining === undefined || reset === undefined) return undefined;
	return { remaining, resetsAt: now + Math.min(untilReset(reset, serverTime(headers, now)), longestWindow) };
}

/**
 * The window after an answer: answers overtake each other, and within one window the remainder only
 * falls.
 *
 * @param known the window before
 * @param told the window the answer reports
 * @param now Unix epoch milliseconds
 */
export function latestWindow(
	known: RateWindow | undefined,
	told: RateWindow | undefined,
	now: number,
): RateWindow | undefined {
	if (!told) return known;
	if (!known || known.resetsAt <= now) return told;
	const apart = told.resetsAt - known.resetsAt;
	// The Date header has whole seconds, so one window may seem to end at two moments.
	if (Math.abs(apart) > 1_000) return apart > 0 ? told : known;
	return {
		remaining: Math.min(known.remaining, told.remaining),
		resetsAt: Math.min(known.resetsAt, told.resetsAt),
	};
}

/**
 * How many requests may be under way: the share of what is left that this process has used lately, half
 * of it at a time. Answers in flight have not said yet what they took, and other processes send, too.
 *
 * @param share of the plan, 0 to 1
 */
export function mostUnderWay({ remaining }: RateWindow, share: number): number {
	if (remaining <= 0) return 0;
	// The addition lets one who has used little catch up. One is always allowed: it may be the last.
	return Math.max(1, Math.floor(remaining * (share / 8 + 1 / 64)));
}

/**
 * The share of the plan that this process uses, as far as the answers of one window tell: of the requests
 * that the service has counted, at least those answered are ours, and at most those under way, too.
 *
 * @param share as it was known before
 * @param counted requests that the service counted since the window's first answer
 * @param answered requests of this process among them that were answered
 */
export function measuredShare(share: number, counted: number, answered: number, underWay: number): number {
	// A few requests say nothing about other clients.
	if (counted < 10) return share;
	return Math.min(1, Math.max(share, answered / counted), (answered + underWay) / counted);
}

/**
 * `Retry-After` in milliseconds from now, given as digits or HTTP date (RFC 9110, section 10.2.3).
 *
 * @param now Unix epoch milliseconds
 * @returns undefined where it is absent or anything else
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
	const value = headers['retry-after']?.trim();
	if (!value) return undefined;
	if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, longestWindow);
	const date = DateTime.fromHTTP(value);
	return date.isValid ? Math.min(Math.max(0, date.toMillis() - serverTime(headers, now)), longestWindow) : undefined;
}

/**
 * The unit of X-RateLimit-Reset is documented nowhere and differs between services: epoch
 * milliseconds, epoch seconds (GitHub) and seconds from now (RateLimit drafts) cannot be mistaken
 * for each other by their size.
 */
function untilReset(reset: number, serverNow: number): number {
	if (reset > 1e12) return reset - serverNow;
	if (reset > 1e9) return reset * 1000 - serverNow;
	return reset * 1000;
}

/** The server's own clock where the answer has a Date: a user's machine may be minutes off. */
function serverTime(headers: Headers, now: number): number {
	const date = Date.parse(headers.date ?? '');
	return Number.isNaN(date) ? now : date;
}

function wholeNumber(text: string | undefined): number | undefined {
	if (text === undefined || text.trim() === '') return undefined;
	const number = Number(text);
	return Number.isFinite(number) && number >= 0 ? number : undefined;
}
