import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Query } from '../http/path';
import type { ApiRequest, ApiResponse } from '../http/request';

/** Sends a request and gives the answer of a service that succeeded. */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

/** What one request to a list gave. */
export interface Page {
	records: IDataObject[];
	/** The cursor of the next page; absent on the last. */
	next?: string;
	/** How many records the whole list has, where the service says it. */
	total?: number;
}

const envelope = z.object({
	// Looked at and not parsed: a copy of each of 100,000 records would double the memory.
	data: z.custom<IDataObject[]>(
		(data) => Array.isArray(data) && data.every((one) => typeof one === 'object' && one !== null),
	),
	next_cursor: z.string().nullish(),
	total: z.number().optional().catch(undefined),
});

/**
 * One page of a list.
 *
 * @param path collection path with version prefix
 * @throws Error in the user's words when the service's answer is no list
 */
export async function readPage(send: Send, path: string, query: Query): Promise<Page> {
	const { body } = await send({ method: 'GET', path, query });
	const answer = envelope.safeParse(body);
	if (!answer.success) {
		throw new Error(
			`The service did not answer ${path} with a list of records. Check that the base URL in the credential is the address of the API.`,
		);
	}
	const { data, next_cursor: next, total } = answer.data;
	const page: Page = { records: data };
	if (next) page.next = next;
	if (total !== undefined) page.total = total;
	return page;
}
