import { systemClock } from '../../../nodes/CrmPlatform/base/clock';

/** For one test, waits of seconds take a twentieth: what comes of several retries is looked at, not when. */
export function quickRetries(): void {
	const { sleep } = systemClock;
	const quick = jest.spyOn(systemClock, 'sleep').mockImplementation(async (ms, signal) => await sleep(ms / 20, signal));
	restore = () => quick.mockRestore();
}

let restore = () => {};
afterEach(() => restore());
