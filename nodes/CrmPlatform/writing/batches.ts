import { NodeApiError } from 'n8n-workflow';

import { batchAnswers } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith, isCertainlyUnwritten } from '../api/refusals';
import { chunks } from '../base/lists';
import { orThrow, resultOrError } from '../base/results';
import { getOrCreate, occurrences } from '../base/maps';
import { nodeFailure, withLines } from '../failure';
import { SkippedItem, type NodeRun, type MayContinue, type Result, type Results, type Work, type Write, type Writes } from '../model';
import { slicesAtOnce, Turns } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
import {
	batchOf, earlierBatches, forgetBatch, isUnanswered, itemsOfBatch, possiblyWritten, rememberBatch, rememberRefused, runState, sliceSizeOf,
	type RunState,
} from './runState';
import { sendAlone, writtenRecord, type Written } from './sendAlone';
import { hasWriteOncePer, sendUnderKey, writeOncePer } from './sendUnderKey';
import { outputOfWrite } from './writtenOutput';

/** What all slices of a run share. */
interface SlicedRun extends Pick<Writes, 'description' | 'output'> {
	run: NodeRun;
	state: RunState;
	/** The writes that no slice has taken yet: those of many items need much memory. */
	untaken: Map<number, Write | Error>;
	turns: Turns;
	usesBatches: boolean;
	/** The batch in which an earlier attempt sent an item. */
	earlier: ReadonlyMap<string, string>;
	/** The items that one may have written. */
	written: ReadonlySet<number>;
	/** By record, the last item that an earlier attempt may have written; that of any record under `unreadable`. */
	lastWritten: ReadonlyMap<string, number>;
}

interface ItemWrite {
	item: number;
	write: Write;
}

/**
 * Sends the writes of any operation: in batches if the service supports them, otherwise with single requests, a few at
 * a time. If the user turned batches off, requests are sent one after another.
 *
 * The items are divided into slices of as many items as one batch may have. The items of a slice usually share one
 * request; those of another collection need a further one (`requestsIn`). Slices that change the same record run one after
 * another, so that of two items for one record the later one wins.
 *
 * @param areAlone whether each write needs a request of its own
 */
export function inSlices(run: NodeRun, { writes, description, output }: Writes, areAlone = false): Work {
	const isOncePer = hasWriteOncePer(run);
	// The user's Batch Size; without it, as many as the service accepts.
	const chosen = parseWholeNumber('Batch Size', run.n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 });
	const requested = isOncePer ? 1 : chosen || Infinity;
	const { batch } = description;
	const state = runState(run);
	const size = sliceSizeOf(state, batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const usesBatches = size > 1;
	const earlier = earlierBatches(state);
	const written = possiblyWritten(state);
	const lastWritten = lastItems([...written], writes);
	const lastSent = lastItems([...earlier.keys()].flatMap(itemsOfBatch), writes);
	const untaken = new Map<number, Write | Error>();
	const slicedRun: SlicedRun = { run, state, description, output, untaken, turns: new Turns(), usesBatches, earlier, written, lastWritten };
	for (const [item, write] of writes.entries()) {
		const isUnsent = !(write instanceof Error) && !earlier.has(batchOf([item], write)) && isOvertaken(lastSent, { item, write }, []);
		const isUnreadable = write instanceof Error && !(write instanceof SkippedItem) && written.has(item);
		untaken.set(item, isUnsent ? new Error(overtaken) : isUnreadable ? afterEarlier(run, write, item) : write);
	}
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		handle: async (items, mayContinue) => await sendSlice(slicedRun, items, mayContinue),
	};
}

/**
 * Sends the writes of a slice, after earlier ones that change the same records: its requests one after another; one that is
 * too large for the service, in halves.
 */
async function sendSlice(slicedRun: SlicedRun, items: number[], mayContinue: MayContinue): Promise<Results> {
	const { run, output, untaken, turns, usesBatches } = slicedRun;
	const slice = items.map((item) => ({ item, write: untaken.get(item)! }));
	for (const item of items) untaken.delete(item);
	const records = new Set(slice.flatMap(({ write }) => affectedRecords(write, usesBatches)));
	// Two writes with one value wait for each other; an invalid one fails when it is sent.
	if (hasWriteOncePer(run)) for (const item of items) records.add(`once per ${String(resultOrError(() => writeOncePer(run, item)))}`);
	const endTurn = await turns.begin(records);
	try {
		const sent = new Map<number, Result | Error>();
		const requests = requestsIn(slicedRun, slice);
		while (requests.length > 0 && mayContinue([...sent.values()])) {
			const together = requests.shift()!;
			const results = await sendTogether(slicedRun, together);
			for (const [i, { item, write }] of results ? together.entries() : [])
				sent.set(item, resultOrError(() => outputOfWrite(output, orThrow(results![i]!), write)));
			if (!results) requests.unshift(...chunks(together, Math.ceil(together.length / 2)));
		}
		const results = slice.map(({ item, write }) => (write instanceof Error ? write : sent.get(item)));
		// Before a slice that waits for this one asks the same.
		mayContinue(results);
		return results;
	} finally {
		endTurn();
	}
}

/**
 * The records that other writes must not change at the same time: all of the collection if it is unknown which one is
 * changed, or if single additions keep their order, which may be intended.
 */
function affectedRecords(write: Write | Error, usesBatches: boolean): string[] {
	if (write instanceof Error || write.keySubject !== undefined) return [];
	const { collection, id, orderKey = id, mayExist } = write;
	if (orderKey !== undefined) return [`${collection}/${orderKey}`];
	return mayExist || !usesBatches ? [collection] : [];
}

/**
 * The writes of each request: those of one collection and description. Items that an earlier attempt sent together stay
 * together, even if more items are readable now: under another key, they would be written again. They come first, as new
 * items are later ones of their records.
 */
function requestsIn({ description, usesBatches, earlier, state }: SlicedRun, slice: Array<{ item: number; write: Write | Error }>): ItemWrite[][] {
	const requests = new Map<string, ItemWrite[]>();
	const sent = usesBatches ? Object.keys(state.batches ?? {}) : [];
	const writable = slice.flatMap(({ item, write }) =>
		(write instanceof Error ? [] : [{ item, write, earlierBatch: earlier.get(batchOf([item], write)) ?? '' }]));
	const rankOf = (batch: string) => (batch === '' ? sent.length : sent.indexOf(batch));
	for (const { item, write, earlierBatch } of writable.sort((a, b) => rankOf(a.earlierBatch) - rankOf(b.earlierBatch))) {
		const { method, batch } = write.description ?? description;
		const request = usesBatches && batch ? `${write.collection} ${method} ${earlierBatch}` : String(item);
		getOrCreate(requests, request, () => []).push({ item, write });
	}
	// A slice may be larger than a batch of another description.
	return [...requests.values()].flatMap((together) => chunks(together, (together[0]!.write.description ?? description).batch?.maximum ?? 1));
}

/** Stands for the record of an item that cannot be read now. */
const unreadable = '';

/** By record, the last one of these items. */
const lastItems = (items: number[], writes: Array<Write | Error>): Map<string, number> =>
	new Map(items.sort((a, b) => a - b).flatMap((item) => {
		const write = writes[item];
		const records = write === undefined || write instanceof Error ? [unreadable] : affectedRecords(write, true);
		return records.map((record): [string, number] => [record, item]);
	}));

/** Whether an earlier attempt may have written a later item of the same record, in another request: the last one wins. */
function isOvertaken(lastOf: ReadonlyMap<string, number>, { item, write }: ItemWrite, together: number[]): boolean {
	const records = affectedRecords(write, true);
	const last = Math.max(...records.map((record) => lastOf.get(record) ?? -1), (records.length > 0 && lastOf.get(unreadable)) || -1);
	return last > item && !together.includes(last);
}

const overtaken =
	'An earlier attempt has sent, and may have written, a later item of the same record, or of one in the same request. '
	+ 'To keep the later values, this item was not sent. Check the record.';

/** The error of an item that an earlier attempt may have written. */
function afterEarlier({ n8n }: NodeRun, error: Error, item: number): Error {
	const failure = nodeFailure(n8n, error, item);
	failure.context.mayBeDone = true;
	return failure.description?.includes(sentEarlier) ? failure : withLines(failure, [sentEarlier]);
}

const sentEarlier = 'An earlier attempt may have written this item. Check the record.';

/**
 * Sends a request of a slice, unless an earlier attempt got no answer to it, so that it may only now be written, and a later
 * item of one of its records may be written already.
 *
 * @param repeated how often the CRM has repeated its answer in this attempt
 * @returns the results of its items; undefined if it is too large for the service
 */
async function sendTogether(slicedRun: SlicedRun, together: ItemWrite[], repeated = 0): Promise<Array<Written | Error> | undefined> {
	const { run, state, earlier, written, lastWritten } = slicedRun;
	const [{ item: firstItem, write: first }] = together as [ItemWrite];
	const description = first.description ?? slicedRun.description;
	const items = together.map(({ item }) => item);
	const series = { isAddition: first.isAddition, repeated };
	const batch = batchOf(items, series);
	const earlierBatch = earlier.get(batchOf([firstItem], series));
	const isBatch = together.length > 1 || repeated > 0;
	try {
		if (isUnanswered(state, earlierBatch) && together.some((itemWrite) => isOvertaken(lastWritten, itemWrite, items))) throw new Error(overtaken);
		rememberBatch(state, batch, items, earlierBatch);
		const results = isBatch ? await sendBatch(slicedRun, description, together, repeated) : [await sendAlone(run, description, first, items)];
		rememberRefused(state, batch, items.filter((_, i) => isCertainlyUnwritten(results[i]!)));
		return results;
	} catch (error) {
		// Divided otherwise, what may have been written before would be written again.
		const isUnwritten = earlierBatch === undefined && isCertainlyUnwritten(error);
		if (isUnwritten) forgetBatch(state, batch);
		if (isBatch && isUnwritten && isAnsweredWith(error, tooLarge)) return undefined;
		const wasSent = error instanceof NodeApiError && items.some((item) => written.has(item));
		const failure = wasSent ? afterEarlier(run, error, firstItem) : (error as Error);
		return items.map(() => failure);
	}
}

/**
 * Sends a batch. If the CRM repeats its answer to an earlier attempt, what it refused then is sent again, under a further
 * key: the cause may be gone.
 */
async function sendBatch(
	slicedRun: SlicedRun, description: WriteDescription, together: ItemWrite[], repeated: number,
): Promise<Array<Written | Error>> {
	const { run } = slicedRun;
	const batch = description.batch!;
	const { collection, query, isAddition } = together[0]!.write;
	const areNew = together.every(({ write: { id, mayExist } }) => id === undefined && mayExist !== true);
	const bodies = together.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const request: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, query };
	// No item has a negative number.
	const items = [...together.map(({ item }) => item), ...(repeated > 0 ? [-repeated] : [])];
	const areRepeatable = together.every(({ write: { id, isRepeatable = id !== undefined } }) => isRepeatable);
	const response = await sendUnderKey(run, batch, request, { items, isAddition }, areRepeatable);
	const answers = batchAnswers(response, bodies, areNew);
	const results = answers.map((answer, i): Written | Error => {
		if ('problem' in answer) return run.api.failure(answer.problem);
		const record = writtenRecord(run, description, together[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
	for (const refused of response.isReplayed && repeated < maxRepeated ? refusedItems(slicedRun, together, results, repeated) : []) {
		const again = await sendTogether(slicedRun, refused, repeated + 1);
		for (const [i, itemWrite] of refused.entries()) results[together.indexOf(itemWrite)] = again?.[i] ?? results[together.indexOf(itemWrite)]!;
	}
	return results;
}

/** More attempts than people make: a service may call each of its answers repeated. */
const maxRepeated = 20;

/** The requests that repeat what an earlier attempt saw refused within a batch: those of earlier attempts, then all that is not overtaken. */
function refusedItems(
	slicedRun: SlicedRun, together: ItemWrite[], results: Array<Written | Error>, repeated: number,
): ItemWrite[][] {
	const earlierBatchOf = ({ item, write: { isAddition } }: ItemWrite, times: number) =>
		slicedRun.earlier.get(batchOf([item], { isAddition, repeated: times }));
	// A first attempt's repeated answers are its own.
	if (earlierBatchOf(together[0]!, repeated) === undefined) return [];
	const refused = together.filter((_, i) => isCertainlyUnwritten(results[i]!));
	const requests = new Map<string | undefined, ItemWrite[]>();
	for (const itemWrite of refused) getOrCreate(requests, earlierBatchOf(itemWrite, repeated + 1), () => []).push(itemWrite);
	const itemCounts = occurrences(refused.flatMap(({ write }) => affectedRecords(write, true)));
	const others = (requests.get(undefined) ?? []).filter((itemWrite, _, unsent) =>
		!isOvertaken(slicedRun.lastWritten, itemWrite, unsent.map(({ item }) => item))
		&& (requests.size === 1 || affectedRecords(itemWrite.write, true).every((record) => itemCounts.get(record) === 1)));
	requests.delete(undefined);
	return [...requests.values(), others].filter((request) => request.length > 0);
}
