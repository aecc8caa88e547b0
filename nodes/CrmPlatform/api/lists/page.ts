import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { isObject } from '../http/json';
import type { Query } from '../http/path';
import type { ApiRequest, ApiResponse } from '../http/request';

/** Sends a request and returns the response of a service that succeeded. */
export type Send = (request: ApiRequest) => Promise<ApiResponse>;

/** One page of a list. */
export interface Page {
	records: IDataObject[];
	/** The cursor of the next page; absent on the last. */
	next?: string;
	/** How many records the whole list has, if the service reports it. */
	total?: number;
}

const envelope = z.object({
	// Looked at and not parsed: a copy of each of 100,000 records would double the memory.
	data: z.custom<IDataObject[]>((data) => Array.isArray(data) && data.every(isObject)),
	next_cursor: z.string().nullish(),
	total: z.number().optional().catch(undefined),
});

/**
 * Reads one page of a list.
 *
 * @param path collection path with version prefix
 * @throws Error in the user's words if the response is not a list of records, repeats the cursor it
 * was asked for, or is the first of several pages without saying where the next one begins
 */
export async function readPage(
	send: Send,
	path: string,
	{ query, cursor }: { query: Query; cursor: { name: string; value: string | undefined } },
): Promise<Page> {
	const { body } = await send({ method: 'GET', path, query: { ...query, [cursor.name]: cursor.value } });
	const answer = envelope.safeParse(body);
	if (!answer.success) {
		throw new Error(
			`The response from ${path} is not a list of records. Check that the base URL in the credential is the address of the API.`,
		);
	}
	const { data, next_cursor: next, total } = answer.data;
	if (next && next === cursor.value) throw new Error(endless(path));
	// Later pages and totals may differ by what others write meanwhile; the first cannot.
	const isFirst = cursor.value === undefined;
	if (isFirst && next === undefined && total !== undefined && total > data.length) {
		throw new Error(
			`The list ${path} has ${total} records, but the service returned only ${data.length} and no next_cursor for the rest. The list cannot be read completely.`,
		);
	}
	const page: Page = { records: data };
	if (next) page.next = next;
	if (total !== undefined) page.total = total;
	return page;
}

/** What to tell the user of a list that would never end. */
export const endless = (path: string) =>
	`The service returned the same page of ${path} twice, so the list would never end. The workflow is not the cause: please report this to the service’s support.`;
