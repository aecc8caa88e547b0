/** A plan that allows a number of requests per fixed window; the first window begins with the first request. */
export class FixedWindowPlan {
	readonly #requests: number;
	readonly #windowMs: number;
	#firstAt: number | undefined;
	#firstReset = 0;
	#resetsAt = 0;
	#remaining = 0;
	#allowed = 0;

	/** @param windowMs whole seconds, since the headers have no fractions */
	constructor({ requests, windowMs }: { requests: number; windowMs: number }) {
		this.#requests = requests;
		this.#windowMs = windowMs;
	}

	/** @param now Unix epoch milliseconds */
	take(now: number): { allowed: boolean; headers: Record<string, string> } {
		if (this.#firstAt === undefined) {
			this.#firstAt = now;
			this.#firstReset = Math.ceil(now / 1000) * 1000 + this.#windowMs;
			this.#resetsAt = this.#firstReset;
			this.#remaining = this.#requests;
		}
		while (now >= this.#resetsAt) {
			this.#resetsAt += this.#windowMs;
			this.#remaining = this.#requests;
		}
		const allowed = this.#remaining > 0;
		if (allowed) {
			this.#remaining -= 1;
			this.#allowed += 1;
		}
		const headers: Record<string, string> = {
			'x-ratelimit-remaining': `${this.#remaining}`,
			'x-ratelimit-reset': `${this.#resetsAt / 1000}`,
		};
		if (!allowed) headers['retry-after'] = `${Math.ceil((this.#resetsAt - now) / 1000)}`;
		return { allowed, headers };
	}

	/** The least time the allowed requests can take, in milliseconds. */
	leastMs(): number {
		const windows = Math.ceil(this.#allowed / this.#requests);
		if (windows < 2) return 0;
		return this.#firstReset - this.#firstAt! + (windows - 2) * this.#windowMs;
	}
}
