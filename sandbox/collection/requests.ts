import type { Context } from 'hono';
import { parseJsonObject, readBytes } from '../middleware/body.ts';
import { once, requestFingerprint } from '../middleware/idempotency.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import type { Env, Service } from '../service.ts';
import type { RequestOrigin } from '../store/events.ts';
import { type Answer, toResponse } from './answer.ts';
import type { JsonObject } from './merge.ts';
import { catchUp } from './passing.ts';
import { may, withoutReading } from './reading.ts';
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
 * A caller who may write but not read is told no more than the id and the version.
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
	await catchUp(service);
	const answer = once(service, { key: c.req.header(keyHeader), fingerprint }, () => {
		const by = { actor, request: originOf(c), now: service.now() };
		return effect({ ...service, store: c.get('store'), resource, ...by }, body);
	});
	const whole = withSecret(service, answer);
	return toResponse(may(c, 'read', resource.name) ? whole : withoutReading(whole));
}

/** Puts in the secret that the answer is about, as long as there is that secret. */
function withSecret({ store }: Service, { secretId, ...answer }: Answer): Answer {
	if (secretId === undefined) return answer;
	const webhook = JSON.parse(answer.body!) as StoredRecord;
	const secret = store.webhookSecrets.find(webhook.id, secretId);
	return { ...answer, body: JSON.stringify({ ...webhook, secret }) };
}
