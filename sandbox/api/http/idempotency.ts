import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { safeMethods } from '../../domain/access/scopes.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';
import { invalidParameter, Problem } from '../../core/foundation/problem.ts';
import type { Env, Service } from '../../core/service.ts';

export const idempotencyKeyHeader = 'Idempotency-Key';
const maxKeyLength = 255;

/** Refuses a request while an earlier request with the same idempotency key is in progress. */
export function refuseConcurrentKeys() {
	const running = new Set<string>();
	return createMiddleware<Env>(async (c, next) => {
		const key = c.req.header(idempotencyKeyHeader);
		if (key === undefined || safeMethods.includes(c.req.method)) return next();
		if (key === '' || key.length > maxKeyLength) {
			const detail = `${idempotencyKeyHeader} must have 1 to ${maxKeyLength} characters.`;
			throw invalidParameter(idempotencyKeyHeader, detail);
		}
		const callersKey = keyOfCaller(c, key);
		if (running.has(callersKey)) {
			throw new Problem(
				'idempotency_in_progress',
				'The first request with this key has not been answered yet. Send it again later.',
				{ headers: { 'Retry-After': '1' } },
			);
		}
		running.add(callersKey);
		try {
			await next();
		} finally {
			running.delete(callersKey);
		}
	});
}

interface KeyedRequest {
	/** The idempotency key; undefined if the request has none. */
	key: string | undefined;
	fingerprint: string;
}

/**
 * Runs `perform` in a transaction, or replays the response if a request with this key has succeeded
 * before. The response is stored in the same transaction, so the database keeps both or neither.
 *
 * @throws Problem idempotency_key_reused
 */
export function runOnce({ store, now }: Service, request: KeyedRequest, perform: () => ResponseData): ResponseData {
	return store.transaction(() => {
		const { key, fingerprint } = request;
		if (key === undefined) return perform();
		const earlier = store.responses.find(key, now());
		if (!earlier) {
			const response = perform();
			store.responses.add(key, fingerprint, response, now());
			return response;
		}
		if (earlier.fingerprint !== fingerprint) {
			throw new Problem(
				'idempotency_key_reused',
				'This key was used for a different request. Use a new key for every new request.',
			);
		}
		const headers = { ...earlier.response.headers, 'Idempotent-Replayed': 'true' };
		return { ...earlier.response, headers };
	});
}

/** Keys are stored by API key, or by user and application, so that one caller's keys do not affect another's. */
function keyOfCaller(c: Context<Env>, key: string): string {
	const { caller, application } = c.get('authority')!;
	return [caller.type, caller.id, application ?? '', key].join('\n');
}

/** The key of a request, and a hash that is equal for equal requests. */
export function keyedRequest(c: Context<Env>, body: Uint8Array): KeyedRequest {
	const key = c.req.header(idempotencyKeyHeader);
	const { pathname, search } = new URL(c.req.url);
	const hash = createHash('sha256').update(`${c.req.method} ${pathname}${search}\n`);
	hash.update(`${c.req.header('If-Match') ?? ''}\n`).update(body);
	return { key: key && keyOfCaller(c, key), fingerprint: hash.digest('hex') };
}
