import type { Context } from 'hono';
import { type Access, scopeOf } from '../oauth/scopes.ts';
import type { Env } from '../service.ts';
import type { Answer } from './answer.ts';
import { isObject, type JsonObject } from './merge.ts';

/** Whether the caller may read, or write, the records of a resource. */
export function may(c: Context<Env>, access: Access, resource: string): boolean {
	const scopes = c.get('scopes');
	return !scopes || scopes.includes(scopeOf(resource, access));
}

/** Of a record, all that a caller learns by writing it; a secret is made for whoever asks for it. */
const always = ['id', 'version', 'secret'];

/** What is left of the answer to a write for a caller who may not read what was written. */
export function withoutReading(answer: Answer): Answer {
	const body: unknown = answer.body === null ? null : JSON.parse(answer.body);
	if (!isObject(body)) return answer;
	const results = body['results'];
	const kept = Array.isArray(results)
		? { ...body, results: (results as JsonObject[]).map(resultWithoutReading) }
		: recordWithoutReading(body);
	return { ...answer, body: JSON.stringify(kept) };
}

/** @param result of an item of a batch, or of a line of a job */
export function resultWithoutReading(result: JsonObject): JsonObject {
	const { data } = result;
	return isObject(data) ? { ...result, data: recordWithoutReading(data) } : result;
}

/** What has no id is no record, but says how much was done. */
function recordWithoutReading(record: JsonObject): JsonObject {
	if (!('id' in record)) return record;
	return Object.fromEntries(Object.entries(record).filter(([field]) => always.includes(field)));
}
