import type { WriteDescription } from '../api/openapi/writing';
import type { Execution, Result, ResultFrom, Results, Slice, SlicedRun, Write } from '../model';
import { slicesAtOnce } from '../schedule';
import { readWholeNumber } from '../values/readers';
import { hasWriteOncePer, writeOncePer } from './oncePer';
import { RecordWriter } from './recordWriter';
import { batchingOf, type SentRequests } from './runState';
import { groupByRequest, affectedRecords } from './writeOrder';

/** How an operation's writes differ from one unconditional write for each input item. */
interface WriteOptions {
	/** Whether each write has a key of its own, and so a request. */
	areAlone?: boolean;
	/** Whether each write applies only to the version that it names. */
	isVersioned?: boolean;
	/** Whether some writes apply only to the record as read, because its list returns no version. */
	areReadFirst?: boolean;
	/** The result of an item whose write failed; by default the error. */
	onRefusal?(error: Error, item: number): Result | Error;
}

/**
 * Writes records, for all operations: in batches if the service supports them, otherwise with single requests, a few at
 * a time. If the service replaces whole records, each is read, changed and written. If the user turned batches off,
 * requests are sent one after another.
 *
 * The items are divided into slices of as many items as one batch may have. The items of a slice usually share one
 * request; those of another collection or query need a further one (`groupByRequest`).
 *
 * @param writeOf reads the write of an item; throws Error in the user's words
 */
export function writeRecords(
	execution: Execution,
	description: WriteDescription,
	writeOf: (item: number) => Write,
	resultFrom: ResultFrom,
	options: WriteOptions = {},
): SlicedRun {
	const { onRefusal = (error) => error } = options;
	const isOncePer = hasWriteOncePer(execution);
	const requestedSize = isOncePer ? 1 : requestedBatchSize(execution);
	const { size, batch } = batchingOf(execution, mayShareRequest(description, options) ? description.batch : undefined, requestedSize);
	const usesBatches = size > 1;
	const writer = new RecordWriter(execution, description, { batch, usesBatches, resultFrom, onRefusal });

	return {
		size,
		atOnce: requestedSize === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		read(items): Slice {
			const writes = items.map((item) => valueOrError(() => writeOf(item)));
			const records = writes.flatMap((write) => (write instanceof Error ? [] : affectedRecords(write, usesBatches)));
			if (isOncePer) for (const item of items) records.push(`once per ${onceValue(execution, item)}`);
			return { records: new Set(records), send: sendingOf(writer, items, writes) };
		},
		writes: { description, of: writeOf, resultFrom },
	};
}

/** Whether one request may carry several writes. A record that is read first, or whose version is a header, needs its own. */
const mayShareRequest = ({ batch, takesIfMatch }: WriteDescription, { isVersioned, areReadFirst, areAlone }: WriteOptions): boolean =>
	areReadFirst !== true && areAlone !== true && (isVersioned !== true || batch?.takesVersion === true || takesIfMatch !== true);

/** Sends the items of a slice in as many requests as they need. */
function sendingOf(writer: RecordWriter, items: number[], writes: Array<Write | Error>): Slice['send'] {
	const { requests, unsendable } = requestsFor(items, writes, writer.requestLog);
	return async (mayContinue) => {
		const results: Results = [];
		for (const indexes of requests) {
			if (!mayContinue(results)) break;
			const requestResults = await writer.writeTogether(
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

function valueOrError(read: () => Write): Write | Error {
	try {
		return read();
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
