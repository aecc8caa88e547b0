import { execFileSync } from 'node:child_process';

/**
 * The peak growth of this process, which was started with `--expose-gc`, during some work.
 *
 * @returns resident memory above that before, in MB
 */
export async function peakGrowth(work: () => Promise<unknown>): Promise<number> {
	globalThis.gc!();
	return await growthOf(() => process.memoryUsage.rss() / 1e6, 20, work);
}

/**
 * The peak growth of a process during some work.
 *
 * @param memory its resident memory, in MB
 * @param every milliseconds between two measurements
 * @returns MB above the memory before
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
