import { latestWindow, rateWindow, retryAfter, type RateWindow } from './rateLimitHeaders';
import { backoff } from './retry';
import { rateLimited } from './statuses';
import type { HttpResponse } from './transport';

/** Concurrent requests while the window is unknown: as many as one execution sends. */
const unknownConcurrency = 4;
/** How long (ms) the largest window counts: the plan may have been downgraded. */
const largestWindowTtl = 60 * 60_000;
/**
 * The share of the remainder that this process has in flight at most: other processes may use the plan, too. With more,
 * those of 16 processes are refused often (`npm run bench scale`).
 */
const shareInFlight = 1 / 32;
/** Response time (ms) after which other requests no longer wait for a response: a hanging service must not block every workflow. */
export const slowAfter = 1_000;
/**
 * While the service accepts no requests, one checks at least this often (ms) whether that still holds: the service may
 * have reported it wrongly, the plan may have been upgraded, or the clock of this machine may have been set back.
 */
const checkAfter = 60_000;

/** The rate limit as responses report it. Times are Unix epoch milliseconds. */
export class RateLimitTracker {
	private window: RateWindow | undefined;
	/** When a response last reported the window. */
	private reportedAt = 0;
	/** Send time of the latest request that the reported remainder includes. */
	private countedSentAt = 0;
	/** Since and until when the service accepts no requests: it has refused one, or the window is used up. */
	private closed: { since: number; until: number } | undefined;
	/** Consecutive refusals. */
	private refusals = 0;
	/** The highest remainder of the last hour: the presumed size of a window. */
	private largestWindow = { requests: 0, reportedAt: 0 };

	/** @param random 0 ≤ random < 1 */
	noteResponse({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, sentAt: number, now: number, random: number): void {
		const reported = rateWindow(headers, now);
		const isLater = sentAt >= (this.closed?.since ?? 0);
		if (isLater && status !== rateLimited) [this.closed, this.refusals] = [undefined, 0];
		if (reported) this.noteWindow(reported, sentAt, now);
		if (status !== rateLimited) return;
		if (isLater) this.refusals += 1;
		const named = retryAfter(headers, now) ?? (reported && reported.resetsAt - now) ?? 0;
		this.closed = { since: now, until: now + Math.max(named, backoff(this.refusals, random, checkAfter)) };
	}

	private noteWindow(reported: RateWindow, sentAt: number, now: number): void {
		if (reported.remaining >= this.largestWindow.requests || now - this.largestWindow.reportedAt >= largestWindowTtl) {
			this.largestWindow = { requests: reported.remaining, reportedAt: now };
		}
		// A response to a request sent after the last report is not out of order: it replaces the window.
		const window = sentAt >= this.reportedAt ? reported : latestWindow(this.window, reported, now);
		if (window === this.window) return;
		this.window = window;
		this.reportedAt = now;
		this.countedSentAt = Math.max(this.countedSentAt, sentAt);
		if (window.remaining <= 0) this.closed = { since: now, until: window.resetsAt };
	}

	/** How many more requests may be sent. @param reserve part of the window (0 to 1) left to other clients */
	room(now: number, inFlight: Iterable<{ sentAt: number }>, reserve: number): number {
		if (this.stillClosed(now)) return 0;
		let recent = 0;
		let uncounted = 0;
		for (const { sentAt } of inFlight) {
			if (sentAt > now - slowAfter) recent += 1;
			// Earlier ones are in the remainder, or in the previous window.
			if (sentAt >= this.countedSentAt) uncounted += 1;
		}
		// After an exhausted window, other clients wait for the next one, too.
		const window = this.openWindow(now);
		if (!window) return (reserve > 0 || this.closed ? 1 : unknownConcurrency) - recent;
		const remaining = this.remainingOf(window, reserve);
		return Math.min(remaining - uncounted, Math.max(1, Math.floor(remaining * shareInFlight)) - recent);
	}

	/** When requests may be sent again; undefined if some may be sent now. */
	exhaustedUntil(now: number, reserve: number): number | undefined {
		const window = this.openWindow(now);
		return this.stillClosed(now)?.until ?? (window && this.remainingOf(window, reserve) <= 0 ? window.resetsAt : undefined);
	}

	/** When requests may be sent again, or the number that may be sent is no longer known. */
	nextChangeAt(now: number): number {
		const closed = this.stillClosed(now);
		return closed ? Math.min(closed.until, closed.since + checkAfter) : (this.openWindow(now)?.resetsAt ?? Infinity);
	}

	/** Whether a window is known, or that the service accepts no requests. */
	isKnown(now: number): boolean {
		return (this.stillClosed(now) ?? this.openWindow(now)) !== undefined;
	}

	private stillClosed(now: number) {
		return this.closed && now < this.closed.until && Math.abs(now - this.closed.since) < checkAfter ? this.closed : undefined;
	}

	private openWindow(now: number): RateWindow | undefined {
		return this.window && this.window.resetsAt > now && this.window.remaining > 0 ? this.window : undefined;
	}

	private remainingOf({ remaining }: RateWindow, reserve: number): number {
		return remaining - Math.floor(this.largestWindow.requests * reserve);
	}
}
