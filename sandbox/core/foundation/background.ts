/** How long a piece of work takes, at most: every request of that moment waits for it. */
const pieceMs = { besideRequests: 1, alone: 8 };

/**
 * A nearby client sends its next request sooner than this. For a distant one, a longer piece takes less than twice
 * the network latency; and a job that is polled would otherwise run in short pieces only.
 */
const isAloneAfterMs = 5;

/** A client that sends its next request within this time, although each may have waited for a longer piece, is working, not just polling. */
const asksAgainWithinMs = 25;

/** Lets others go first: the next turn of the event loop begins with the requests that have come. */
export const nextTurn = async (): Promise<void> => {
	await new Promise<void>((resolve) => setImmediate(resolve));
};

/** How long an answer is worked on without a break. */
const turnMs = 0.25;

/** Does the same with each, and lets others go first as often as that takes a while. */
export async function inTurns<T, Result>(
	all: readonly T[],
	effect: (item: T) => Result | Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	let end = -Infinity;
	for (const item of all) {
		if (performance.now() >= end) {
			await nextTurn();
			end = performance.now() + turnMs;
		}
		results.push(await effect(item));
	}
	return results;
}

/**
 * The one share of the thread that all work in the background has: jobs, transitions that are due, the
 * maintenance of the database. It is done in short pieces, one between two turns of the event loop, so that
 * requests wait for one piece, however much there is to do. The pieces are longer while nobody asks for
 * anything, because each has a cost of its own.
 */
export class Background {
	private last: Promise<unknown> = Promise.resolve();
	private lastRequest = -Infinity;
	private requestBefore = -Infinity;

	/** Call it when a request comes. */
	noteRequest(): void {
		this.requestBefore = this.lastRequest;
		this.lastRequest = performance.now();
	}

	/** When a piece of work that begins now should end, by `performance.now()`. */
	endOfPiece(): number {
		const now = performance.now();
		const isAlone = now - this.lastRequest > isAloneAfterMs || now - this.requestBefore > asksAgainWithinMs;
		return now + (isAlone ? pieceMs.alone : pieceMs.besideRequests);
	}

	/** Does a piece of work after those of others that came before; nothing else begins until it has ended. */
	async take<T>(piece: () => T | Promise<T>): Promise<T> {
		const earlier = this.last;
		const done = (async () => {
			await earlier;
			await nextTurn();
			return await piece();
		})();
		this.last = done.catch(() => undefined);
		return await done;
	}
}
