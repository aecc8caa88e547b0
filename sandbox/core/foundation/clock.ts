/** The service's clock, which tests can advance. It stays ahead until the service restarts. */
export class Clock {
	private readonly source: () => number;
	private readonly listeners: Array<() => void> = [];
	private aheadMs = 0;

	/** @param source returns milliseconds since 1970 */
	constructor(source: () => number) {
		this.source = source;
	}

	/** Milliseconds since 1970. */
	readonly now = (): number => this.source() + this.aheadMs;

	advance(ms: number): void {
		this.aheadMs += ms;
		for (const listener of this.listeners) listener();
	}

	/** @param listener called after every advance */
	onAdvance(listener: () => void): void {
		this.listeners.push(listener);
	}
}
