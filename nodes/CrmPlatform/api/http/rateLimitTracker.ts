import { latestWindow, limitProbeAfter, rateWindow, retryAfter, sameWindowTolerance, type RateWindow } from './rateLimitHeaders';
import { rateLimited } from './statuses';
import type { HttpResponse } from './transport';

/** Concurrent requests while the window is unknown: as many as one execution sends. */
const unknownConcurrency = 4;
/** How long (ms) the largest window counts: the plan may have been downgraded. */
const largestWindowTtl = 60 * 60_000;
/** The share of the plan until it is measured: small, since other processes may use the plan, too. */
const initialShare = 1 / 8;
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
	/** Share of the plan (0 to 1) that this process uses. */
	private share = initialShare;
	/** The remainder in the first response of the window, and the number of responses since. */
	private baseline = { remaining: 0, responses: 0 };
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

	/**
	 * @param inFlight other requests of this process that have no response yet
	 * @param sentAt when the request was sent
	 */
	recordResponse({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, inFlight: number, sentAt: number, now: number): void {
		const reported = rateWindow(headers, now);
		if (this.stall?.isWindowKnown) this.stall = undefined;
		if (reported) this.recordWindow(reported, status, inFlight, sentAt, now);
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
			return Math.min(available.remaining, concurrencyLimit(available, this.share) * growth);
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

	private recordWindow(reported: RateWindow, status: number, inFlight: number, sentAt: number, now: number): void {
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
		const isNew = !before || before.resetsAt <= now || this.window.resetsAt - before.resetsAt > sameWindowTolerance;
		if (isNew) this.baseline = { remaining: reported.remaining, responses: 0 };
		else if (status !== rateLimited) this.baseline.responses += 1;
		const counted = this.baseline.remaining - this.window.remaining;
		this.share = measuredShare(this.share, counted, this.baseline.responses, inFlight);
	}
}

const endsEarlier = (reported: RateWindow, current: RateWindow | undefined): boolean =>
	current !== undefined && current.resetsAt - reported.resetsAt > sameWindowTolerance;

/**
 * How many requests may be in flight: an eighth of this process's share of the remainder, which does not
 * include requests in flight.
 *
 * @param share of the plan, 0 to 1
 */
function concurrencyLimit({ remaining }: RateWindow, share: number): number {
	if (remaining <= 0) return 0;
	// The added 1/64 lets a process with a small share catch up. One request is always allowed.
	return Math.max(1, Math.floor(remaining * (share / 8 + 1 / 64)));
}

/**
 * The share of the plan that this process uses, measured within one window. Of the requests that the service has
 * counted, this process sent at least those with a response and at most also those in flight.
 *
 * @param share the previous share
 * @param counted requests that the service has counted since the first response of the window
 * @param responses responses to this process since then
 */
function measuredShare(share: number, counted: number, responses: number, inFlight: number): number {
	// Too few requests for a measurement.
	if (counted < 10) return share;
	return Math.min(1, Math.max(share, responses / counted), (responses + inFlight) / counted);
}
