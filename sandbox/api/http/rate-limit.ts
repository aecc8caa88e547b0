import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { accountId } from '../../core/schemas/account.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Env, Service } from '../../core/service.ts';

/** Adds the rate-limit headers of the caller's window to every response, errors included. */
export const rateLimitHeaders = (service: Service, limiter: RateLimiter) =>
	createMiddleware<Env>(async (c, next) => {
		await next();
		const { remaining, endsAt } = limiter.state(windowOf(c), service.now());
		const headers = c.res.headers;
		if (!headers.has('X-RateLimit-Remaining')) headers.set('X-RateLimit-Remaining', `${remaining}`);
		if (!headers.has('X-RateLimit-Reset')) {
			headers.set('X-RateLimit-Reset', `${Math.ceil(endsAt / 1000)}`);
		}
	});

/** Counts the request, and refuses it if the limit is exceeded. */
export const rateLimit = (service: Service, limiter: RateLimiter) =>
	createMiddleware<Env>(async (c, next) => {
		const now = service.now();
		const window = windowOf(c);
		if (limiter.count(window, now)) return next();
		const seconds = Math.max(1, Math.ceil((limiter.state(window, now).endsAt - now) / 1000));
		throw new Problem(
			'rate_limited',
			`The plan allows ${service.requestsPerMinute} requests per minute. Try again in ${seconds} s.`,
			{ headers: { 'Retry-After': `${seconds}` } },
		);
	});

/** Authenticated requests share the account's window, others one per address; there is none in process. */
const windowOf = (c: Context<Env>): string => (c.get('caller') ? accountId : (c.env?.incoming?.socket.remoteAddress ?? ''));

const windowMs = 60_000;

/** Counts requests in fixed windows of a minute, each beginning with its first request. */
export class RateLimiter {
	private readonly limit: number;
	private readonly windows = new Map<string, { endsAt: number; used: number }>();

	constructor(requestsPerMinute: number) {
		this.limit = requestsPerMinute;
	}

	/** Counts one request; false if it exceeds the limit. */
	count(caller: string, now: number): boolean {
		const stored = this.windows.get(caller);
		const window = stored && now < stored.endsAt ? stored : { endsAt: now + windowMs, used: 0 };
		window.used += 1;
		this.windows.set(caller, window);
		return window.used <= this.limit;
	}

	/** @returns requests left, and the end of the window in milliseconds since 1970 */
	state(caller: string, now: number): { remaining: number; endsAt: number } {
		const window = this.windows.get(caller);
		if (!window || now >= window.endsAt) return { remaining: this.limit, endsAt: now + windowMs };
		return { remaining: Math.max(0, this.limit - window.used), endsAt: window.endsAt };
	}
}
