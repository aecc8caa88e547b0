interface Sleeper {
	at: number;
	wake(): void;
}

/** A loop that never waits would be waited for without end. */
const maxStepsPerInstant = 10_000;

/** A simulated clock: its time advances when everyone sleeps. */
export class SimulatedClock {
	private time = Date.UTC(2026, 0, 1);
	private seed = 1;
	/** The next to wake is the last; of those that wake at the same time, whoever slept first. */
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
			this.push({ at: this.time + Math.max(0, ms), wake });
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
			const next = this.sleepers.at(-1);
			if (!next || next.at > end) break;
			if (next.at > this.time) steps = 0;
			if (steps > maxStepsPerInstant) throw new Error('The time stands still: somebody sleeps for 0 ms again and again');
			this.time = next.at;
			while (this.sleepers.at(-1)?.at === this.time) this.sleepers.pop()!.wake();
		}
		this.time = end;
	}

	private push(sleeper: Sleeper): void {
		let [low, high] = [0, this.sleepers.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.sleepers[middle]!.at > sleeper.at) low = middle + 1;
			else high = middle;
		}
		this.sleepers.splice(low, 0, sleeper);
	}
}
