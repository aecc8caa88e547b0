import type { Context } from 'hono';
import { scopeOf } from './scopes.ts';
import type { Env } from '../../core/service.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';
import { isObject, type JsonObject } from '../../core/foundation/json.ts';

/** Whether the caller has the scope to read the records of a resource. */
export function mayRead(c: Context<Env>, resource: string): boolean {
	const scopes = c.get('scopes');
	return !scopes || scopes.includes(scopeOf(resource, 'read'));
}

/** The fields that stay in the response to a write. A secret is returned to the caller who requested it. */
const alwaysReturned = ['id', 'version', 'secret'];

/** Redacts the response to a write if the caller may write these records but not read them. */
export function redactResponse(c: Context<Env>, resource: string, response: ResponseData): ResponseData {
	if (mayRead(c, resource)) return response;
	const body: unknown = response.body === null ? null : JSON.parse(response.body);
	if (!isObject(body)) return response;
	const results = body['results'];
	const redactedBody = Array.isArray(results)
		? { ...body, results: (results as JsonObject[]).map(redactResult) }
		: redactRecord(body);
	return { ...response, body: JSON.stringify(redactedBody) };
}

/** @param result of an item of a batch, or of a line of a job */
export function redactResult(result: JsonObject): JsonObject {
	const { data } = result;
	return isObject(data) ? { ...result, data: redactRecord(data) } : result;
}

/** Reduces a record to these fields. A body without an id is a summary, which reveals nothing about records. */
function redactRecord(record: JsonObject): JsonObject {
	if (!('id' in record)) return record;
	return Object.fromEntries(Object.entries(record).filter(([field]) => alwaysReturned.includes(field)));
}
