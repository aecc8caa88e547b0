/**
 * The timestamps of writes. They never decrease, even if the service's clock does or a transition is
 * applied after its due time, so that a client that reads changes since the latest timestamp it has
 * seen misses nothing.
 */
export class WriteClock {
	private latest: string;
	/** The argument of the last call: a batch stamps the same instant many times. */
	private lastNow = NaN;

	/** @param latest the latest stored timestamp; empty for a new database */
	constructor(latest: string) {
		this.latest = latest;
	}

	/**
	 * @param now in milliseconds since 1970
	 * @returns an RFC 3339 instant: now, or the latest timestamp if that is later
	 */
	stamp(now: number): string {
		if (now === this.lastNow) return this.latest;
		this.lastNow = now;
		const at = new Date(now).toISOString();
		if (at > this.latest) this.latest = at;
		return this.latest;
	}
}
