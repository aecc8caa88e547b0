import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { sendBatch, type BatchResult } from '../api/batch';
import type { WriteDescription } from '../api/openapi/writing';
import type { Batch, Batched, Execution, Result, Run } from '../model';
import { hasWriteOncePer, writeOncePer } from './oncePer';
import { groupByRequest, affectedRecords, sharesRecord, type Write } from './order';
import { batchingOf, fixBatching, keyHeaderOf, sentRequests, type SentRequests } from './runState';
import { idempotencyOf, warnOfRetries, writeWithStatus } from './single';

/**
 * Writes one record for each item: several in batches where the service takes them, else by plain
 * requests, a few at a time. Where the user turned batches off, one request goes after another.
 *
 * @param read reads the write of an item; throws Error in the user's words
 * @param answer makes the item's output of the record the service answered with, and the HTTP status
 */
export function writeRecords(
	execution: Execution,
	description: WriteDescription,
	read: (item: number) => Write,
	answer: (record: IDataObject, item: number, status: number) => Result,
): Run | Batched {
	const alone = async (write: Write, item: number) => {
		fixBatching(execution);
		const { record, status } = await writeWithStatus(execution, description, write, [item]);
		return answer(record, item, status);
	};
	const isOncePer = hasWriteOncePer(execution);
	const wanted = isOncePer ? 1 : batchSizeOption(execution);
	const { size, batch } = batchingOf(execution, description, wanted);
	const isOneItem = execution.n8n.getInputData().length === 1;
	if (isOneItem || (wanted === 1 && size === 1 && !isOncePer)) {
		return async (item) => await alone(read(item), item);
	}
	const isBatched = size > 1;
	const sent = sentRequests(execution);

	/**
	 * What became of each item of a batch. One that the service put off is sent alone: that waits, and
	 * is retried under a key of its own, while the batch's would give the same answer for good. Once
	 * that ends with the item put off as well, the rest is not tried: each would wait as long.
	 */
	const outcomesOf = async (
		results: Array<BatchResult | Error>,
		items: number[],
		writes: Write[],
	): Promise<Array<Result | Error>> => {
		let isTried = keyHeaderOf(execution, description, 'single')?.isPromised === true;
		const outcomes: Array<Result | Error> = [];
		for (const [place, write] of writes.entries()) {
			const one = results[place]!;
			if (one instanceof Error) {
				outcomes.push(one);
			} else if ('record' in one) {
				outcomes.push(answer(one.record, items[place]!, one.status));
			} else if (isTried && isPutOff(one.problem.status) && !sharesRecord(write, writes)) {
				const outcome = await alone(write, items[place]!).catch((error: Error) => error);
				isTried = !(outcome instanceof NodeApiError && isPutOff(Number(outcome.httpCode)));
				outcomes.push(outcome);
			} else {
				outcomes.push(execution.api.failure(one.problem));
			}
		}
		return outcomes;
	};

	/** Writes records that share path and query with one request. */
	const sendTogether = async (items: number[], writes: Write[]): Promise<Array<Result | Error>> => {
		const [first] = writes;
		if (!first) return [];
		fixBatching(execution);
		if (isBatched) sent.add(items);
		try {
			if (!batch || writes.length === 1) return [await alone(first, items[0] ?? 0)];
			const path = first.collection + batch.path;
			const idempotency = idempotencyOf(execution, keyHeaderOf(execution, description, 'batch'), items);
			warnOfRetries(execution, { method: 'POST', path, ...idempotency });
			const results = await sendBatch(execution.api.send, {
				description: batch,
				path,
				items: writes.map(({ id, body = {} }) => (id === undefined ? body : { ...body, id })),
				...(first.query && { query: first.query }),
				...idempotency,
			});
			return await outcomesOf(results, items, writes);
		} catch (error) {
			if (!isTooLarge(error) || writes.length === 1) return writes.map(() => error as Error);
			sent.remove(items);
			const half = Math.ceil(writes.length / 2);
			return [
				...(await sendTogether(items.slice(0, half), writes.slice(0, half))),
				...(await sendTogether(items.slice(half), writes.slice(half))),
			];
		}
	};

	return {
		size,
		assemble(items): Batch {
			const writes = items.map((item) => valueOrError(() => read(item)));
			const { requests, refused } = requestsFor(items, writes, sent);
			const records = writes.flatMap((write) =>
				write instanceof Error ? [] : affectedRecords(write, isBatched),
			);
			if (isOncePer) for (const item of items) records.push(`once per ${onceValue(execution, item)}`);
			return {
				records: new Set(records),
				async send() {
					const results: Array<Result | Error> = [];
					for (const [place, error] of refused) results[place] = error;
					for (const places of requests) {
						const answered = await sendTogether(
							places.map((place) => items[place] ?? 0),
							places.map((place) => writes[place] as Write),
						);
						places.forEach((place, i) => (results[place] = answered[i]!));
					}
					return results;
				},
			};
		},
	};
}

/**
 * The places of the writes that go into each request, and why others go into none. Items that an
 * earlier attempt has sent together stay together, whichever others can be read by now: under another
 * key, they would be written again.
 */
function requestsFor(items: number[], writes: Array<Write | Error>, sent: SentRequests) {
	const refused = new Map<number, Error>();
	const requests: number[][] = [];
	const isPlanned = new Set<number>();
	for (const [place, item] of items.entries()) {
		const write = writes[place];
		if (write instanceof Error) refused.set(place, write);
		const together = isPlanned.has(place) ? undefined : sent.with(item);
		if (!together) continue;
		const places = together.map((one) => items.indexOf(one)).filter((one) => one >= 0);
		for (const one of places) isPlanned.add(one);
		const group = places.map((one) => writes[one]!);
		const isSame = places.length === together.length && groupByRequest(group)[0]?.length === group.length;
		if (isSame) {
			requests.push(places);
			continue;
		}
		for (const one of places) if (!refused.has(one)) refused.set(one, divided(together));
	}
	const others = writes.map((write, place) => (isPlanned.has(place) ? divided([]) : write));
	requests.push(...groupByRequest(others));
	requests.sort(([one = 0], [other = 0]) => one - other);
	return { requests, refused };
}

function divided(items: readonly number[]): Error {
	return new Error(
		`An earlier attempt sent this item in one request with ${items.length - 1} others, some of which have changed since. To avoid duplicates, nothing was sent. Check the records, then run the workflow again.`,
	);
}

/** The user's Batch Size; without one, as many as the service takes. */
function batchSizeOption({ n8n }: Execution): number {
	const wanted = Math.floor(Number(n8n.getNodeParameter('options.batchSize', 0, 0)));
	return wanted >= 1 ? wanted : Infinity;
}

/** The two statuses that say nothing was done (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const isPutOff = (status?: number): boolean => status === 429 || status === 503;

function valueOrError(read: () => Write): Write | Error {
	try {
		return read();
	} catch (error) {
		return error as Error;
	}
}

/** Two writes of one value wait for each other; what cannot be evaluated fails when it is sent. */
function onceValue(execution: Execution, item: number): string {
	try {
		return writeOncePer(execution, item);
	} catch {
		return '';
	}
}

function isTooLarge(error: unknown): boolean {
	return error instanceof NodeApiError && error.httpCode === '413';
}
