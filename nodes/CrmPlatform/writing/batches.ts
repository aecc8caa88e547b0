import type { IDataObject } from 'n8n-workflow';

import { sendBatch, type BatchAnswer } from '../api/batchRequest';
import { tooLarge } from '../api/http/statuses';
import type { BatchDescription, WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith } from '../api/record';
import { exactBody } from '../fields/exactBody';
import { fieldsOfNumbers } from '../mapping/acceptedFields';
import type { Execution, MayContinue, Results, Slice, SlicedRun, Write, Writes } from '../model';
import { slicesAtOnce } from '../schedule';
import { readWholeNumber } from '../values/readers';
import { etagOf, isReadFirst, writeAsRead } from './replace';
import { batchingOf, keyHeaderOf, pinBatching, reportReplay, sentRequests, type SentRequests } from './runState';
import { hasWriteOncePer, idempotencyOf, warnOfRetries, writeOncePer, writeOne, writtenRecord } from './writeOne';

/** How an operation's writes differ from one unconditional write for each input item. */
interface WriteOptions {
	/** Whether each write has a key of its own, and so a request. */
	areAlone?: boolean;
	/** Whether each write applies only to the version that it names. */
	isVersioned?: boolean;
	/** Whether some writes apply only to the record as read, because its list returns no version. */
	areReadFirst?: boolean;
}

/**
 * Writes records, for all operations: in batches if the service supports them, otherwise with single requests, a few at
 * a time. If the service replaces whole records, each is read, changed and written. If the user turned batches off,
 * requests are sent one after another.
 *
 * The items are divided into slices of as many items as one batch may have. The items of a slice usually share one
 * request; those of another collection or query need a further one (`groupByRequest`).
 */
export function writeRecords(execution: Execution, { description, of, resultFrom }: Writes, options: WriteOptions = {}): SlicedRun {
	const isOncePer = hasWriteOncePer(execution);
	const requestedSize = isOncePer ? 1 : requestedBatchSize(execution);
	const { size, batch } = batchingOf(execution, mayShareRequest(description, options) ? description.batch : undefined, requestedSize);
	const usesBatches = size > 1;
	const requestLog = sentRequests(execution);
	const writeTogether = writerOf(execution, { description, resultFrom, batch, requestLog: usesBatches ? requestLog : undefined });

	return {
		size,
		atOnce: requestedSize === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		read(items): Slice {
			const writes = items.map((item) => writeOrError({ of }, item));
			const records = writes.flatMap((write) => (write instanceof Error ? [] : affectedRecords(write, usesBatches)));
			if (isOncePer) for (const item of items) records.push(`once per ${onceValue(execution, item)}`);
			return { records: new Set(records), send: sendingOf(items, writes, requestLog, writeTogether) };
		},
	};
}

/** Whether one request may carry several writes. A record that is read first, or whose version is a header, needs its own. */
const mayShareRequest = ({ batch, takesIfMatch }: WriteDescription, { isVersioned, areReadFirst, areAlone }: WriteOptions): boolean =>
	areReadFirst !== true && areAlone !== true && (isVersioned !== true || batch?.takesVersion === true || takesIfMatch !== true);

/** Sends the items of a slice in as many requests as they need. */
function sendingOf(items: number[], writes: Array<Write | Error>, requestLog: SentRequests, writeTogether: WriteTogether): Slice['send'] {
	const { requests, unsendable } = requestsFor(items, writes, requestLog);
	return async (mayContinue) => {
		const results: Results = [];
		for (const indexes of requests) {
			if (!mayContinue(results)) break;
			const requestResults = await writeTogether(
				indexes.map((index) => writes[index] as Write),
				indexes.map((index) => items[index] ?? 0),
				mayContinue,
			);
			indexes.forEach((index, i) => (results[index] = requestResults[i]));
		}
		for (const [index, error] of unsendable) results[index] = error;
		return results;
	};
}

/**
 * The indexes of the writes in each request, and the errors of writes that cannot be sent. Items that an earlier attempt
 * sent together stay together, even if more items are readable now: under another key, they would be written again.
 */
function requestsFor(items: number[], writes: Array<Write | Error>, requestLog: SentRequests) {
	const unsendable = new Map<number, Error>();
	const requests: number[][] = [];
	const isPlanned = new Set<number>();
	for (const [index, item] of items.entries()) {
		const write = writes[index];
		if (write instanceof Error) unsendable.set(index, write);
		const requestItems = isPlanned.has(index) ? undefined : requestLog.with(item);
		if (!requestItems) continue;
		const indexes = requestItems.map((requestItem) => items.indexOf(requestItem)).filter((position) => position >= 0);
		for (const position of indexes) isPlanned.add(position);
		const isSame = indexes.length === requestItems.length && groupByRequest(writes, indexes)[0]?.length === indexes.length;
		if (isSame) {
			requests.push(indexes);
			continue;
		}
		for (const position of indexes) if (!unsendable.has(position)) unsendable.set(position, divided(requestItems));
	}
	requests.push(...groupByRequest(writes, [...writes.keys()].filter((index) => !isPlanned.has(index))));
	requests.sort(([a = 0], [b = 0]) => a - b);
	return { requests, unsendable };
}

function divided(items: readonly number[]): Error {
	return new Error(
		`An earlier attempt sent this item in one request with ${items.length - 1} others, some of which have changed since. To avoid duplicates, nothing was sent. Check the records, then run the workflow again.`,
	);
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
 * Groups the indexes of writes that can share a request, since they have the same collection, description and query. Writes
 * to one collection with different queries may concern one record, so they keep their order.
 */
function groupByRequest(writes: Array<Write | Error>, indexes: number[]): number[][] {
	const groups: number[][] = [];
	const latest = new Map<string, { query: string; group: number[] }>();
	for (const index of indexes) {
		const write = writes[index];
		if (!write || write instanceof Error) continue;
		const query = JSON.stringify(write.query ?? {});
		const kind = `${write.collection} ${write.description?.method ?? ''}`;
		const open = latest.get(kind);
		if (open?.query === query) {
			open.group.push(index);
			continue;
		}
		const group = [index];
		groups.push(group);
		latest.set(kind, { query, group });
	}
	return groups;
}

/**
 * The records that other writes must not change at the same time. Without batches, additions to a collection keep their
 * order, which may be intended.
 */
function affectedRecords(write: Write, usesBatches: boolean): string[] {
	if (write.deletion !== undefined) return [];
	const name = nameOf(write);
	if (write.hasOtherNames || (name === undefined && !usesBatches)) return [write.collection];
	return name === undefined ? [] : [name];
}

function nameOf({ collection, id, match }: Write): string | undefined {
	const name = id ?? match;
	return name === undefined ? undefined : `${collection}/${name}`;
}

/** Writes records that share collection, description and query, with one request if the service accepts batches. */
type WriteTogether = (writes: Write[], items: number[], mayContinue: MayContinue) => Promise<Results>;

interface WriterOptions extends Omit<Writes, 'of'> {
	/** Undefined if each record is sent alone. */
	batch: BatchDescription | undefined;
	/** Which items were sent together, by this attempt and earlier ones, if batches are used. */
	requestLog: SentRequests | undefined;
}

function writerOf(execution: Execution, { description: usual, resultFrom, batch: usualBatch, requestLog }: WriterOptions): WriteTogether {
	const descriptionsOf = ({ description }: Write): [WriteDescription, BatchDescription | undefined] =>
		description ? [description, description.batch] : [usual, usualBatch];

	const sendTogether = async (batch: BatchDescription, writes: Write[], items: number[]): Promise<Results> => {
		const [description] = descriptionsOf(writes[0]!);
		const answers = await answersTo(execution, description, batch, writes, items);
		return answers.map((answer, i) => {
			if ('problem' in answer) return execution.api.failure(answer.problem);
			const { id, body } = writes[i]!;
			const record = writtenRecord(execution, { ...description, answersId: batch.answersId }, id, answer);
			return record instanceof Error ? record : resultFrom(record, items[i]!, { status: answer.status, body });
		});
	};

	const writeAlone = async (write: Write, item: number): Promise<Results[number]> => {
		const [description, batch] = descriptionsOf(write);
		const { version, body, deletion } = write;
		const identity = { ...execution.identity, ...(deletion !== undefined && { deletion }) };
		const ofWrite: Execution = { ...execution, identity };
		try {
			const needsBatchForVersion = version !== undefined && !description.takesIfMatch && batch?.takesVersion;
			if (needsBatchForVersion && !isReadFirst(description, write)) return (await sendTogether(batch, [write], [item]))[0];
			const headers = version !== undefined && description.takesIfMatch ? { headers: { 'if-match': etagOf(version) } } : {};
			const { record, ...answer } = isReadFirst(description, write)
				? await writeAsRead(ofWrite, description, write, [item])
				: await writeOne(ofWrite, description, { ...write, ...headers }, [item]);
			return resultFrom(record, item, { ...answer, body });
		} catch (error) {
			return error as Error;
		}
	};

	const writeTogether: WriteTogether = async (writes, items, mayContinue) => {
		const batch = writes[0] && descriptionsOf(writes[0])[1];
		pinBatching(execution);
		requestLog?.add(items);
		try {
			if (batch && writes.length > 1) return await sendTogether(batch, writes, items);
			const results: Results = [];
			for (const [i, write] of writes.entries()) if (mayContinue(results)) results.push(await writeAlone(write, items[i]!));
			return results;
		} catch (error) {
			if (!isAnsweredWith(error, tooLarge)) return items.map(() => error as Error);
			requestLog?.remove(items);
			const half = Math.ceil(writes.length / 2);
			const results = await writeTogether(writes.slice(0, half), items.slice(0, half), mayContinue);
			if (!mayContinue(results)) return results;
			return [...results, ...(await writeTogether(writes.slice(half), items.slice(half), mayContinue))];
		}
	};
	return writeTogether;
}

async function answersTo(execution: Execution, description: WriteDescription, batch: BatchDescription, writes: Write[], items: number[]): Promise<BatchAnswer[]> {
	const { collection, query } = writes[0]!;
	const path = collection + batch.path;
	const idempotency = idempotencyOf(execution, keyHeaderOf(execution, description, 'batch'), items);
	const fields = await fieldsOfNumbers(execution.api, collection, description.fields, writes.map(({ body }) => body));
	const areNew = writes.every(({ id, mayExist }) => id === undefined && mayExist !== true);
	warnOfRetries(execution, { method: areNew ? 'POST' : 'PUT', path, ...idempotency });
	return await sendBatch(async (request) => reportReplay(execution, await execution.api.send(request)), {
		description: batch,
		path,
		items: writes.map((write) => batchItem({ ...write, ...(write.body && { body: exactBody(fields, write.body) }) }, batch)),
		areNew,
		...(query && { query }),
		...idempotency,
	});
}

function batchItem({ id, version, body }: Write, { takesVersion }: BatchDescription): IDataObject {
	return { ...body, ...(id !== undefined && { id }), ...(version !== undefined && takesVersion && { version }) };
}
