import type { Context } from 'hono';
import { parseJsonObject, readBytes } from '../http/body.ts';
import { idempotencyKeyHeader, keyedRequest, runOnce } from '../http/idempotency.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import type { Env, Service } from '../../core/service.ts';
import type { RequestOrigin } from '../../core/schemas/origin.ts';
import { type ResponseData, toResponse } from '../../core/foundation/response-data.ts';
import type { JsonObject } from '../../core/foundation/json.ts';
import { applyDueTransitions } from '../../domain/records/due-transitions.ts';
import { redactResponse } from '../../domain/access/redaction.ts';
import type { WriteContext } from '../../core/store/write-context.ts';

/** The request as the events that it causes refer to it. */
export const originOf = (c: Context<Env>): RequestOrigin => ({
	id: c.get('requestId'),
	idempotency_key: c.req.header(idempotencyKeyHeader) ?? null,
});

/** @param body empty if the request has none */
type Write = (context: WriteContext, body: JsonObject) => ResponseData;

/**
 * Responds to a write request. The write runs synchronously in one transaction, so concurrent requests
 * cannot interfere.
 *
 * For a caller who may write but not read, the response is reduced to id and version.
 */
export const respondToWrite = async (service: Service, resource: Resource, c: Context<Env>, write: Write) =>
	respond(service, resource, c, await readBytes(c), write);

/** Responds to a write request whose body, if it has one, is ignored. */
export const respondToBodylessWrite = async (service: Service, resource: Resource, c: Context<Env>, write: Write) =>
	respond(service, resource, c, undefined, write);

function respond(service: Service, resource: Resource, c: Context<Env>, bytes: Uint8Array | undefined, write: Write): Response {
	const body = bytes ? parseJsonObject(bytes) : {};
	const actor = c.get('caller')!;
	applyDueTransitions(service);
	const response = runOnce(service, keyedRequest(c, bytes ?? new Uint8Array()), () => {
		const by = { actor, request: originOf(c), now: service.now() };
		return write({ ...service, store: c.get('store'), resource, ...by }, body);
	});
	return toResponse(redactResponse(c, resource.name, response));
}
