import { createHash } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';

import { Refusal } from './refusal.ts';

const requestsPerMinute = 5_000;
export const maxKeyLength = 100;

/** Lets only requests with `Authorization: Bearer <apiKey>` pass. */
export function bearer(apiKey: string): MiddlewareHandler {
	return async (c, next) => {
		if (c.req.header('authorization') !== `Bearer ${apiKey}`) {
			throw new Refusal(401, 'who_are_you', 'The API key is missing or wrong.');
		}
		await next();
	};
}

/** Counts requests per minute; X-RateLimit-Reset says in how many seconds the minute ends. */
export function rateLimit(): MiddlewareHandler {
	let minute = 0;
	let used = 0;
	return async (c, next) => {
		const now = Date.now();
		if (Math.floor(now / 60_000) !== minute) {
			minute = Math.floor(now / 60_000);
			used = 0;
		}
		const reset = Math.ceil(60 - (now % 60_000) / 1000);
		used += 1;
		if (used > requestsPerMinute) {
			c.header('Retry-After', String(reset));
			const refusal = new Refusal(429, 'too_many_requests', `Try again in ${reset} seconds.`);
			c.res = c.json(refusal.body, refusal.status);
		} else {
			await next();
		}
		c.header('X-RateLimit-Remaining', String(Math.max(0, requestsPerMinute - used)));
		c.header('X-RateLimit-Reset', String(reset));
	};
}

/**
 * Carries out a write once per X-Idempotency-Key, and repeats the answer when the write is repeated.
 * It refuses a write without a key, and a different request under a used key.
 */
export function idempotency(): MiddlewareHandler {
	const answers = new Map<string, { request: string; response: Promise<Response> }>();
	return async (c, next) => {
		if (c.req.method === 'GET') return await next();
		const key = c.req.header('x-idempotency-key');
		if (!key) throw new Refusal(400, 'key_missing', 'Send X-Idempotency-Key with every write.');
		if (key.length > maxKeyLength) {
			throw new Refusal(400, 'bad_key', `X-Idempotency-Key: ${maxKeyLength} characters at most.`);
		}
		const body = await c.req.text();
		const request = createHash('sha256')
			.update([c.req.method, c.req.url, body].join('\n'))
			.digest('hex');
		const earlier = answers.get(key);
		if (earlier && earlier.request !== request) {
			throw new Refusal(409, 'key_used', 'This X-Idempotency-Key was used for another request.');
		}
		if (earlier) {
			c.res = (await earlier.response).clone();
			c.header('X-Idempotent-Replay', 'true');
			return;
		}
		const response = next().then(() => c.res.clone());
		answers.set(key, { request, response });
		await response;
	};
}
