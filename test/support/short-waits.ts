import { systemClock } from '../../nodes/CrmPlatform/base/clock';

const { sleep } = systemClock;

/**
 * Limits every wait of the nodes in this test file to some milliseconds: for retries, between looks, for jobs.
 * Not for tests of the length of waits, nor of rate limits, which last as long as the service says.
 */
export function shortenWaits(maxMs = 20): void {
	systemClock.sleep = async (ms, signal) => await sleep(Math.min(ms, maxMs), signal);
}
