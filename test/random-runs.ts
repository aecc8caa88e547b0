/** A generator of numbers, 0 ≤ n < 1, that gives the same ones for the same seed. */
export function randomOf(of: number): () => number {
	let state = of;
	return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
}

/** How many times as many histories as usual: a tenth in `npm run check`. */
const share = Number(process.env['HISTORIES'] ?? 1);
const seed = process.env['SEED'];

/** Whether somebody looks further than the tests of each day. */
export const looksFurther = share > 1 || seed !== undefined;

/**
 * Fast-check's settings of a test that plays made-up histories, or values, to find what nobody has thought of.
 * The runs are the same each time: `HISTORIES=50` plays fifty times as many, `SEED=2` plays others.
 *
 * @param all how many `npm test` plays
 * @param usualSeed what they are made from
 */
export const randomRuns = (all: number, usualSeed = 1) => ({
	numRuns: Math.max(Math.min(all, 10), Math.round(all * share)),
	seed: Number(seed ?? usualSeed),
	endOnFailure: seed !== undefined,
});
