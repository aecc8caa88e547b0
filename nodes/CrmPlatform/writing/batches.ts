import { NodeApiError } from 'n8n-workflow';

import { batchAnswers } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith } from '../api/refusals';
import { chunks } from '../base/lists';
import { resultOrError } from '../base/results';
import { getOrCreate, occurrences } from '../base/maps';
import type { NodeRun, MayContinue, Result, Results, Work, Write, Writes } from '../model';
import { slicesAtOnce, Turns } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
import {
	batchOf, earlierBatches, forgetBatch, rememberBatch, rememberRefused, runState, sliceSizeOf, type RunState,
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
	/** The batch in which an earlier attempt sent an item; undefined if each record is sent alone. */
	earlier: Map<string, string> | undefined;
	/** How many items each record has; undefined in a first attempt, and if an item that was sent in one is unreadable now. */
	itemCounts: ReadonlyMap<string, number> | undefined;
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
	const earlier = size > 1 ? earlierBatches(state) : undefined;
	const untaken = new Map(writes.entries());
	const isUnreadableNow = (write: Write | Error, item: number) =>
		write instanceof Error && [false, true].some((isAddition) => earlier?.has(batchOf([item], isAddition)));
	const itemCounts = earlier?.size && !writes.some(isUnreadableNow) ? occurrences(writes.flatMap((write) => affectedRecords(write, true))) : undefined;
	const slicedRun: SlicedRun = { run, state, description, output, untaken, turns: new Turns(), earlier, itemCounts };
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
	const { run, untaken, turns, earlier } = slicedRun;
	const slice = items.map((item) => ({ item, write: untaken.get(item)! }));
	for (const item of items) untaken.delete(item);
	const records = new Set(slice.flatMap(({ write }) => affectedRecords(write, earlier !== undefined)));
	// Two writes with one value wait for each other; an invalid one fails when it is sent.
	if (hasWriteOncePer(run)) for (const item of items) records.add(`once per ${String(resultOrError(() => writeOncePer(run, item)))}`);
	const endTurn = await turns.begin(records);
	try {
		const sent = new Map<number, Result | Error>();
		const requests = requestsIn(slicedRun, slice);
		while (requests.length > 0 && mayContinue([...sent.values()])) {
			const together = requests.shift()!;
			const results = await sendTogether(slicedRun, together);
			if (results) for (const [i, { item }] of together.entries()) sent.set(item, results[i]!);
			else requests.unshift(...chunks(together, Math.ceil(together.length / 2)));
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
 * together, even if more items are readable now: under another key, they would be written again.
 */
function requestsIn({ description, earlier }: SlicedRun, slice: Array<{ item: number; write: Write | Error }>): ItemWrite[][] {
	const requests = new Map<string, ItemWrite[]>();
	for (const { item, write } of slice) {
		if (write instanceof Error) continue;
		const { method, batch } = write.description ?? description;
		const earlierBatch = earlier?.get(batchOf([item], write.isAddition)) ?? '';
		const request = earlier && batch ? `${write.collection} ${method} ${earlierBatch}` : String(item);
		getOrCreate(requests, request, () => []).push({ item, write });
	}
	// A slice may be larger than a batch of another description.
	return [...requests.values()].flatMap((together) => chunks(together, (together[0]!.write.description ?? description).batch?.maximum ?? 1));
}

/** Sends a request of a slice. @returns the results of its items; undefined if it is too large for the service */
async function sendTogether(slicedRun: SlicedRun, together: ItemWrite[]): Promise<Array<Result | Error> | undefined> {
	const { run, state, output, earlier } = slicedRun;
	const [{ item: firstItem, write: first }] = together as [ItemWrite];
	const description = first.description ?? slicedRun.description;
	const items = together.map(({ item }) => item);
	const batch = batchOf(items, first.isAddition);
	const earlierBatch = earlier?.get(batchOf([firstItem], first.isAddition));
	const isBatch = together.length > 1;
	try {
		if (earlier) rememberBatch(state, batch, items, earlierBatch);
		const all = isBatch ? await sendBatch(slicedRun, description, together) : [await sendAlone(run, description, first, items)];
		if (earlier) rememberRefused(state, batch, items.filter((_, i) => wasRefused(all[i]!)));
		return all.map((written, i) => (written instanceof Error ? written : outputOfWrite(output, written, together[i]!.write)));
	} catch (error) {
		// Divided otherwise, what may have been written before would be written again.
		const isUnwritten = earlierBatch === undefined && wasRefused(error as Error);
		if (earlier && isUnwritten) forgetBatch(state, batch);
		return isBatch && isUnwritten && isAnsweredWith(error, tooLarge) ? undefined : items.map(() => error as Error);
	}
}

/** Whether a write was certainly not made. */
const wasRefused = (result: Written | Error): boolean => result instanceof NodeApiError && result.context.mayBeDone !== true;

/**
 * Sends a batch. If the CRM repeats its answer to an earlier attempt, what it refused then is sent again, under a further
 * key: the cause may be gone.
 *
 * @param repeated how often the CRM has repeated its answer in this attempt
 */
async function sendBatch(slicedRun: SlicedRun, description: WriteDescription, together: ItemWrite[], repeated = 0): Promise<Array<Written | Error>> {
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
	const response = await sendUnderKey(run, batch, request, { items, isAddition }, !areNew);
	const answers = batchAnswers(response, bodies, areNew);
	const all = answers.map((answer, i): Written | Error => {
		if ('problem' in answer) return run.api.failure(answer.problem);
		const record = writtenRecord(run, description, together[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
	const refused = response.isReplayed && repeated < maxRepeated ? refusedItems(slicedRun, together, all) : [];
	if (refused.length === 0) return all;
	const again = await sendBatch(slicedRun, description, refused, repeated + 1).catch((error: Error) => {
		// An earlier attempt may have sent it, too.
		if (error instanceof NodeApiError) error.context.mayBeDone = true;
		return refused.map(() => error);
	});
	return together.map((itemWrite, i) => again[refused.indexOf(itemWrite)] ?? all[i]!);
}

/** More attempts than people make: a service may call each of its answers repeated. */
const maxRepeated = 20;

/** What an earlier attempt saw refused, except items whose record another item may have changed since: the last one wins. */
function refusedItems({ itemCounts }: SlicedRun, together: ItemWrite[], results: Array<Written | Error>): ItemWrite[] {
	return together.filter(({ write }, i) =>
		itemCounts && wasRefused(results[i]!) && affectedRecords(write, true).every((record) => itemCounts.get(record) === 1));
}
