import { latestWindow, limitProbeAfter, rateWindow, retryAfter, sameWindowTolerance, type RateWindow } from './rateLimitHeaders';
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
/** Response time (ms) after which other requests no longer wait for a response. */
const slowAfter = 1_000;

/** The rate limit as responses report it, and the resulting number of concurrent requests. Times are epoch milliseconds. */
export class RateLimitTracker {
	private window: RateWindow | undefined;
	/** When a response last reported the window, and since when responses have reported an exhausted one. */
	private reportedAt = 0;
	private exhaustedAt: number | undefined;
	/** Since when requests have waited without a response that says how many may be sent; undefined while none waits. */
	private stall: { since: number; isWindowKnown: boolean } | undefined;
	/** Send time of the latest request that the reported remainder includes. */
	private countedSentAt = -Infinity;
	/** Whether any response has reported a window. */
	private isWindowReported = false;
	/** Whether requests succeed although no response has ever reported a window. */
	private isUnlimited = false;
	/** The highest remainder of the last hour: the presumed size of a window. */
	private largestWindow = { requests: 0, reportedAt: -Infinity };

	/** Call this while at least one request is waiting. */
	markWaiting(now: number): void {
		const isWindowKnown = this.isWindowKnown(now);
		if (this.stall?.isWindowKnown !== isWindowKnown) this.stall = { since: now, isWindowKnown };
	}

	/** Call this when no request is waiting or in flight. */
	markIdle(): void {
		this.stall = undefined;
	}

	/** @param sentAt when the request was sent */
	recordResponse({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, sentAt: number, now: number): void {
		const reported = rateWindow(headers, now);
		if (this.stall?.isWindowKnown) this.stall = undefined;
		if (reported) this.recordWindow(reported, sentAt, now);
		else if (status === rateLimited) {
			const pause = Math.min(retryAfter(headers, now) ?? 0, limitProbeAfter);
			this.window = latestWindow(this.window, { remaining: 0, resetsAt: now + pause }, now);
			this.reportedAt = now;
			this.exhaustedAt = undefined;
			this.stall = undefined;
			this.isUnlimited = false;
		} else if (status < 400 && !this.isWindowReported && !this.isWindowKnown(now)) this.isUnlimited = true;
	}

	/**
	 * The limit of requests in flight: another one may be sent while there are fewer.
	 *
	 * @param reserve part of the window (0 to 1) left to other clients
	 */
	maxInFlight(now: number, reserve = 0): number {
		// Without responses the limit grows, so that a hanging service does not block every workflow.
		const growth = 2 ** Math.max(0, Math.floor((now - (this.stall?.since ?? now)) / slowAfter));
		if (this.window && this.isWindowKnown(now)) {
			const available = this.withoutReserve(this.window, reserve);
			return Math.min(available.remaining, concurrencyLimit(available) * growth);
		}
		if (this.isUnlimited) return Infinity;
		// After an exhausted window, other clients wait for the next one, too.
		return (reserve > 0 || this.window?.remaining === 0 ? 1 : unknownConcurrency) * growth;
	}

	/** The send time from which requests in flight count: earlier ones are in the remainder, or in the previous window. */
	inFlightCutoff(now: number): number {
		return this.isWindowKnown(now) ? Math.min(this.countedSentAt, now - slowAfter) : (this.stall?.since ?? now);
	}

	/**
	 * When a request may be sent for which only the reserve is left: at the end of the window, or when the limit is probed
	 * for the first time, since the service may report a wrong end; undefined if more is left.
	 *
	 * @param reserve part of the window (0 to 1) left to other clients
	 */
	nextChanceAt(now: number, reserve: number): number | undefined {
		const until = this.exhaustedUntil(now, reserve);
		const isProbed = this.exhaustedAt === undefined || this.reportedAt - this.exhaustedAt >= limitProbeAfter;
		return until === undefined || isProbed ? until : Math.min(until, this.exhaustedAt! + limitProbeAfter);
	}

	/**
	 * The end of a window in which only the reserve is left; undefined if more is left.
	 *
	 * @param reserve part of the window (0 to 1) left to other clients
	 */
	exhaustedUntil(now: number, reserve: number): number | undefined {
		if (!this.window || !this.isWindowKnown(now)) return undefined;
		return this.withoutReserve(this.window, reserve).remaining <= 0 ? this.window.resetsAt : undefined;
	}

	private withoutReserve({ remaining, resetsAt }: RateWindow, reserve: number): RateWindow {
		return { remaining: remaining - Math.floor(this.largestWindow.requests * reserve), resetsAt };
	}

	/** When more requests may be sent than now, even if no response arrives. */
	nextIncreaseAt(now: number): number {
		const since = this.stall?.since ?? now;
		const nextGrowth = since + (Math.floor((now - since) / slowAfter) + 1) * slowAfter;
		if (!this.window || !this.isWindowKnown(now)) return nextGrowth;
		return Math.min(this.window.resetsAt, this.window.remaining > 0 ? nextGrowth : this.reportedAt + limitProbeAfter);
	}

	isWindowKnown(now: number): boolean {
		if (this.window === undefined || this.window.resetsAt <= now) return false;
		// While nothing is sent, no response can correct an exhausted window.
		return this.window.remaining > 0 || Math.abs(now - this.reportedAt) < limitProbeAfter;
	}

	private recordWindow(reported: RateWindow, sentAt: number, now: number): void {
		const contradicts = endsEarlier(reported, this.window) || reported.remaining > (this.window?.remaining ?? 0);
		if (reported.remaining >= this.largestWindow.requests || now - this.largestWindow.reportedAt >= largestWindowTtl) {
			this.largestWindow = { requests: reported.remaining, reportedAt: now };
		}
		// A response to a request sent after the last report is not out of order: it replaces the window.
		const before = sentAt >= this.reportedAt && contradicts ? undefined : this.window;
		this.window = latestWindow(before, reported, now) ?? reported;
		if (!endsEarlier(reported, this.window)) this.reportedAt = now;
		this.exhaustedAt = this.window.remaining > 0 ? undefined : (this.exhaustedAt ?? now);
		this.isWindowReported = true;
		this.isUnlimited = false;
		if (!this.isWindowKnown(now)) return;
		this.stall = undefined;
		this.countedSentAt = Math.max(this.countedSentAt, sentAt);
	}
}

const endsEarlier = (reported: RateWindow, current: RateWindow | undefined): boolean =>
	current !== undefined && current.resetsAt - reported.resetsAt > sameWindowTolerance;

/** How many requests may be in flight: the remainder does not include them. One request is always allowed. */
function concurrencyLimit({ remaining }: RateWindow): number {
	return remaining <= 0 ? 0 : Math.max(1, Math.floor(remaining * shareInFlight));
}
