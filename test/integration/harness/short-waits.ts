import { systemClock } from '../../../nodes/CrmPlatform/base/clock';

const { sleep } = systemClock;

/**
 * From now on, in this test file, the nodes wait some milliseconds at most: for retries, between looks, for
 * jobs. Not for tests of how long they wait, nor of rate limits, which last as long as the service says.
 */
export function shortenWaits(maxMs = 20): void {
	systemClock.sleep = async (ms, signal) => await sleep(Math.min(ms, maxMs), signal);
}
