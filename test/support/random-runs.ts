/** A generator of numbers, 0 ≤ n < 1: the same ones for the same seed. */
export function randomOf(seed: number): () => number {
	let state = seed;
	// In 32 bits: as a number of JavaScript, the product is rounded, and the numbers soon repeat.
	return () => (state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff) / 2 ** 31;
}

/** The number of histories, as a multiple of the usual one: a tenth in `npm run check`. */
const share = Number(process.env['HISTORIES'] ?? 1);
const chosenSeed = process.env['SEED'];

/** Whether more or other histories than usual were requested. */
export const isThorough = share > 1 || chosenSeed !== undefined;

/**
 * The settings of fast-check for a test that plays made-up histories or values.
 * The runs are the same each time: `HISTORIES=50` plays fifty times as many, `SEED=2` plays others.
 *
 * @param all how many `npm test` plays
 * @param usualSeed what they are made from
 */
export const randomRuns = (all: number, usualSeed = 1) => ({
	numRuns: Math.max(Math.min(all, 10), Math.round(all * share)),
	seed: Number(chosenSeed ?? usualSeed),
	endOnFailure: chosenSeed !== undefined,
});
