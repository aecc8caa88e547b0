interface Sleeper {
	at: number;
	order: number;
	wake(): void;
}

/** A loop that never waits would be waited for without end. */
const maxStepsPerInstant = 10_000;

/** A simulated clock: its time advances when everyone sleeps. */
export class SimulatedClock {
	private time = Date.UTC(2026, 0, 1);
	private count = 0;
	private seed = 1;
	/** A heap: the first to wake is at the top. */
	private readonly sleepers: Sleeper[] = [];

	readonly now = (): number => this.time;

	/** The same numbers in each run (mulberry32). */
	readonly random = (): number => {
		this.seed = (this.seed + 0x6d2b79f5) | 0;
		let x = Math.imul(this.seed ^ (this.seed >>> 15), this.seed | 1);
		x = (x + Math.imul(x ^ (x >>> 7), x | 61)) ^ x;
		return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
	};

	readonly sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		signal?.throwIfAborted();
		await new Promise<void>((resolve, reject) => {
			const abort = () => reject(signal?.reason as Error);
			signal?.addEventListener('abort', abort, { once: true });
			const wake = () => {
				signal?.removeEventListener('abort', abort);
				resolve();
			};
			this.push({ at: this.time + Math.max(0, ms), order: (this.count += 1), wake });
		});
	};

	/** Runs everything that happens within some milliseconds. */
	async advance(ms: number): Promise<void> {
		await this.runUntil(this.time + ms);
	}

	/** Runs everything that happens until then. */
	async runUntil(end: number): Promise<void> {
		for (let steps = 0; ; steps += 1) {
			// First all consequences, before the next sleeper wakes.
			await new Promise((resolve) => setImmediate(resolve));
			const next = this.sleepers[0];
			if (!next || next.at > end) break;
			if (next.at > this.time) steps = 0;
			if (steps > maxStepsPerInstant) throw new Error('The time stands still: somebody sleeps for 0 ms again and again');
			this.time = next.at;
			while (this.sleepers[0]?.at === this.time) this.pop().wake();
		}
		this.time = end;
	}

	private push(sleeper: Sleeper): void {
		const heap = this.sleepers;
		let i = heap.push(sleeper) - 1;
		while (i > 0) {
			const parent = (i - 1) >> 1;
			if (!isBefore(sleeper, heap[parent]!)) break;
			heap[i] = heap[parent]!;
			i = parent;
		}
		heap[i] = sleeper;
	}

	private pop(): Sleeper {
		const heap = this.sleepers;
		const top = heap[0]!;
		const last = heap.pop()!;
		if (heap.length === 0) return top;
		let i = 0;
		for (;;) {
			let child = 2 * i + 1;
			if (child >= heap.length) break;
			if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
			if (!isBefore(heap[child]!, last)) break;
			heap[i] = heap[child]!;
			i = child;
		}
		heap[i] = last;
		return top;
	}
}

const isBefore = (a: Sleeper, b: Sleeper): boolean =>
	a.at < b.at || (a.at === b.at && a.order < b.order);
