type Begin = (isTurn: boolean) => void;

/**
 * Limits how many pieces of work run at once, such as those that share the threads of Node.js. Callers that wait
 * take turns. Each caller's newest work goes first, and only `maxWaiting` pieces of it wait, so a caller that floods
 * the queue mostly delays its own earlier work.
 */
export class Turns {
	private free: number;
	private readonly maxWaiting: number;
	private readonly waiting = new Map<string, Begin[]>();

	/** @param maxWaiting maximum number of waiting pieces per caller */
	constructor(atOnce: number, maxWaiting: number) {
		this.free = atOnce;
		this.maxWaiting = maxWaiting;
	}

	/** @returns undefined, without doing the work, if the caller has queued too many newer pieces */
	async run<T>(caller: string, work: () => Promise<T>): Promise<T | undefined> {
		if (this.free > 0) this.free -= 1;
		else if (!(await this.turnOf(caller))) return undefined;
		try {
			return await work();
		} finally {
			const begin = this.next();
			if (begin) begin(true);
			else this.free += 1;
		}
	}

	private async turnOf(caller: string): Promise<boolean> {
		return await new Promise((begin) => {
			const queue = [...(this.waiting.get(caller) ?? []), begin];
			this.waiting.set(caller, queue.slice(-this.maxWaiting));
			if (queue.length > this.maxWaiting) queue[0]!(false);
		});
	}

	/** Takes the newest piece of the first caller, who then moves to the end of the queue. */
	private next(): Begin | undefined {
		const [first] = this.waiting;
		if (!first) return undefined;
		const [key, queue] = first;
		this.waiting.delete(key);
		if (queue.length > 1) this.waiting.set(key, queue.slice(0, -1));
		return queue.at(-1);
	}
}
