import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { accountId } from '../account.ts';
import { Problem } from '../problem.ts';
import type { Env, Service } from '../service.ts';
import { addressOf } from './address.ts';

const windowMs = 60_000;

/** Of windows that are kept in mind, before those that have ended are forgotten. */
const mostWindows = 10_000;

/** Counts requests in fixed windows of a minute, each beginning with its first request. */
export class RateLimiter {
	private readonly limit: number;
	private readonly windows = new Map<string, { endsAt: number; used: number }>();
	private nextLookAt = 0;

	constructor(requestsPerMinute: number) {
		this.limit = requestsPerMinute;
	}

	/** Counts one request; false if it is one too many. */
	take(who: string, now: number): boolean {
		const window = this.windows.get(who);
		if (!window || now >= window.endsAt) {
			this.forgetEnded(now);
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

	/** Callers come and go, and nothing else ever takes their windows away. */
	private forgetEnded(now: number): void {
		if (this.windows.size < mostWindows || now < this.nextLookAt) return;
		this.nextLookAt = now + windowMs;
		for (const [who, { endsAt }] of this.windows) if (now >= endsAt) this.windows.delete(who);
	}
}

/** Puts the state of the caller's window on every response, whatever it is. */
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

/**
 * Counts the request, and refuses it if its window is used up.
 *
 * @param purpose what strangers ask for here, if it has a window of its own
 */
export const rateLimit = (service: Service, limiter: RateLimiter, purpose?: string) =>
	createMiddleware<Env>(async (c, next) => {
		if (purpose !== undefined) c.set('window', `${purpose} ${addressOf(c)}`);
		spendRequest(service, limiter, c);
		await next();
	});

/** @throws Problem rate_limited */
export function spendRequest(service: Service, limiter: RateLimiter, c: Context<Env>): void {
	const now = service.now();
	const window = windowOf(c);
	if (limiter.take(window, now)) return;
	const seconds = Math.max(1, Math.ceil((limiter.state(window, now).endsAt - now) / 1000));
	throw new Problem(
		'rate_limited',
		`The plan allows ${service.requestsPerMinute} requests per minute. Try again in ${seconds} s.`,
		{ headers: { 'Retry-After': `${seconds}` } },
	);
}

/**
 * Requests with valid credentials use up the account's window. Strangers have one for each address,
 * so that they use up neither the account's nor each other's.
 */
const windowOf = (c: Context<Env>): string =>
	c.get('window') ?? (c.get('caller') ? accountId : `stranger ${addressOf(c)}`);
