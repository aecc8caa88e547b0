/** One line of a report: what we measured of ours, and of the bare thing it stands beside. */
export interface Row {
	/** `a page of 100 of 100,000, p50` */
	label: string;
	/** `ms`, `MB`, `per second` */
	unit: string;
	ours: number;
	/** Doing the same with nothing around it, in the same run. */
	bare: number;
	/** What is promised: at most so many times the bare thing's, or so much of the unit. */
	max?: { ratio: number } | { value: number };
}

/**
 * The value below which a share of all values lies (nearest rank).
 *
 * @param values at least one
 * @param share from 0 to 1
 */
export function percentile(values: number[], share: number): number {
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

/** Two things, the same number of times. */
export interface Pair {
	ours: number[];
	bare: number[];
}

/**
 * Measures two things in turns, so that whatever else the machine does meets both alike. Who begins
 * changes from round to round; the first round only warms up.
 *
 * @param rounds how many values each of them gets
 * @param measure gives one value of one of them
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
			if (round > 0) values[which].push(value);
		}
		order.reverse();
	}
	return values;
}

/** A row of one figure of both, such as the median. */
export const rowOf = (
	label: string,
	unit: string,
	{ ours, bare }: Pair,
	figure: (values: number[]) => number = median,
): Row => ({ label, unit, ours: figure(ours), bare: figure(bare) });

/** Whether what a row promises has been kept; a row without a promise keeps it. */
export function isKept({ max, ours, bare }: Row): boolean {
	if (max === undefined) return true;
	return 'ratio' in max ? ours / bare <= max.ratio : ours <= max.value;
}
