/** Maximum duration of a piece of work. Requests that arrive during it wait for its end. */
const pieceMs = { besideRequests: 1, alone: 8 };

/**
 * After this time without a request, pieces are longer. A nearby client sends its next request sooner, and for a distant
 * client, a longer piece takes less than a round trip. Without this limit, a job that is being polled would run in short pieces only.
 */
const isAloneAfterMs = 5;

/** A client that sends its next request within this time (including the wait for a longer piece) is busy; otherwise it polls. */
const asksAgainWithinMs = 25;

/** Yields to other requests: the next turn of the event loop begins with those that have arrived. */
export const nextTurn = async (): Promise<void> => {
	await new Promise<void>((resolve) => setImmediate(resolve));
};

/** How long work on a response continues before it yields. */
const turnMs = 0.25;

/** Applies a function to each item, and yields to other requests whenever that takes long. */
export async function inTurns<T, Result>(
	all: readonly T[],
	apply: (item: T) => Result | Promise<Result>,
): Promise<Result[]> {
	const results: Result[] = [];
	let end = -Infinity;
	for (const item of all) {
		if (performance.now() >= end) {
			await nextTurn();
			end = performance.now() + turnMs;
		}
		results.push(await apply(item));
	}
	return results;
}

/**
 * Schedules all background work: jobs, due transitions and maintenance of the database. It runs in short
 * pieces, one per turn of the event loop, so that a request waits for at most one piece. While there are no
 * requests the pieces are longer, because each piece has a fixed cost.
 */
export class Background {
	private last: Promise<unknown> = Promise.resolve();
	private lastRequest = -Infinity;
	private requestBefore = -Infinity;

	/** Call it when a request arrives. */
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

	/** Runs a piece of work after all earlier pieces; no other piece begins before it has ended. */
	async run<T>(piece: () => T | Promise<T>): Promise<T> {
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
