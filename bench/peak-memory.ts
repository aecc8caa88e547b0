/**
 * By how much the process grows while something is done, at its highest. It was started with `--expose-gc`.
 *
 * @returns resident memory above what there was before, in MB
 */
export async function peakGrowth(work: () => Promise<unknown>): Promise<number> {
	globalThis.gc!();
	const before = process.memoryUsage.rss();
	let highest = before;
	const look = () => (highest = Math.max(highest, process.memoryUsage.rss()));
	const watch = setInterval(look, 20);
	try {
		await work();
	} finally {
		clearInterval(watch);
	}
	look();
	return (highest - before) / 1e6;
}
