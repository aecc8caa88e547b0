/** One row of a report: the figure of ours, and that of its bare counterpart. */
export interface Row {
	/** `a page of 100 of 100,000, p50` */
	label: string;
	/** `ms`, `MB`, `per second` */
	unit: string;
	ours: number;
	/** The bare counterpart, measured in the same run. */
	bare: number;
}

/**
 * A percentile of the values (nearest rank).
 *
 * @param values at least one
 * @param share from 0 to 1
 */
function percentile(values: number[], share: number): number {
	const sorted = values.toSorted((a, b) => a - b);
	const rank = Math.ceil(share * sorted.length) - 1;
	return sorted[Math.max(0, rank)]!;
}

export const median = (values: number[]): number => percentile(values, 0.5);

/** How long something takes, in milliseconds. */
export async function time(work: () => Promise<unknown>): Promise<number> {
	const start = performance.now();
	await work();
	return performance.now() - start;
}

/** The values of two things, as many of each. */
export interface Pair {
	ours: number[];
	bare: number[];
}

/**
 * Measures two things in turns, so that other work of the machine affects both alike. The order alternates
 * from round to round; the first round only warms up.
 *
 * @param rounds the number of values of each; without any, one is measured, cold
 * @param measure returns one value of either
 */
export async function sideBySide(
	rounds: number,
	measure: (which: keyof Pair, round: number) => Promise<number>,
): Promise<Pair> {
	const values: Pair = { ours: [], bare: [] };
	const order: Array<keyof Pair> = ['ours', 'bare'];
	for (let round = 0; round <= rounds; round++) {
		for (const which of order) {
			const value = await measure(which, round);
			if (round > 0 || rounds === 0) values[which].push(value);
		}
		order.reverse();
	}
	return values;
}

/** A row with one figure of both, such as the median. */
export const rowOf = (
	label: string,
	unit: string,
	{ ours, bare }: Pair,
	figure: (values: number[]) => number = median,
): Row => ({ label, unit, ours: figure(ours), bare: figure(bare) });
