import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { sendBatch } from '../api/batch';
import type { Query } from '../api/path';
import type { BatchDescription, WriteDescription } from '../api/writing';
import type { Batch, Batched, Job, Result, Run } from '../model';
import { keyed, writeOne } from './writeOne';

/** What is written for one item. */
export interface Write {
	/** Path of the collection, under which batches are sent. */
	collection: string;
	/** Path of a request for this record alone. */
	path: string;
	/** The record that is changed, where it exists already. */
	id?: string;
	body?: IDataObject;
	query?: Query;
	/** What tells the record from others, where its id is not known: two such writes keep their order. */
	match?: string;
}

/**
 * Writes one record for each item: several in batches where the service takes them, else by plain
 * requests, a few at a time. Where the user turned batches off, one request goes after another.
 *
 * @param read what to write for an item; throws Error in the user's words
 * @param answer what the item becomes, given what the service answered
 */
export function writing(
	job: Job,
	description: WriteDescription,
	read: (item: number) => Write,
	answer: (record: IDataObject) => Result = (record) => record,
): Run | Batched {
	const { batch } = description;
	const alone = async (write: Write, item: number) =>
		answer(await writeOne(job, description, write, [item]));
	const size = batch ? batchSize(job, batch) : 1;
	if ((batch && size === 1) || job.n8n.getInputData().length === 1) {
		return async (item) => await alone(read(item), item);
	}

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
				...keyed(job, description, items, 'POST', path),
			});
			return results.map((one) => {
				if (one instanceof Error) return one;
				return 'record' in one ? answer(one.record) : job.api.failure(one.problem);
			});
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
					writes.flatMap((write) => (write instanceof Error ? [] : recordsOf(write, size))),
				),
				async send() {
					const results: Array<Result | Error> = [];
					for (const [place, write] of writes.entries()) {
						if (write instanceof Error) results[place] = write;
					}
					for (const places of groupsOf(writes)) {
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

/** As many as the service takes, or fewer if the user says so. */
function batchSize({ n8n }: Job, { maximum }: BatchDescription): number {
	const wanted = Number(n8n.getNodeParameter('options.batchSize', 0, 0));
	return wanted >= 1 ? Math.min(Math.floor(wanted), maximum) : maximum;
}

/** The places of the writes that can share a request, in order. */
function groupsOf(writes: Array<Write | Error>): number[][] {
	const groups = new Map<string, number[]>();
	for (const [place, write] of writes.entries()) {
		if (write instanceof Error) continue;
		const key = JSON.stringify([write.collection, write.query]);
		const group = groups.get(key);
		if (group) group.push(place);
		else groups.set(key, [place]);
	}
	return [...groups.values()];
}

/**
 * What a write must not overtake: others of its record. Alone, what adds a record overtakes no other
 * that does, as their order may be meant.
 */
function recordsOf({ collection, id, match }: Write, size: number): string[] {
	const name = id ?? match;
	if (name !== undefined) return [`${collection}/${name}`];
	return size === 1 ? [collection] : [];
}

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
