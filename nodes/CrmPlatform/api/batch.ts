import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { problemIn, withRequestId, type Problem } from './errors';
import type { Query } from './path';
import type { ApiRequest, ApiResponse } from './request';
import type { BatchDescription } from './writing';

/** Many records written by one request. */
export interface BatchWrite {
	description: BatchDescription;
	path: string;
	query?: Query;
	/** What to write, one for each record. */
	items: IDataObject[];
	idempotency?: ApiRequest['idempotency'];
}

/** What came of one of them: the record (nothing where none is left), or why it was not written. */
export type BatchResult = { record: IDataObject } | { problem: Problem };

const answer = z.object({
	results: z.array(
		z.object({
			index: z.number().int().optional(),
			status: z.number().int(),
			// Looked at and not parsed: a copy of each record would cost as much as the request.
			data: z.custom<IDataObject>((data) => typeof data === 'object').nullish(),
			error: z.unknown(),
		}),
	),
});

type Answered = z.infer<typeof answer>['results'][number];

/** Asking again under the same key gives the answer that was kept, whole. */
const askings = 3;

/**
 * Sends a batch and tells what came of each item, in their order. An answer that says nothing of
 * some items is asked for again where an idempotency key makes that safe.
 *
 * @throws what `send` throws, when nothing is known of any item
 */
export async function sendBatch(
	send: (request: ApiRequest) => Promise<ApiResponse>,
	{ description, path, query, items, idempotency }: BatchWrite,
): Promise<BatchResult[]> {
	const request: ApiRequest = { method: 'POST', path, body: { [description.items]: items } };
	if (query) request.query = query;
	if (idempotency) request.idempotency = idempotency;

	let results: Array<Answered | undefined> = [];
	let headers: ApiResponse['headers'] = {};
	for (let asked = 0; asked < (idempotency ? askings : 1); asked++) {
		const response = await send(request);
		headers = response.headers;
		results = inOrder(response.body, items.length);
		if (results.every(Boolean)) break;
	}
	return results.map((result) => resultOf(result, headers));
}

function inOrder(body: unknown, count: number): Array<Answered | undefined> {
	const parsed = answer.safeParse(body);
	const results = new Array<Answered | undefined>(count).fill(undefined);
	if (!parsed.success) return results;
	for (const [place, result] of parsed.data.results.entries()) {
		const index = result.index ?? place;
		if (index >= 0 && index < count) results[index] = result;
	}
	return results;
}

function resultOf(result: Answered | undefined, headers: ApiResponse['headers']): BatchResult {
	if (!result) return { problem: withRequestId(untold, headers['x-request-id']) };
	const { status, data, error } = result;
	if (status >= 200 && status < 300) return { record: data ?? {} };
	return { problem: problemIn(status, error, headers) };
}

const untold: Problem = {
	message: 'The service did not say what became of this record',
	description: 'It may have been written. Look at it in the platform before you write it again.',
	details: {},
};
