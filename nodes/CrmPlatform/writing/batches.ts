import { sendBatch } from '../api/batchRequest';
import { tooLarge } from '../api/http/statuses';
import type { BatchDescription, WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith } from '../api/record';
import { getOrCreate } from '../base/maps';
import type { Execution, MayContinue, Results, SlicedRun, Write, Writes } from '../model';
import { slicesAtOnce } from '../schedule';
import { readWholeNumber } from '../values/readers';
import { sentBatches, sliceSizeOf, type SentBatches } from './runState';
import { hasWriteOncePer, sendWrite, writeOncePer, writeOne, writtenRecord, type Written } from './writeOne';

/** What all slices of a run share. */
interface Sending {
	execution: Execution;
	writes: Writes;
	/** The batches of this attempt and earlier ones; undefined if each record is sent alone. */
	sent: SentBatches | undefined;
}

/** An item with its write, or why it cannot be sent. */
interface ItemWrite {
	item: number;
	write: Write | Error;
	result?: Results[number];
}

type ReadyWrite = ItemWrite & { write: Write };

/**
 * Writes records, for all operations: in batches if the service supports them, otherwise with single requests, a few at
 * a time. If the user turned batches off, requests are sent one after another.
 *
 * The items are divided into slices of as many items as one batch may have. The items of a slice usually share one
 * request; those of another collection need a further one (`requestsFor`).
 *
 * @param areAlone whether each write needs a request of its own
 */
export function writeRecords(execution: Execution, writes: Writes, areAlone = false): SlicedRun {
	const isOncePer = hasWriteOncePer(execution);
	const requested = isOncePer ? 1 : requestedBatchSize(execution);
	const { batch } = writes.description;
	const size = sliceSizeOf(execution, batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const sending: Sending = { execution, writes, sent: size > 1 ? sentBatches(execution) : undefined };
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		read(items) {
			const slice = items.map((item): ItemWrite => ({ item, write: writeOrError(writes, item) }));
			const records = new Set(slice.flatMap(({ write }) => affectedRecords(write, size > 1)));
			if (isOncePer) for (const item of items) records.add(`once per ${onceValue(execution, item)}`);
			return { records, send: async (mayContinue) => await sendSlice(sending, slice, mayContinue) };
		},
	};
}

/** The user's Batch Size; without it, as many as the service accepts. */
function requestedBatchSize({ n8n }: Execution): number {
	return readWholeNumber('Batch Size', n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 }) || Infinity;
}

/** The write of an item, or why it cannot be sent. */
export function writeOrError({ of }: Pick<Writes, 'of'>, item: number): Write | Error {
	try {
		return of(item);
	} catch (error) {
		return error as Error;
	}
}

/** The value of Write Once Per; two writes with one value wait for each other. An invalid value fails when it is sent. */
function onceValue(execution: Execution, item: number): string {
	try {
		return writeOncePer(execution, item);
	} catch {
		return '';
	}
}

/**
 * The records that other writes must not change at the same time: all of the collection if it is unknown which one is
 * changed, or if single additions keep their order, which may be intended.
 */
function affectedRecords(write: Write | Error, usesBatches: boolean): string[] {
	if (write instanceof Error || write.deletion !== undefined) return [];
	const { collection, id, match = id, mayExist } = write;
	if (match !== undefined) return [`${collection}/${match}`];
	return mayExist || !usesBatches ? [collection] : [];
}

/** Sends the items of a slice in as many requests as they need. */
async function sendSlice(sending: Sending, slice: ItemWrite[], mayContinue: MayContinue): Promise<Results> {
	const maySend = () => mayContinue(slice.map(({ result }) => result));
	for (const request of requestsFor(slice, sending.sent)) await sendTogether(sending, request, maySend);
	return slice.map(({ write, result }) => (write instanceof Error ? write : result));
}

/**
 * The writes of each request. Items that an earlier attempt sent together stay together, even if more items are readable
 * now: under another key, they would be written again.
 */
function requestsFor(slice: ItemWrite[], sent: SentBatches | undefined): ReadyWrite[][] {
	const requests: ReadyWrite[][] = [];
	const left = new Set(slice);
	for (const entry of slice) {
		const items = left.has(entry) ? sent?.with(entry.item) : undefined;
		if (!items) continue;
		const together = slice.filter(({ item }) => items.includes(item));
		const [group] = groupsOf(together);
		if (group?.length === items.length) requests.push(group);
		else for (const other of together) if (!(other.write instanceof Error)) other.write = divided(items);
		for (const other of together) left.delete(other);
	}
	requests.push(...groupsOf([...left]));
	return requests.sort(([a], [b]) => a!.item - b!.item);
}

function divided(items: readonly number[]): Error {
	return new Error(
		`An earlier attempt sent this item in one request with ${items.length - 1} others, some of which have changed since. To avoid duplicates, nothing was sent. Check the records, then run the workflow again.`,
	);
}

/** Groups writes that can share a request, since they have the same collection and description. */
function groupsOf(slice: ItemWrite[]): ReadyWrite[][] {
	const groups = new Map<string, ReadyWrite[]>();
	for (const entry of slice) {
		if (entry.write instanceof Error) continue;
		const { collection, description } = entry.write;
		getOrCreate(groups, `${collection} ${description?.method ?? ''}`, () => []).push(entry as ReadyWrite);
	}
	return [...groups.values()];
}

/** Sends writes with one request if there are several; in halves if that is too large for the service. */
async function sendTogether(sending: Sending, request: ReadyWrite[], maySend: () => boolean): Promise<void> {
	if (!maySend()) return;
	const { execution, writes, sent } = sending;
	const description = request[0]!.write.description ?? writes.description;
	const items = request.map(({ item }) => item);
	try {
		sent?.add(items);
		if (request.length > 1 && sent && description.batch) return await writeBatch(sending, description, description.batch, request);
		for (const entry of request) {
			const { item, write } = entry;
			const resultOf = ({ record, ...answer }: Written) => writes.resultFrom(record, item, { ...answer, body: write.body });
			if (maySend()) entry.result = await writeOne(execution, description, write, [item]).then(resultOf).catch((error: Error) => error);
		}
	} catch (error) {
		if (request.length === 1 || !isAnsweredWith(error, tooLarge)) {
			for (const entry of request) entry.result = error as Error;
			return;
		}
		sent?.remove(items);
		const half = Math.ceil(request.length / 2);
		for (const part of [request.slice(0, half), request.slice(half)]) await sendTogether(sending, part, maySend);
	}
}

async function writeBatch({ execution, writes: { resultFrom } }: Sending, description: WriteDescription, batch: BatchDescription, request: ReadyWrite[]): Promise<void> {
	const all = request.map(({ write }) => write);
	const { collection, query } = all[0]!;
	const areNew = all.every(({ id, mayExist }) => id === undefined && mayExist !== true);
	const items = request.map(({ item }) => item);
	const answers = await sendBatch(async (sent) => await sendWrite(execution, batch, sent, items, !areNew), {
		description: batch,
		path: collection + batch.path,
		items: all.map(({ id, version, body }) => ({
			...body,
			...(id !== undefined && { id }),
			...(version !== undefined && batch.takesVersion && { version }),
		})),
		areNew,
		...(query && { query }),
	});
	for (const [i, answer] of answers.entries()) {
		const entry = request[i]!;
		if ('problem' in answer) {
			entry.result = execution.api.failure(answer.problem);
			continue;
		}
		const { id, body } = entry.write;
		const record = writtenRecord(execution, { ...description, answersId: batch.answersId }, id, answer);
		entry.result = record instanceof Error ? record : resultFrom(record, entry.item, { status: answer.status, body });
	}
}
