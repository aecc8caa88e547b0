import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { accountId } from '../../core/schemas/account.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Env, Service } from '../../core/service.ts';
import { clientAddressOf } from './client-address.ts';
import type { RateLimiter } from './rate-limiter.ts';

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
		spendRequest(service, limiter, c);
		await next();
	});

/** @throws Problem rate_limited */
export function spendRequest(service: Service, limiter: RateLimiter, c: Context<Env>): void {
	const now = service.now();
	const window = windowOf(c);
	if (limiter.count(window, now)) return;
	const seconds = Math.max(1, Math.ceil((limiter.state(window, now).endsAt - now) / 1000));
	throw new Problem(
		'rate_limited',
		`The plan allows ${service.requestsPerMinute} requests per minute. Try again in ${seconds} s.`,
		{ headers: { 'Retry-After': `${seconds}` } },
	);
}

/**
 * Authenticated requests share the account's window. Unauthenticated requests share one per address,
 * so that they exhaust neither the account's window nor each other's.
 */
const windowOf = (c: Context<Env>): string =>
	c.get('window') ?? (c.get('caller') ? accountId : `stranger ${clientAddressOf(c)}`);
