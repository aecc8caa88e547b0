import { setTimeout as sleep } from 'node:timers/promises';

/** Less than the limit of a test (jest.config.js), whose error would not say what the test waited for. */
const maxWaitMs = 240_000;

/** A limit for a hundred thousand records, thousands of events, and many kills. */
export const hourMs = 3_600_000;

/** Pauses between two looks grow. */
const firstPauseMs = 2;
const maxPauseMs = 200;
const pauseGrowth = 1.1;

/**
 * Waits until a condition is met.
 *
 * @param look returns something falsy until then
 * @returns what `look` returned last
 * @throws {Error} that quotes `look`, if it takes too long
 */
export async function until<T>(
	look: () => T | Promise<T>,
	maxMs = maxWaitMs,
): Promise<Exclude<T, undefined | null | false>> {
	// Some tests set the clock.
	const begun = performance.now();
	for (let pause = firstPauseMs; ; pause = Math.min(pause * pauseGrowth, maxPauseMs)) {
		const found = await look();
		if (found) return found as Exclude<T, undefined | null | false>;
		if (performance.now() - begun > maxMs) throw new Error(`Waited ${maxMs / 1000} s in vain for: ${look}`);
		await sleep(pause);
	}
}
