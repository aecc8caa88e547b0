import { execFileSync } from 'node:child_process';

/**
 * By how much this process grows while something is done, at its highest. It was started with `--expose-gc`.
 *
 * @returns resident memory above what there was before, in MB
 */
export async function peakGrowth(work: () => Promise<unknown>): Promise<number> {
	globalThis.gc!();
	return await growthOf(() => process.memoryUsage.rss() / 1e6, 20, work);
}

/**
 * By how much a process grows while something is done, at its highest.
 *
 * @param memory its resident memory, in MB
 * @param every milliseconds between two looks at it
 * @returns in MB, above what there was before
 */
export async function growthOf(memory: () => number, every: number, work: () => Promise<unknown>): Promise<number> {
	const before = memory();
	let highest = before;
	const look = () => (highest = Math.max(highest, memory()));
	const watch = setInterval(look, every);
	try {
		await work();
	} finally {
		clearInterval(watch);
	}
	look();
	return highest - before;
}

/** Resident memory of another process, in MB. */
export function residentMemory(pid: number): number {
	const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', `${pid}`], { encoding: 'utf8' });
	return (Number(kilobytes) * 1024) / 1e6;
}
