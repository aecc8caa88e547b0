/** The maximum number of calls between two turns of the event loop, in which other requests are answered. */
export async function maxPerTurn(calls: jest.SpyInstance, work: Promise<unknown>): Promise<number> {
	let isDone = false;
	void work.finally(() => (isDone = true));
	let maxCalls = 0;
	let before = calls.mock.calls.length;
	while (!isDone) {
		await new Promise((resolve) => setImmediate(resolve));
		maxCalls = Math.max(maxCalls, calls.mock.calls.length - before);
		before = calls.mock.calls.length;
	}
	return maxCalls;
}
