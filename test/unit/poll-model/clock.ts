import type { Clock } from '../../../nodes/CrmPlatform/base/clock';

interface Sleeper {
	at: number;
	wake(): void;
}

/** A clock that stands until it is moved, and wakes whoever sleeps in the order of time. */
export class ModelClock implements Clock {
	private time = Date.parse('2026-11-01T00:00:00Z');
	private sleepers: Sleeper[] = [];

	now = (): number => this.time;

	random = (): number => 0.5;

	sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
		signal?.throwIfAborted();
		await new Promise<void>((resolve, reject) => {
			const sleeper: Sleeper = { at: this.time + Math.max(1, ms), wake: resolve };
			this.sleepers.push(sleeper);
			signal?.addEventListener('abort', () => {
				this.sleepers = this.sleepers.filter((other) => other !== sleeper);
				reject(signal.reason as Error);
			});
		});
	};

	/** Lets everything happen that is due within some milliseconds. */
	async advance(ms: number): Promise<void> {
		const until = this.time + ms;
		for (;;) {
			await settled();
			const [next] = this.sleepers.sort((a, b) => a.at - b.at);
			if (!next || next.at > until) break;
			this.sleepers.shift();
			this.time = Math.max(this.time, next.at);
			next.wake();
		}
		this.time = until;
	}
}

/** When nothing is left to do but what sleeps. */
const settled = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));
