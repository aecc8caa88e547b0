import { setTimeout as sleep } from 'node:timers/promises';

/** Less than the limit of a test (jest.config.js), which could not say what never came. */
const MAX_WAIT_MS = 240_000;

/** For a hundred thousand records, thousands of events, and many kills. */
export const HOUR_MS = 3_600_000;

/** Between two looks: longer the longer it takes. */
const FIRST_PAUSE_MS = 2;
const MAX_PAUSE_MS = 200;
const PAUSE_GROWTH = 1.1;

/**
 * Waits until something is so.
 *
 * @param look gives something falsy as long as it is not so
 * @returns what it gives then
 * @throws {Error} with what it looked for, if it takes too long
 */
export async function until<T>(
	look: () => T | Promise<T>,
	maxMs = MAX_WAIT_MS,
): Promise<Exclude<T, undefined | null | false>> {
	// Some tests set the clock.
	const begun = performance.now();
	for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * PAUSE_GROWTH, MAX_PAUSE_MS)) {
		const found = await look();
		if (found) return found as Exclude<T, undefined | null | false>;
		if (performance.now() - begun > maxMs) throw new Error(`This never came: ${look}`);
		await sleep(pause);
	}
}
