import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../api/idempotency';
import type { Query } from '../api/path';
import type { ApiRequest } from '../api/request';
import type { WriteDescription } from '../api/writing';
import type { Job } from '../model';

interface Write {
	description: WriteDescription;
	path: string;
	/** Index of the input item it is done for. */
	item: number;
	body?: IDataObject;
	query?: Query;
}

/**
 * Writes one record, under an idempotency key where the service takes one.
 *
 * @returns what the service answered, nothing for an answer without a body
 */
export async function write(job: Job, { description, path, item, body, query }: Write) {
	const { method, idempotencyHeader: header } = description;
	const request: ApiRequest = { method, path };
	if (body) request.body = body;
	if (query) request.query = query;
	if (header !== undefined) {
		request.idempotency = { header, key: idempotencyKey({ ...job.identity, item }, method, path) };
	}
	return ((await job.api.send(request)).body ?? {}) as IDataObject;
}
