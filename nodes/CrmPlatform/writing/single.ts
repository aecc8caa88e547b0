import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../api/http/idempotency';
import type { ApiRequest } from '../api/http/request';
import type { WriteDescription } from '../api/openapi/writing';
import type { Execution } from '../model';

/**
 * Sends one write, under an idempotency key where the service takes one.
 *
 * @param items indexes of the input items it is done for
 * @returns what the service answered, nothing for an answer without a body
 */
export async function writeOne(
	job: Execution,
	description: WriteDescription,
	{ path, body, lines, query, headers }: Omit<ApiRequest, 'method' | 'idempotency'>,
	items: number[],
): Promise<IDataObject> {
	const { method } = description;
	const request: ApiRequest = { method, path, ...idempotencyOf(job, description, items, method, path) };
	if (body) request.body = body;
	if (lines) request.lines = lines;
	if (headers) request.headers = headers;
	if (query) request.query = query;
	return ((await job.api.send(request)).body ?? {}) as IDataObject;
}

/** The idempotency key of a write for those items, where the service takes one. */
export function idempotencyOf(
	job: Execution,
	{ idempotencyHeader: header }: WriteDescription,
	items: number[],
	method: string,
	path: string,
): Pick<ApiRequest, 'idempotency'> {
	if (header === undefined) return {};
	return { idempotency: { header, key: idempotencyKey({ ...job.identity, items }, method, path) } };
}
