import type { RateWindow } from './rateLimitHeaders';

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
 * The share of the plan that this process uses, measured within one window. Of the requests that the service has
 * counted, this process sent at least those with a response and at most also those in flight.
 *
 * @param share the previous share
 * @param counted requests that the service has counted since the first response of the window
 * @param responses responses to this process since then
 */
export function measuredShare(share: number, counted: number, responses: number, inFlight: number): number {
	// Too few requests for a measurement.
	if (counted < 10) return share;
	return Math.min(1, Math.max(share, responses / counted), (responses + inFlight) / counted);
}
