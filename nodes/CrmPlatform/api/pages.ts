import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { ListDescription } from './listing';
import type { Query } from './path';
import type { ApiRequest, ApiResponse } from './request';

/** One walk over a list. */
export interface Walk {
	/** Collection path with version prefix. */
	path: string;
	list: Pick<ListDescription, 'cursor' | 'pageSize'>;
	/** Filters, order and fields: the same for every page, as the cursor is bound to them. */
	query: Query;
	/** How many records are wanted; all where absent. */
	limit?: number;
	/** Where to go on; from the start where absent. */
	cursor?: string;
}

export interface Page {
	records: IDataObject[];
	/** The cursor of the next page; absent on the last. */
	next?: string;
}

const envelope = z.object({
	// Looked at and not parsed: a copy of each of 100,000 records would double the memory.
	data: z.custom<IDataObject[]>(
		(data) => Array.isArray(data) && data.every((one) => typeof one === 'object' && one !== null),
	),
	next_cursor: z.string().nullish(),
});

/**
 * The records of a list, page by page, until they end or `limit` is reached. A page may be empty
 * and still have a next one.
 *
 * @throws Error in the user's words when the service's answer is no list, or when it hands out a
 * cursor twice: the walk would never end, or repeat what it had
 */
export async function* pages(
	send: (request: ApiRequest) => Promise<ApiResponse>,
	{ path, list, query, limit = Infinity, cursor: start }: Walk,
): AsyncGenerator<Page, void> {
	const size = list.pageSize && { [list.pageSize.name]: pageSize(list.pageSize.maximum, limit) };
	const seen = new Set<string>();
	let cursor = start;
	let left = limit;

	while (left > 0) {
		const page = { ...query, ...size, [list.cursor]: cursor };
		const { body } = await send({ method: 'GET', path, query: page });
		const answer = envelope.safeParse(body);
		if (!answer.success) {
			throw new Error(
				`The service did not answer ${path} with a list of records. Check that the base URL in the credential is the address of the API.`,
			);
		}
		const { data, next_cursor: next } = answer.data;
		const records = data.length > left ? data.slice(0, left) : data;
		yield next ? { records, next } : { records };
		left -= data.length;

		if (!next) return;
		if (seen.has(next)) {
			throw new Error(
				`The service gave the same page of ${path} twice, so the list would never end. Nothing is wrong in the workflow: report it to the service’s support.`,
			);
		}
		seen.add(next);
		cursor = next;
	}
}

/** The fewest pages of one size: some services bind the cursor to the size of the page. */
function pageSize(maximum: number, limit: number): number {
	if (limit === Infinity) return maximum;
	return Math.ceil(limit / Math.ceil(limit / maximum));
}
