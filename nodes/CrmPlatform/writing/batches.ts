import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { sendBatch, type BatchResult } from '../api/batch';
import type { WriteDescription } from '../api/openapi/writing';
import type { Batch, Batched, Execution, Result, Run } from '../model';
import { idempotencyOf, writeOne } from './single';
import { groupByRequest, affectedRecords, sharesRecord, type Write } from './order';

/**
 * Writes one record for each item: several in batches where the service takes them, else by plain
 * requests, a few at a time. Where the user turned batches off, one request goes after another.
 *
 * @param read what to write for an item; throws Error in the user's words
 * @param answer what the item becomes, given what the service answered
 */
export function writeRecords(
	job: Execution,
	description: WriteDescription,
	read: (item: number) => Write,
	answer: (record: IDataObject) => Result = (record) => record,
): Run | Batched {
	const { batch } = description;
	const alone = async (write: Write, item: number) =>
		answer(await writeOne(job, description, write, [item]));
	const wanted = wantedSize(job);
	const inTurn = wanted === 1 || job.n8n.getInputData().length === 1;
	if (inTurn) return async (item) => await alone(read(item), item);
	const size = batch ? Math.min(wanted, batch.maximum) : 1;
	const isBatched = size > 1;

	/**
	 * What came of each item of a batch. One that the service put off is sent alone: that waits, and is
	 * tried again under a key of its own, while the batch's would give the same answer for good. Once
	 * that ends with the item put off as well, the rest is not tried: each would wait as long.
	 */
	const settled = async (
		results: Array<BatchResult | Error>,
		items: number[],
		writes: Write[],
	): Promise<Array<Result | Error>> => {
		let isTried = description.idempotencyHeader !== undefined;
		const outcomes: Array<Result | Error> = [];
		for (const [place, write] of writes.entries()) {
			const one = results[place]!;
			if (one instanceof Error) {
				outcomes.push(one);
			} else if ('record' in one) {
				outcomes.push(answer(one.record));
			} else if (isTried && isPutOff(one.problem.status) && !sharesRecord(write, writes)) {
				const outcome = await alone(write, items[place]!).catch((error: Error) => error);
				isTried = !(outcome instanceof NodeApiError && isPutOff(Number(outcome.httpCode)));
				outcomes.push(outcome);
			} else {
				outcomes.push(job.api.failure(one.problem));
			}
		}
		return outcomes;
	};

	/** Records of one batch: they share path and query. */
	const together = async (items: number[], writes: Write[]): Promise<Array<Result | Error>> => {
		const [first] = writes;
		if (!first) return [];
		try {
			if (!batch || writes.length === 1) return [await alone(first, items[0] ?? 0)];
			const path = first.collection + batch.path;
			const results = await sendBatch(job.api.send, {
				description: batch,
				path,
				items: writes.map(({ id, body }) => (id === undefined ? { ...body } : { id, ...body })),
				...(first.query && { query: first.query }),
				...idempotencyOf(job, description, items, 'POST', path),
			});
			return await settled(results, items, writes);
		} catch (error) {
			if (!isTooLarge(error) || writes.length === 1) return writes.map(() => error as Error);
			const half = Math.ceil(writes.length / 2);
			return [
				...(await together(items.slice(0, half), writes.slice(0, half))),
				...(await together(items.slice(half), writes.slice(half))),
			];
		}
	};

	return {
		size,
		assemble(items): Batch {
			const writes = items.map((item) => outcomeOf(() => read(item)));
			return {
				records: new Set(
					writes.flatMap((write) => (write instanceof Error ? [] : affectedRecords(write, isBatched))),
				),
				async send() {
					const results: Array<Result | Error> = [];
					for (const [place, write] of writes.entries()) {
						if (write instanceof Error) results[place] = write;
					}
					for (const places of groupByRequest(writes)) {
						const group = places.map((place) => writes[place] as Write);
						const answered = await together(
							places.map((place) => items[place] ?? 0),
							group,
						);
						places.forEach((place, i) => (results[place] = answered[i]!));
					}
					return results;
				},
			};
		},
	};
}

/** The user's Batch Size; without one, as many as the service takes. */
function wantedSize({ n8n }: Execution): number {
	const wanted = Math.floor(Number(n8n.getNodeParameter('options.batchSize', 0, 0)));
	return wanted >= 1 ? wanted : Infinity;
}

/** The two answers that say nothing was done (RFC 6585, section 4; RFC 9110, section 15.6.4). */
const isPutOff = (status?: number): boolean => status === 429 || status === 503;

function outcomeOf(read: () => Write): Write | Error {
	try {
		return read();
	} catch (error) {
		return error as Error;
	}
}

function isTooLarge(error: unknown): boolean {
	return error instanceof NodeApiError && error.httpCode === '413';
}
