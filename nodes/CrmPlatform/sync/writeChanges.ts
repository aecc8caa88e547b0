import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { sendBatch } from '../api/batch';
import { recordIn } from '../api/record';
import { idempotencyKey } from '../api/http/idempotency';
import { path } from '../api/http/path';
import type { ApiRequest } from '../api/http/request';
import type { IdempotencyHeader } from '../api/openapi/idempotencyHeader';
import type { BatchDescription, WriteDescription } from '../api/openapi/writing';
import type { Execution } from '../model';

/** One record to write. */
export interface RecordWrite {
	/** The record; undefined to create one. */
	id?: string;
	/** The version that was read: the service refuses the write for a newer one. */
	version?: number | string;
	body?: IDataObject;
}

/** The record as the service answers it (empty where it answers none), or why it was not written. */
export type WriteResult = { record: IDataObject } | { error: NodeApiError | Error };

/** Requests at the same time: more gain little, as the service does one after another. */
const parallelWrites = 4;

/** Attempts at records that a batch postpones (429, 503), each under a key of its own. */
const attempts = 4;

/** Milliseconds before the second of them; doubled each time. */
const firstPause = 1_000;

/** The two answers that say nothing was done (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const postponing = ['429', '503'];

/**
 * Writes records in batches where the service takes them, a few requests at a time.
 *
 * @param collection path of the records with version prefix
 * @param nextNumber a number for each request, which tells the idempotency keys of a run apart
 * @param isWanted asked before each request; what is under way is still waited for
 * @returns a result for each record, undefined for those that were not tried
 */
export async function writeAll(
	execution: Execution,
	description: WriteDescription,
	collection: string,
	writes: RecordWrite[],
	nextNumber: () => number,
	isWanted: (results: Array<WriteResult | undefined>) => boolean,
): Promise<Array<WriteResult | undefined>> {
	const results: Array<WriteResult | undefined> = writes.map(() => undefined);
	const batch = batchFor(execution, description, writes);
	const size = batch?.maximum ?? 1;
	const send = async (some: RecordWrite[]): Promise<WriteResult[]> => {
		const target = { execution, description, collection, nextNumber };
		return batch && some.length > 1
			? await sendTogether(target, batch, some)
			: [await sendAlone(target, some[0]!)];
	};
	let next = 0;
	const worker = async () => {
		while (next < writes.length && isWanted(results)) {
			const from = next;
			next += size;
			const sent = await send(writes.slice(from, from + size));
			for (const [i, result] of sent.entries()) results[from + i] = result;
		}
	};
	await Promise.all(Array.from({ length: parallelWrites }, worker));
	return results;
}

interface Target {
	execution: Execution;
	description: WriteDescription;
	collection: string;
	nextNumber: () => number;
}

/** The batch, unless only single requests protect what others have changed meanwhile. */
function batchFor(
	{ api }: Execution,
	{ batch, takesIfMatch }: WriteDescription,
	writes: RecordWrite[],
): BatchDescription | undefined {
	if (!writes.some(({ version }) => version !== undefined) || batch?.takesVersion) return batch;
	if (!takesIfMatch) api.notices.add(unprotected);
	return takesIfMatch ? undefined : batch;
}

async function sendTogether(
	target: Target,
	description: BatchDescription,
	writes: RecordWrite[],
	attempt = 1,
): Promise<WriteResult[]> {
	const { execution, collection } = target;
	try {
		const answered = await sendBatch(execution.api.send, {
			description,
			path: collection + description.path,
			items: writes.map((write) => itemOf(write, description)),
			...keyOfAttempt(target, description),
		});
		const results = answered.map((result): WriteResult => {
			if (result instanceof Error) return { error: result };
			return 'record' in result ? result : { error: execution.api.failure(result.problem) };
		});
		const postponed = [...results.keys()].filter((place) => isPostponed(results[place]!));
		if (postponed.length === 0 || attempt === attempts) return results;
		await execution.api.pause(firstPause * 2 ** (attempt - 1));
		const again = postponed.map((place) => writes[place]!);
		const later = await sendTogether(target, description, again, attempt + 1);
		for (const [i, place] of postponed.entries()) results[place] = later[i]!;
		return results;
	} catch (error) {
		const isTooLarge = error instanceof NodeApiError && error.httpCode === '413';
		if (!isTooLarge || writes.length === 1) return writes.map(() => ({ error: error as Error }));
		const half = Math.ceil(writes.length / 2);
		return [
			...(await sendTogether(target, description, writes.slice(0, half), attempt)),
			...(await sendTogether(target, description, writes.slice(half), attempt)),
		];
	}
}

function itemOf({ id, version, body }: RecordWrite, { takesVersion }: BatchDescription): IDataObject {
	return {
		...(id !== undefined && { id }),
		...(version !== undefined && takesVersion && { version }),
		...body,
	};
}

async function sendAlone(target: Target, { id, version, body }: RecordWrite): Promise<WriteResult> {
	const { execution, description, collection } = target;
	const { method, takesIfMatch, contentType } = description;
	const place = id === undefined ? collection : collection + path`/${id}`;
	const request: ApiRequest = { method, path: place, ...keyOfAttempt(target, description) };
	if (body) request.body = body;
	request.headers = {
		...(contentType !== undefined && body && { 'content-type': contentType }),
		...(version !== undefined && takesIfMatch && { 'if-match': `"${version}"` }),
	};
	try {
		return { record: recordIn((await execution.api.send(request)).body, place) ?? {} };
	} catch (error) {
		return { error: error as Error };
	}
}

/**
 * A key for each request of each attempt at this node: an attempt reads the CRM anew and plans only
 * what is left, so it must not repeat a key with another body.
 */
function keyOfAttempt(
	{ execution, description, nextNumber }: Target,
	{ idempotencyHeader: header, idempotencyKey: format }: IdempotencyHeader,
): Pick<ApiRequest, 'idempotency'> {
	const name = header ?? description.idempotencyHeader;
	if (name === undefined) return {};
	const key = idempotencyKey({ ...execution.identity, items: [nextNumber()] }, format);
	const isPromised = header !== undefined && execution.api.isSelfDescribed();
	return { idempotency: { header: name, key, isPromised } };
}

const isPostponed = (result: WriteResult): boolean =>
	'error' in result && result.error instanceof NodeApiError && postponing.includes(result.error.httpCode ?? '');

const unprotected =
	'The service takes no version with a write, so a change that others make while this node runs can be overwritten.';
