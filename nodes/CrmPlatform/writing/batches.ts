import { batchAnswers } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { BatchDescription, WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith } from '../api/record';
import { chunks } from '../base/lists';
import { getOrCreate } from '../base/maps';
import type { Execution, Results, Work, Write, Writes } from '../model';
import { slicesAtOnce } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
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
 * request; those of another collection need a further one (`requestsOf`). Slices that change the same record run one after
 * another, so that of two items for one record the later one wins.
 *
 * @param areAlone whether each write needs a request of its own
 */
export function writeRecords(execution: Execution, writes: Writes, areAlone = false): Work {
	const isOncePer = hasWriteOncePer(execution);
	// The user's Batch Size; without it, as many as the service accepts.
	const chosen = parseWholeNumber('Batch Size', execution.n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 });
	const requested = isOncePer ? 1 : chosen || Infinity;
	const { batch } = writes.description;
	const size = sliceSizeOf(execution, batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const sending: Sending = { execution, writes, sent: size > 1 ? sentBatches(execution) : undefined };
	const inFlight = new Set<{ records: ReadonlySet<string>; ended: Promise<void> }>();
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		async send(items, mayContinue) {
			const slice = items.map((item): ItemWrite => ({ item, write: takeWrite(writes, item) }));
			const records = new Set(slice.flatMap(({ item, write }) => affectedRecords(write, size > 1, isOncePer ? onceValue(execution, item) : undefined)));
			const before = [...inFlight].filter((other) => [...records].some((record) => other.records.has(record)));
			let end: () => void = () => undefined;
			const ownPlace = { records, ended: new Promise<void>((resolve) => (end = resolve)) };
			inFlight.add(ownPlace);
			try {
				await Promise.all(before.map(({ ended }) => ended));
				const requests = requestsOf(sending, slice);
				while (requests.length > 0 && mayContinue(slice.map(({ result }) => result))) {
					requests.unshift(...(await sendTogether(sending, requests.shift()!)));
				}
				const results = slice.map(({ write, result }) => (write instanceof Error ? write : result));
				// Before a slice that waits for this one asks the same.
				mayContinue(results);
				return results;
			} finally {
				inFlight.delete(ownPlace);
				end();
			}
		},
	};
}

/** Takes the write of an item, which is needed once: the writes of many items would need much memory. */
export function takeWrite({ items }: Writes, item: number): Write | Error {
	const write = items[item]!;
	items[item] = wasTaken;
	return write;
}

const wasTaken = new Error('The write of this item was needed a second time. Report this error of the node.');

/** The value of Write Once Per; an invalid one fails when it is sent. */
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
 *
 * @param once the value of Write Once Per: two writes with one value wait for each other
 */
function affectedRecords(write: Write | Error, usesBatches: boolean, once: string | undefined): string[] {
	const written = once === undefined ? [] : [`once per ${once}`];
	if (write instanceof Error || write.deletion !== undefined) return written;
	const { collection, id, match = id, mayExist } = write;
	if (match !== undefined) return [...written, `${collection}/${match}`];
	return mayExist || !usesBatches ? [...written, collection] : written;
}

/**
 * The writes of each request: those of one collection and description. Items that an earlier attempt sent together stay
 * together, even if more items are readable now: under another key, they would be written again.
 */
function requestsOf({ writes, sent }: Sending, slice: ItemWrite[]): ReadyWrite[][] {
	const placeOf = ({ write }: ItemWrite) => (write instanceof Error ? undefined : `${write.collection} ${write.description?.method ?? ''}`);
	const groups = new Map<string | readonly number[], ItemWrite[]>();
	for (const entry of slice) {
		const group = sent?.with(entry.item) ?? placeOf(entry);
		if (group !== undefined) getOrCreate(groups, group, () => []).push(entry);
	}
	return [...groups].flatMap(([group, entries]) => {
		const [place, ...otherPlaces] = new Set(entries.map(placeOf));
		if (typeof group !== 'string' && (place === undefined || otherPlaces.length > 0 || entries.length < group.length)) {
			for (const entry of entries) if (!(entry.write instanceof Error)) entry.write = divided(group);
			return [];
		}
		const ready = entries as ReadyWrite[];
		return sent && (ready[0]!.write.description ?? writes.description).batch ? [ready] : ready.map((entry) => [entry]);
	});
}

function divided(items: readonly number[]): Error {
	return new Error(
		`An earlier attempt sent this item in one request with ${items.length - 1} others, some of which have changed since. To avoid duplicates, nothing was sent. Check the records, then run the workflow again.`,
	);
}

/** Sends writes with one request. @returns nothing, or its halves if it is too large for the service */
async function sendTogether({ execution, writes, sent }: Sending, request: ReadyWrite[]): Promise<ReadyWrite[][]> {
	const { write } = request[0]!;
	const description = write.description ?? writes.description;
	const items = request.map(({ item }) => item);
	try {
		sent?.add(items);
		const all = request.length > 1 ? await writeBatch(execution, description, description.batch!, request) : [await writeOne(execution, description, write, items)];
		for (const [i, entry] of request.entries()) {
			const written = all[i]!;
			entry.result = written instanceof Error ? written : writes.resultFrom(written.record, { status: written.status, write: entry.write });
		}
		return [];
	} catch (error) {
		if (request.length > 1 && isAnsweredWith(error, tooLarge)) {
			sent?.remove(items);
			return chunks(request, Math.ceil(request.length / 2));
		}
		for (const entry of request) entry.result = error as Error;
		return [];
	}
}

async function writeBatch(execution: Execution, description: WriteDescription, batch: BatchDescription, writes: ReadyWrite[]): Promise<Array<Written | Error>> {
	const { collection, query } = writes[0]!.write;
	const areNew = writes.every(({ write: { id, mayExist } }) => id === undefined && mayExist !== true);
	const bodies = writes.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const request: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, ...(query && { query }) };
	const response = await sendWrite(execution, batch, request, writes.map(({ item }) => item), !areNew);
	return batchAnswers(response, bodies, areNew).map((answer, i) => {
		if ('problem' in answer) return execution.api.failure(answer.problem);
		const record = writtenRecord(execution, { ...description, returnsId: batch.returnsId }, writes[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
}
