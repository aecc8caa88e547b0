import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../api/idempotency';
import type { ApiRequest } from '../api/request';
import type { WriteDescription } from '../api/writing';
import type { Job } from '../model';

/**
 * Sends one write, under an idempotency key where the service takes one.
 *
 * @param items indexes of the input items it is done for
 * @returns what the service answered, nothing for an answer without a body
 */
export async function writeOne(
	job: Job,
	description: WriteDescription,
	{ path, body, query }: Pick<ApiRequest, 'path' | 'body' | 'query'>,
	items: number[],
): Promise<IDataObject> {
	const { method } = description;
	const request: ApiRequest = { method, path, ...keyed(job, description, items, method, path) };
	if (body) request.body = body;
	if (query) request.query = query;
	return ((await job.api.send(request)).body ?? {}) as IDataObject;
}

/** The header with the key of this write, where the service takes one. */
export function keyed(
	job: Job,
	{ idempotencyHeader: header }: WriteDescription,
	items: number[],
	method: string,
	path: string,
): Pick<ApiRequest, 'idempotency'> {
	if (header === undefined) return {};
	return { idempotency: { header, key: idempotencyKey({ ...job.identity, items }, method, path) } };
}
