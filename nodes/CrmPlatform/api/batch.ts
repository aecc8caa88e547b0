import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { problemOfItem, withRequestId, type Problem } from './http/problem';
import type { Query } from './http/path';
import type { ApiRequest, ApiResponse } from './http/request';
import type { BatchDescription } from './openapi/writing';

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
 * some items is asked for again where an idempotency key makes that safe; what one answer has told
 * stays told.
 *
 * @returns for the items that no answer tells of, the error that asking again ended with
 * @throws what `send` throws, when nothing is known of any item
 */
export async function sendBatch(
	send: (request: ApiRequest) => Promise<ApiResponse>,
	{ description, path, query, items, idempotency }: BatchWrite,
): Promise<Array<BatchResult | Error>> {
	const request: ApiRequest = { method: 'POST', path, body: { [description.items]: items } };
	if (query) request.query = query;
	if (idempotency) request.idempotency = idempotency;

	const told = new Map<number, BatchResult>();
	const resultsOr = (otherwise: BatchResult | Error) =>
		items.map((_, index) => told.get(index) ?? otherwise);
	let headers: ApiResponse['headers'] = {};
	for (let asked = 0; asked < (idempotency ? askings : 1); asked++) {
		const sent = send(request);
		// What is known by now is not lost to an error.
		const answered = await (told.size === 0 ? sent : sent.catch((error: Error) => error));
		if (answered instanceof Error) return resultsOr(answered);
		headers = answered.headers;
		for (const [index, result] of toldBy(answered.body)) {
			if (!told.has(index)) told.set(index, resultOf(result, headers));
		}
		if (items.every((_, index) => told.has(index))) break;
	}
	return resultsOr({ problem: withRequestId(untold, headers['x-request-id']) });
}

/** What an answer tells, by the places of the items. */
function toldBy(body: unknown): Array<[number, Answered]> {
	const parsed = answer.safeParse(body);
	if (!parsed.success) return [];
	return parsed.data.results.map((result, place) => [result.index ?? place, result]);
}

function resultOf(
	{ status, data, error }: Answered,
	headers: ApiResponse['headers'],
): BatchResult {
	if (status >= 200 && status < 300) return { record: data ?? {} };
	return { problem: problemOfItem(status, error, headers) };
}

const untold: Problem = {
	message: 'The service did not say what became of this record',
	description: 'It may have been written. Look at it in the platform before you write it again.',
	details: {},
};
