/** Maximum concurrent requests. */
export const parallelReads = 5;

/** Processes the inputs, a few at a time, and returns the results in order. */
export async function inParallel<In, Out>(all: In[], work: (input: In, index: number) => Promise<Out>): Promise<Out[]> {
	const results: Out[] = [];
	let next = 0;
	const worker = async () => {
		while (next < all.length) {
			const index = next++;
			results[index] = await work(all[index]!, index);
		}
	};
	await Promise.all(Array.from({ length: Math.min(parallelReads, all.length) }, worker));
	return results;
}
