import { batchAnswers } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith } from '../api/record';
import { chunks } from '../base/lists';
import { resultOrError } from '../base/errorOf';
import { getOrCreate } from '../base/maps';
import type { Execution, MayContinue, Result, Results, Work, Write, Writes } from '../model';
import { slicesAtOnce, Turns } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
import { itemsIn, sentBatches, sliceSizeOf, type SentBatches } from './runState';
import { hasWriteOncePer, sendUnderKey, writeOncePer, writeOne, writtenRecord, type Written } from './writeOne';

/** What all slices of a run share. */
interface Sending {
	execution: Execution;
	writes: Writes;
	/** The batches of this attempt and earlier ones; undefined if each record is sent alone. */
	sent: SentBatches | undefined;
}

interface ItemWrite {
	item: number;
	write: Write;
}

/** The results of items, as far as they are known. */
type ResultsByItem = Map<number, Result | Error>;

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
	const turns = new Turns();
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		async run(items, mayContinue) {
			const slice = new Map(items.map((item) => [item, takeWrite(writes, item)]));
			const records = new Set([...slice.values()].flatMap((write) => affectedRecords(write, size > 1)));
			// Two writes with one value wait for each other; an invalid one fails when it is sent.
			if (isOncePer) for (const item of items) records.add(`once per ${String(resultOrError(() => writeOncePer(execution, item)))}`);
			return await turns.take(records, async () => await sendSlice(sending, slice, mayContinue));
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

/** Sends the requests of a slice one after another; one that is too large for the service, in halves. */
async function sendSlice(sending: Sending, slice: ReadonlyMap<number, Write | Error>, mayContinue: MayContinue): Promise<Results> {
	const { requests, refused } = requestsOf(sending, slice);
	const sent: ResultsByItem = new Map();
	while (requests.length > 0 && mayContinue([...sent.values()])) {
		const request = requests.shift()!;
		const results = await sendTogether(sending, request);
		if (results) for (const [item, result] of results) sent.set(item, result);
		else requests.unshift(...chunks(request, Math.ceil(request.length / 2)));
	}
	const results = [...slice.keys()].map((item) => refused.get(item) ?? sent.get(item));
	// Before a slice that waits for this one asks the same.
	mayContinue(results);
	return results;
}

/**
 * The writes of each request: those of one collection and description. Items that an earlier attempt sent together stay
 * together, even if more items are readable now: under another key, they would be written again.
 */
function requestsOf({ writes, sent }: Sending, slice: ReadonlyMap<number, Write | Error>): { requests: ItemWrite[][]; refused: ResultsByItem } {
	const placeOf = ({ collection, description }: Write) => `${collection} ${description?.method ?? ''}`;
	const groups = new Map<string, ItemWrite[]>();
	const refused: ResultsByItem = new Map();
	for (const [item, write] of slice) {
		if (write instanceof Error) refused.set(item, write);
		else getOrCreate(groups, sent?.with(item) ?? placeOf(write), () => []).push({ item, write });
	}
	const requests = [...groups.values()].flatMap((group): ItemWrite[][] => {
		const [{ item, write }] = group as [ItemWrite];
		const range = sent?.with(item);
		const count = range === undefined ? group.length : itemsIn(range).length;
		if (group.length === count && group.every((other) => placeOf(other.write) === placeOf(write))) {
			return sent && (write.description ?? writes.description).batch ? [group] : group.map((alone) => [alone]);
		}
		for (const other of group) refused.set(other.item, divided(count));
		return [];
	});
	return { requests, refused };
}

const divided = (count: number): Error => new Error(
	`An earlier attempt sent this item in one request with ${count - 1} others, some of which have changed since. `
	+ 'To avoid duplicates, nothing was sent. Check the records, then run the workflow again.',
);

/** Sends writes with one request. @returns undefined if it is too large for the service */
async function sendTogether({ execution, writes, sent }: Sending, request: ItemWrite[]): Promise<ResultsByItem | undefined> {
	const [{ write: first }] = request as [ItemWrite];
	const description = first.description ?? writes.description;
	const items = request.map(({ item }) => item);
	const isBatch = request.length > 1;
	try {
		sent?.add(items);
		const answers = isBatch ? await writeBatch(execution, description, request) : [await writeOne(execution, description, first, items)];
		return new Map(request.map(({ item, write }, i) => {
			const written = answers[i]!;
			return [item, written instanceof Error ? written : writes.resultFrom(written.record, { status: written.status, write })];
		}));
	} catch (error) {
		if (!isBatch || !isAnsweredWith(error, tooLarge)) return new Map(items.map((item) => [item, error as Error]));
		sent?.remove(items);
		return undefined;
	}
}

async function writeBatch(execution: Execution, description: WriteDescription, request: ItemWrite[]): Promise<Array<Written | Error>> {
	const batch = description.batch!;
	const { collection, query } = request[0]!.write;
	const areNew = request.every(({ write: { id, mayExist } }) => id === undefined && mayExist !== true);
	const bodies = request.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const call: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, ...(query && { query }) };
	const response = await sendUnderKey(execution, batch, call, request.map(({ item }) => item), !areNew);
	return batchAnswers(response, bodies, areNew).map((answer, i) => {
		if ('problem' in answer) return execution.api.failure(answer.problem);
		const record = writtenRecord(execution, { ...description, returnsId: batch.returnsId }, request[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
}
