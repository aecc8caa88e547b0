import { createHash } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { Answer } from '../foundation/answer.ts';
import { invalidParameter, Problem } from '../foundation/problem.ts';
import type { Caller, Env, Service } from './service.ts';

export const idempotencyKeyHeader = 'Idempotency-Key';
const longestKey = 255;

/** Methods that only read (RFC 9110, 9.2.1). */
export const safeMethods = ['GET', 'HEAD', 'OPTIONS'];

/** Refuses a request while an earlier request with the same idempotency key is in progress. */
export function refuseConcurrentKeys() {
	const running = new Set<string>();
	return createMiddleware<Env>(async (c, next) => {
		const key = c.req.header(idempotencyKeyHeader);
		if (key === undefined || safeMethods.includes(c.req.method)) return next();
		if (key === '' || key.length > longestKey) {
			const detail = `${idempotencyKeyHeader} must have 1 to ${longestKey} characters.`;
			throw invalidParameter(idempotencyKeyHeader, detail);
		}
		if (running.has(key)) {
			throw new Problem(
				'idempotency_in_progress',
				'The first request with this key has not been answered yet. Send it again later.',
				{ headers: { 'Retry-After': '1' } },
			);
		}
		running.add(key);
		try {
			await next();
		} finally {
			running.delete(key);
		}
	});
}

/**
 * Runs `effect` in a transaction, or replays the answer if a request with this key has succeeded
 * before. The answer is stored in the same transaction, so the database keeps both or neither.
 *
 * @throws Problem idempotency_key_reused
 */
export function runOnce(
	{ store, now }: Service,
	request: { key: string | undefined; fingerprint: string },
	effect: () => Answer,
): Answer {
	return store.transaction(() => {
		const { key, fingerprint } = request;
		if (key === undefined) return effect();
		const earlier = store.answers.find(key, now());
		if (!earlier) {
			const answer = effect();
			store.answers.add(key, fingerprint, answer, now());
			return answer;
		}
		if (earlier.fingerprint !== fingerprint) {
			throw new Problem(
				'idempotency_key_reused',
				'This key was used for a different request. Use a new key for every new request.',
			);
		}
		const headers = { ...earlier.answer.headers, 'Idempotent-Replayed': 'true' };
		return { ...earlier.answer, headers };
	});
}

/**
 * Hashes what makes two requests equal: method, path, query and body. For a user the hash includes
 * the user's id, because another user may not be allowed to see the answer.
 */
export function requestFingerprint(
	method: string,
	url: URL,
	body: Uint8Array,
	caller: Caller,
): string {
	const hash = createHash('sha256').update(`${method} ${url.pathname}${url.search}\n`);
	if (caller.type === 'user') hash.update(`${caller.id}\n`);
	return hash.update(body).digest('hex');
}
