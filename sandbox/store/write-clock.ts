/**
 * Stamps writes. Stamps never decrease, even where the service's clock does or where a step is
 * written after its own time: a client that reads what was updated since the latest stamp it has
 * seen misses nothing.
 */
export class WriteClock {
	private latest: string;

	/** @param latest the latest stamp of all that is stored, empty if nothing is */
	constructor(latest: string) {
		this.latest = latest;
	}

	/**
	 * @param now milliseconds since 1970
	 * @returns an RFC 3339 instant: now, or the latest stamp if that is later
	 */
	stamp(now: number): string {
		const at = new Date(now).toISOString();
		if (at > this.latest) this.latest = at;
		return this.latest;
	}
}
