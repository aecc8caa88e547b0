import type { IDataObject } from 'n8n-workflow';

import { sendBatch, type BatchResult } from '../api/batchRequest';
import { isAnsweredWith } from '../api/fetchRecord';
import { rateLimited, unavailable } from '../api/http/retry';
import type { BatchDescription, WriteDescription } from '../api/openapi/writing';
import type { Batch, Batched, Execution, GoesOn, Result, Results, Run } from '../model';
import { readWholeNumber } from '../values/readers';
import { hasWriteOncePer, writeOncePer } from './oncePer';
import { groupByRequest, affectedRecords, sharesRecord, type Write } from './writeOrder';
import { etagOf, isReadFirst, writeAsRead } from './replace';
import { batchingOf, fixBatching, keyHeaderOf, sentRequests, type SentRequests } from './runState';
import { idempotencyOf, warnOfRetries, writeOne, writtenRecord } from './writeOne';

/** Further properties of the writes. */
interface Circumstances {
	/** How many there are; by default, one for each input item. */
	count?: number;
	/** Whether they apply only to the versions they name. */
	isVersioned?: boolean;
	/** Whether some apply only to the record as read, because its list returns no version. */
	isReadFirst?: boolean;
	/** The meaning of a refusal, if it is not simply an error. */
	refused?(error: Error, item: number): Result | Error;
}

/**
 * Writes records, for all operations: in batches if the service supports them, otherwise with single requests,
 * a few at a time; with read, change and write if the service replaces whole records. If the user turned
 * batches off, requests are sent one after another.
 *
 * @param read reads the write of an item; throws Error in the user's words
 * @param answer makes the item's output of the record the service answered with, the status and what was sent
 */
export function writeRecords(
	execution: Execution,
	description: WriteDescription,
	read: (item: number) => Write,
	answer: (record: IDataObject, item: number, answered: { status: number; body: IDataObject | undefined }) => Result,
	{ count = execution.n8n.getInputData().length, isVersioned = false, isReadFirst: areReadFirst = false, refused = (error) => error }: Circumstances = {},
): Run | Batched {
	const { takesIfMatch } = description;
	const isOncePer = hasWriteOncePer(execution);
	const requestedSize = isOncePer ? 1 : batchSizeOption(execution);
	const isBatchSafe = !areReadFirst && (!isVersioned || description.batch?.takesVersion || !takesIfMatch);
	const { size, batch } = batchingOf(execution, isBatchSafe ? description.batch : undefined, requestedSize);
	const isBatched = size > 1;
	const requestLog = sentRequests(execution);

	const alone = async (write: Write, item: number): Promise<Result | Error> => {
		fixBatching(execution);
		const { version } = write;
		try {
			if (isReadFirst(description, write)) {
				const { record, status } = await writeAsRead(execution, description, write, [item]);
				return answer(record, item, { status, body: write.body });
			}
			const isSafeInBatchOnly = version !== undefined && !takesIfMatch && batch?.takesVersion;
			if (isSafeInBatchOnly) {
				const [result] = await sendInBatch(batch, [item], [write]);
				return outcome(result!, item, write);
			}
			const headers = version !== undefined && takesIfMatch ? { headers: { 'if-match': etagOf(version) } } : {};
			const { record, status } = await writeOne(execution, description, { ...write, ...headers }, [item]);
			return answer(record, item, { status, body: write.body });
		} catch (error) {
			return refused(error as Error, item);
		}
	};
	const outcome = (result: BatchResult | Error, item: number, { id, body }: Write): Result | Error => {
		if (result instanceof Error) return refused(result, item);
		if ('problem' in result) return refused(execution.api.failure(result.problem), item);
		const record = writtenRecord(execution, { ...description, answersId: batch?.answersId }, id, result);
		return record instanceof Error ? refused(record, item) : answer(record, item, { status: result.status, body });
	};

	const sendInBatch = async (batch: BatchDescription, items: number[], writes: Write[]) => {
		const [first] = writes;
		const path = first!.collection + batch.path;
		const idempotency = idempotencyOf(execution, keyHeaderOf(execution, description, 'batch'), items);
		warnOfRetries(execution, { method: 'POST', path, ...idempotency });
		return await sendBatch(execution.api.send, {
			description: batch,
			path,
			items: writes.map((write) => itemOf(write, batch)),
			areNew: writes.every(({ id, mayExist }) => id === undefined && mayExist !== true),
			...(first!.query && { query: first!.query }),
			...idempotency,
		});
	};

	/**
	 * The outcome of each item of a batch. An item that the service deferred is sent alone, unless that could
	 * write it twice: it waits, and is retried under its own key, because the batch's key would always return
	 * the same response. If the service defers that request as well, the remaining items are not tried: each
	 * would wait as long.
	 */
	const outcomesOf = async (
		results: Array<BatchResult | Error>,
		items: number[],
		writes: Write[],
		goesOn: GoesOn,
	): Promise<Results> => {
		let isTried = keyHeaderOf(execution, description, 'single')?.isPromised === true;
		const isAgain = (place: number) => {
			const result = results[place]!;
			const write = writes[place]!;
			if (!('problem' in result) || sharesRecord(write, writes)) return false;
			return result.problem.status === rateLimited || (result.problem.status === unavailable && isSafeToRepeat(description, write));
		};
		const outcomes = results.map((result, place) => (isAgain(place) ? undefined : outcome(result, items[place]!, writes[place]!)));
		for (const [place, write] of writes.entries()) {
			if (outcomes[place]) continue;
			if (isTried && goesOn(outcomes)) {
				outcomes[place] = await alone(write, items[place]!);
				isTried = !isAnsweredWith(outcomes[place], rateLimited, unavailable);
			} else {
				outcomes[place] = outcome(results[place]!, items[place]!, write);
			}
		}
		return outcomes;
	};

	/** Writes records that share path and query with one request. */
	const sendTogether = async (items: number[], writes: Write[], goesOn: GoesOn): Promise<Results> => {
		const [first] = writes;
		if (!first) return [];
		fixBatching(execution);
		if (isBatched) requestLog.add(items);
		try {
			if (!batch || writes.length === 1) return [await alone(first, items[0] ?? 0)];
			return await outcomesOf(await sendInBatch(batch, items, writes), items, writes, goesOn);
		} catch (error) {
			if (!isAnsweredWith(error, 413) || writes.length === 1) return items.map((item) => refused(error as Error, item));
			requestLog.remove(items);
			const half = Math.ceil(writes.length / 2);
			const results = await sendTogether(items.slice(0, half), writes.slice(0, half), goesOn);
			if (!goesOn(results)) return results;
			return [...results, ...(await sendTogether(items.slice(half), writes.slice(half), goesOn))];
		}
	};

	if (count === 1 || (requestedSize === 1 && size === 1 && !isOncePer)) {
		return async (item) => {
			const result = await alone(read(item), item);
			if (result instanceof Error) throw result;
			return result;
		};
	}
	return {
		size,
		assemble(items): Batch {
			const writes = items.map((item) => valueOrError(() => read(item)));
			const { requests, refused: unsent } = requestsFor(items, writes, requestLog);
			const records = writes.flatMap((write) =>
				write instanceof Error ? [] : affectedRecords(write, isBatched),
			);
			if (isOncePer) for (const item of items) records.push(`once per ${onceValue(execution, item)}`);
			return {
				records: new Set(records),
				async send(goesOn) {
					const results: Results = [];
					for (const places of requests) {
						if (!goesOn(results)) break;
						const answered = await sendTogether(
							places.map((place) => items[place] ?? 0),
							places.map((place) => writes[place] as Write),
							goesOn,
						);
						places.forEach((place, i) => (results[place] = answered[i]));
					}
					for (const [place, error] of unsent) results[place] = error;
					return results;
				},
			};
		},
	};
}

function itemOf({ id, version, body }: Write, { takesVersion }: BatchDescription): IDataObject {
	return { ...body, ...(id !== undefined && { id }), ...(version !== undefined && takesVersion && { version }) };
}

/**
 * The places of the writes in each request, and the errors of those in none. Items that an earlier attempt has
 * sent together stay together, even if others are readable now: under another key, they would be written again.
 */
function requestsFor(items: number[], writes: Array<Write | Error>, requestLog: SentRequests) {
	const refused = new Map<number, Error>();
	const requests: number[][] = [];
	const isPlanned = new Set<number>();
	for (const [place, item] of items.entries()) {
		const write = writes[place];
		if (write instanceof Error) refused.set(place, write);
		const requestItems = isPlanned.has(place) ? undefined : requestLog.with(item);
		if (!requestItems) continue;
		const places = requestItems.map((requestItem) => items.indexOf(requestItem)).filter((index) => index >= 0);
		for (const index of places) isPlanned.add(index);
		const group = places.map((index) => writes[index]!);
		const isSame = places.length === requestItems.length && groupByRequest(group)[0]?.length === group.length;
		if (isSame) {
			requests.push(places);
			continue;
		}
		for (const index of places) if (!refused.has(index)) refused.set(index, divided(requestItems));
	}
	const others = writes.map((write, place) => (isPlanned.has(place) ? divided([]) : write));
	requests.push(...groupByRequest(others));
	requests.sort(([a = 0], [b = 0]) => a - b);
	return { requests, refused };
}

function divided(items: readonly number[]): Error {
	return new Error(
		`An earlier attempt sent this item in one request with ${items.length - 1} others, some of which have changed since. To avoid duplicates, nothing was sent. Check the records, then run the workflow again.`,
	);
}

/** The user's Batch Size; without one, as many as the service takes. */
function batchSizeOption({ n8n }: Execution): number {
	return readWholeNumber('Batch Size', n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 }) || Infinity;
}

/**
 * Whether a change that may have been made can be repeated with the same effect. Not a change of a specific
 * version, which would have changed, nor a deletion, whose record would be missing.
 */
const isSafeToRepeat = ({ method }: WriteDescription, { version }: Write): boolean =>
	(method === 'PUT' || method === 'PATCH') && version === undefined;

function valueOrError(read: () => Write): Write | Error {
	try {
		return read();
	} catch (error) {
		return error as Error;
	}
}

/** Two writes of one value wait for each other; a value that cannot be evaluated fails when it is sent. */
function onceValue(execution: Execution, item: number): string {
	try {
		return writeOncePer(execution, item);
	} catch {
		return '';
	}
}

