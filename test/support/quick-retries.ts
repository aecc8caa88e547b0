import { systemClock } from '../../nodes/CrmPlatform/base/clock';

/** Shortens waits to a twentieth for one test, which checks the outcome of retries, not their timing. */
export function quickRetries(): void {
	const { sleep } = systemClock;
	const quick = jest.spyOn(systemClock, 'sleep').mockImplementation(async (ms, signal) => await sleep(ms / 20, signal));
	restore = () => quick.mockRestore();
}

let restore = () => {};
afterEach(() => restore());
