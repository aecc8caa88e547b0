import type { IDataObject } from 'n8n-workflow';

import { isObject } from './http/json';
import { problemOfItem, withRequestId, type Problem } from './http/problem';
import type { Query } from './http/path';
import type { ApiRequest, ApiResponse } from './http/request';
import type { BatchDescription } from './openapi/writing';

/** Many records written by one request. */
export interface BatchWrite {
	description: BatchDescription;
	path: string;
	query?: Query;
	/** The records; existing ones carry their `id`. */
	items: IDataObject[];
	idempotency?: ApiRequest['idempotency'];
}

/** The outcome for one record: the record (empty after a delete) and its HTTP status, or the reason it was not written. */
export type BatchResult = { record: IDataObject; status: number } | { problem: Problem };

interface ItemResult {
	index: number | undefined;
	id: string | undefined;
	status: number;
	data: IDataObject | undefined;
	error: unknown;
}

/** The results of an answer, null for one that cannot be read; undefined for any other answer. */
function resultsIn(body: unknown): Array<ItemResult | null> | undefined {
	const results: unknown = isObject(body) ? body.results : undefined;
	return Array.isArray(results) ? results.map(resultIn) : undefined;
}

/** By hand: for 100,000 results, zod takes as long as all requests. */
function resultIn(json: unknown): ItemResult | null {
	if (!isObject(json)) return null;
	const { id, status, data, error } = json;
	const index = json.index ?? undefined;
	if (!isWhole(status) || (index !== undefined && !isWhole(index))) return null;
	return {
		index,
		id: typeof id === 'string' ? id : undefined,
		status,
		data: typeof data === 'object' && data !== null ? (data as IDataObject) : undefined,
		error,
	};
}

const isWhole = (value: unknown): value is number => Number.isInteger(value);

/** Requests for one batch: under the same key, a repeated one brings the stored answer, complete. */
const mostRequests = 3;

/**
 * Sends a batch and gives the outcome of each item, in their order. An answer that leaves items out is
 * asked for again where an idempotency key makes that safe; outcomes known by then are kept.
 *
 * @returns for the items that no answer mentions, the error with which asking again ended
 * @throws what `send` throws, when the outcome of no item is known
 */
export async function sendBatch(
	send: (request: ApiRequest) => Promise<ApiResponse>,
	{ description, path, query, items, idempotency }: BatchWrite,
): Promise<Array<BatchResult | Error>> {
	const request: ApiRequest = { method: 'POST', path, body: { [description.items]: items } };
	if (query) request.query = query;
	if (idempotency) request.idempotency = idempotency;

	const known = new Map<number, BatchResult>();
	const outcomesOr = (otherwise: BatchResult | Error) =>
		items.map((_, place) => known.get(place) ?? otherwise);
	const isSafe = idempotency !== undefined && idempotency.isPromised !== false;
	let headers: ApiResponse['headers'] = {};
	for (let sent = 0; sent < (isSafe ? mostRequests : 1); sent++) {
		const response = send(request);
		// The outcomes known by now must survive an error.
		const answered = await (known.size === 0 ? response : response.catch((error: Error) => error));
		if (answered instanceof Error) return outcomesOr(answered);
		headers = answered.headers;
		for (const [place, one] of resultsByPlace(answered.body, items)) {
			if (!known.has(place)) known.set(place, batchResult(one, headers));
		}
		if (items.every((_, place) => known.has(place))) break;
	}
	return outcomesOr({ problem: withRequestId(unmentioned, headers['x-request-id']) });
}

/**
 * The results with the places of their items: by the id of the record where the items have ids, else
 * by index. Results with neither are taken in order only if there is one for each item, and none of
 * them says otherwise.
 */
function resultsByPlace(body: unknown, items: IDataObject[]): Array<[place: number, result: ItemResult]> {
	const results = resultsIn(body) ?? [];
	const placesOf = new Map<string, number[]>();
	for (const [place, { id }] of items.entries()) {
		if (typeof id === 'string') placesOf.set(id, [...(placesOf.get(id) ?? []), place]);
	}
	const areInOrder =
		results.length === items.length &&
		results.every((one) => one?.index === undefined && !placesOf.has(idOf(one) ?? ''));

	return results.flatMap((one, order): Array<[number, ItemResult]> => {
		if (!one) return [];
		const places = placesOf.get(idOf(one) ?? '') ?? [];
		const index = one.index ?? (areInOrder ? order : undefined);
		// Of several items for one record, the index says which; without it, they come in order.
		const place = index !== undefined && (places.length === 0 || places.includes(index)) ? index : places.shift();
		return place !== undefined && place >= 0 && place < items.length ? [[place, one]] : [];
	});
}

function idOf(one: ItemResult | null): string | undefined {
	const id = one?.id ?? one?.data?.id;
	return typeof id === 'string' ? id : undefined;
}

function batchResult(
	{ status, data, error }: ItemResult,
	headers: ApiResponse['headers'],
): BatchResult {
	const isDone = status >= 200 && status < 300;
	const contradicts = isDone && !data && error !== undefined && error !== null && error !== false;
	if (isDone && !contradicts) return { record: data ?? {}, status };
	return { problem: problemOfItem(contradicts ? 422 : status, error, headers) };
}

const unmentioned: Problem = {
	message: 'The service returned no result for this record',
	description: 'It may have been written. Check the record before you try again.',
	details: {},
};

/** Ids in one request: more would make a long URL. */
export const mostIds = 100;

/** Divides a list into lists of at most that many, in order. */
export function chunks<T>(all: T[], size: number): T[][] {
	return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
