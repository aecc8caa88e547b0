import type { SimulatedClock } from './clock.ts';

/** How a service counts the requests of an account. */
export interface SimulatedPlan {
	name: string;
	requests: number;
	windowMs: number;
	counts: 'fixed window' | 'sliding window' | 'token bucket';
}

export interface SimulatedResponse {
	status: number;
	headers: Record<string, string | undefined>;
	text: string;
}

/** A service that only counts requests, 50 to 250 ms away. */
export class SimulatedService {
	accepted = 0;
	refused = 0;
	private readonly clock: SimulatedClock;
	private readonly plan: SimulatedPlan;
	private readonly start: number;
	private count = 0;
	private window = 0;
	private times: number[] = [];
	private tokens: number;
	private filledAt: number;

	constructor(clock: SimulatedClock, plan: SimulatedPlan) {
		this.clock = clock;
		this.plan = plan;
		this.start = this.filledAt = clock.now();
		this.tokens = plan.requests;
	}

	readonly transport = async (): Promise<SimulatedResponse> => {
		const distance = 25 + 100 * this.clock.random();
		await this.clock.sleep(distance);
		const now = this.clock.now();
		const { isAccepted, remaining, resetsAt } = this.take(now);
		if (isAccepted) this.accepted += 1;
		else this.refused += 1;
		await this.clock.sleep(distance);
		const headers: SimulatedResponse['headers'] = {
			date: new Date(now).toUTCString(),
			'x-ratelimit-remaining': `${remaining}`,
			'x-ratelimit-reset': `${Math.ceil(resetsAt / 1000)}`,
		};
		if (isAccepted) return { status: 200, headers, text: '{}' };
		headers['retry-after'] = `${Math.max(1, Math.ceil((resetsAt - now) / 1000))}`;
		return { status: 429, headers, text: '{"code":"rate_limited"}' };
	};

	private take(now: number): { isAccepted: boolean; remaining: number; resetsAt: number } {
		const { requests, windowMs, counts } = this.plan;
		if (counts === 'fixed window') {
			const window = Math.floor((now - this.start) / windowMs);
			if (window !== this.window) [this.window, this.count] = [window, 0];
			const isAccepted = this.count < requests;
			if (isAccepted) this.count += 1;
			return { isAccepted, remaining: requests - this.count, resetsAt: this.start + (window + 1) * windowMs };
		}
		if (counts === 'sliding window') {
			const from = this.times.findIndex((time) => time > now - windowMs);
			this.times = from < 0 ? [] : this.times.slice(from);
			const isAccepted = this.times.length < requests;
			if (isAccepted) this.times.push(now);
			// The oldest request in the window is the next to leave it.
			return { isAccepted, remaining: requests - this.times.length, resetsAt: (this.times[0] ?? now) + windowMs };
		}
		const perMs = requests / windowMs;
		this.tokens = Math.min(requests, this.tokens + (now - this.filledAt) * perMs);
		this.filledAt = now;
		const isAccepted = this.tokens >= 1;
		if (isAccepted) this.tokens -= 1;
		const missing = Math.max(0, 1 - this.tokens);
		return { isAccepted, remaining: Math.floor(this.tokens), resetsAt: now + missing / perMs };
	}
}
