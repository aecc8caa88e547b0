import { createMiddleware } from 'hono/factory';
import { accountId } from '../account.ts';
import { Problem } from '../problem.ts';
import type { Env, Service } from '../service.ts';

const windowMs = 60_000;

/** Counts requests in fixed windows of a minute, each beginning with its first request. */
export class RateLimiter {
	private readonly limit: number;
	private readonly windows = new Map<string, { endsAt: number; used: number }>();

	constructor(requestsPerMinute: number) {
		this.limit = requestsPerMinute;
	}

	/** Counts one request; false if it is one too many. */
	take(who: string, now: number): boolean {
		const window = this.windows.get(who);
		if (!window || now >= window.endsAt) {
			this.windows.set(who, { endsAt: now + windowMs, used: 1 });
			return this.limit > 0;
		}
		window.used += 1;
		return window.used <= this.limit;
	}

	/** @returns requests left, and the end of the window in milliseconds since 1970 */
	state(who: string, now: number): { remaining: number; endsAt: number } {
		const window = this.windows.get(who);
		if (!window || now >= window.endsAt) return { remaining: this.limit, endsAt: now + windowMs };
		return { remaining: Math.max(0, this.limit - window.used), endsAt: window.endsAt };
	}
}

/** Puts the state of the caller's window on every response, whatever it is. */
export const rateLimitHeaders = (service: Service, limiter: RateLimiter) =>
	createMiddleware<Env>(async (c, next) => {
		await next();
		const { remaining, endsAt } = limiter.state(who(c.get('caller')), service.now());
		const headers = c.res.headers;
		if (!headers.has('X-RateLimit-Remaining')) headers.set('X-RateLimit-Remaining', `${remaining}`);
		if (!headers.has('X-RateLimit-Reset')) {
			headers.set('X-RateLimit-Reset', `${Math.ceil(endsAt / 1000)}`);
		}
	});

/** Counts the request and refuses it if the window is used up. */
export const rateLimit = (service: Service, limiter: RateLimiter) =>
	createMiddleware<Env>(async (c, next) => {
		const now = service.now();
		const caller = who(c.get('caller'));
		if (!limiter.take(caller, now)) {
			const seconds = Math.max(1, Math.ceil((limiter.state(caller, now).endsAt - now) / 1000));
			throw new Problem(
				'rate_limited',
				`The plan allows ${service.requestsPerMinute} requests per minute. Try again in ${seconds} s.`,
				{ headers: { 'Retry-After': `${seconds}` } },
			);
		}
		await next();
	});

/** Requests without valid credentials share a window, so that they cannot use up the account's. */
const who = (caller: Env['Variables']['caller']): string => (caller ? accountId : 'anonymous');
