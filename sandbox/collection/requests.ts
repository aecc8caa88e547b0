import type { Context } from 'hono';
import { parseJsonObject, readBytes } from '../middleware/body.ts';
import { once, requestFingerprint } from '../middleware/idempotency.ts';
import type { Resource } from '../schemas/resource.ts';
import type { Env, Service } from '../service.ts';
import type { RequestOrigin } from '../store/events.ts';
import { type Answer, toResponse } from './answer.ts';
import type { JsonObject } from './merge.ts';
import { catchUp } from './passing.ts';
import type { Writing } from './writing.ts';

const keyHeader = 'Idempotency-Key';

/** How the events that a request causes name it. */
export const originOf = (c: Context<Env>): RequestOrigin => ({
	id: c.get('requestId'),
	idempotency_key: c.req.header(keyHeader) ?? null,
});

/**
 * Answers a request that writes. It is decided and done in one go, so that requests cannot get in
 * each other's way.
 *
 * @param effect does it; the body is empty where the request has none
 */
export async function answerWrite(
	service: Service,
	resource: Resource,
	c: Context<Env>,
	hasBody: boolean,
	effect: (writing: Writing, body: JsonObject) => Answer,
): Promise<Response> {
	const bytes = hasBody ? await readBytes(c) : new Uint8Array();
	const body = hasBody ? parseJsonObject(bytes) : {};
	const actor = c.get('caller')!;
	const fingerprint = requestFingerprint(c.req.method, new URL(c.req.url), bytes, actor);
	const answer = once(service, { key: c.req.header(keyHeader), fingerprint }, () => {
		catchUp(service);
		const by = { actor, request: originOf(c), now: service.now() };
		return effect({ ...service, store: c.get('store'), resource, ...by }, body);
	});
	return toResponse(answer);
}
