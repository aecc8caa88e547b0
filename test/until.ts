import { setTimeout as sleep } from 'node:timers/promises';

/** Less than the limit of a test (jest.config.js), which could not say what never came. */
const LONGEST_MS = 240_000;

const PAUSE_MS = 20;

/**
 * Waits until something is so.
 *
 * @param what it is, for the error
 * @param look gives something falsy as long as it is not so
 * @returns what it gives then
 * @throws {Error} if it takes too long
 */
export async function until<T>(
	what: string,
	look: () => T | Promise<T>,
	longestMs = LONGEST_MS,
): Promise<Exclude<T, undefined | null | false>> {
	// Some tests set the clock.
	for (const begun = performance.now(); ; await sleep(PAUSE_MS)) {
		const found = await look();
		if (found) return found as Exclude<T, undefined | null | false>;
		if (performance.now() - begun > longestMs) throw new Error(`This never came: ${what}.`);
	}
}
