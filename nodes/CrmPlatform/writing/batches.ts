import { batchAnswers, type BatchAnswer } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith } from '../api/refusals';
import { chunks } from '../base/lists';
import { resultOrError } from '../base/results';
import { getOrCreate } from '../base/maps';
import type { NodeRun, MayContinue, Result, Results, Work, Write, Writes } from '../model';
import { slicesAtOnce, Turns } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
import { batchOf, earlierBatches, forgetBatch, rememberBatch, sliceSizeOf } from './runState';
import { sendAlone, writtenRecord, type Written } from './sendAlone';
import { hasWriteOncePer, sendUnderKey, writeOncePer } from './sendUnderKey';
import { outputOfWrite } from './writtenOutput';

/** What all slices of a run share. */
interface SlicedRun extends Pick<Writes, 'description' | 'output'> {
	run: NodeRun;
	/** The writes that no slice has taken yet: those of many items need much memory. */
	untaken: Map<number, Write | Error>;
	turns: Turns;
	/** The batch in which an earlier attempt sent an item; undefined if each record is sent alone. */
	earlier: Map<string, string> | undefined;
}

interface ItemWrite {
	item: number;
	write: Write;
}

/** The results of items, as far as they are known. */
type ResultsByItem = Map<number, Result | Error>;

/** What became of the items of a request. */
type WrittenItems = Map<number, Written | Error>;

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
export function inSlices(run: NodeRun, { items, description, output }: Writes, areAlone = false): Work {
	const isOncePer = hasWriteOncePer(run);
	// The user's Batch Size; without it, as many as the service accepts.
	const chosen = parseWholeNumber('Batch Size', run.n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 });
	const requested = isOncePer ? 1 : chosen || Infinity;
	const { batch } = description;
	const size = sliceSizeOf(run, batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const earlier = size > 1 ? earlierBatches(run) : undefined;
	const slicedRun: SlicedRun = { run, description, output, untaken: new Map(items.entries()), turns: new Turns(), earlier };
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		handle: async (sliced, mayContinue) => await sendItems(slicedRun, sliced, mayContinue),
	};
}

/** Sends the writes of a slice, after earlier ones that change the same records. */
async function sendItems(slicedRun: SlicedRun, items: number[], mayContinue: MayContinue): Promise<Results> {
	const { run, untaken, turns, earlier } = slicedRun;
	const slice = new Map(items.map((item) => [item, untaken.get(item)!]));
	for (const item of items) untaken.delete(item);
	const records = new Set([...slice.values()].flatMap((write) => affectedRecords(write, earlier !== undefined)));
	// Two writes with one value wait for each other; an invalid one fails when it is sent.
	if (hasWriteOncePer(run)) for (const item of items) records.add(`once per ${String(resultOrError(() => writeOncePer(run, item)))}`);
	return await turns.take(records, async () => await sendSlice(slicedRun, slice, mayContinue));
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

/** Sends the requests of a slice one after another; one that is too large for the service, in halves. */
async function sendSlice(slicedRun: SlicedRun, slice: ReadonlyMap<number, Write | Error>, mayContinue: MayContinue): Promise<Results> {
	const done: ResultsByItem = new Map();
	const requests = requestsIn(slicedRun, slice);
	while (requests.length > 0 && mayContinue([...done.values()])) {
		const together = requests.shift()!;
		const results = await sendTogether(slicedRun, together);
		if (results) for (const [item, result] of results) done.set(item, result);
		else requests.unshift(...chunks(together, Math.ceil(together.length / 2)));
	}
	const results = [...slice].map(([item, write]) => (write instanceof Error ? write : done.get(item)));
	// Before a slice that waits for this one asks the same.
	mayContinue(results);
	return results;
}

/**
 * The writes of each request: those of one collection and description. Items that an earlier attempt sent together stay
 * together, even if more items are readable now: under another key, they would be written again.
 */
function requestsIn({ description, earlier }: SlicedRun, slice: ReadonlyMap<number, Write | Error>): ItemWrite[][] {
	const requests = new Map<string, ItemWrite[]>();
	for (const [item, write] of slice) {
		if (write instanceof Error) continue;
		const { method, batch } = write.description ?? description;
		const earlierBatch = earlier?.get(batchOf([item], write.isAddition)) ?? '';
		const request = earlier && batch ? `${write.collection} ${method} ${earlierBatch}` : String(item);
		getOrCreate(requests, request, () => []).push({ item, write });
	}
	// A slice may be larger than a batch of another description.
	return [...requests.values()].flatMap((together) => chunks(together, (together[0]!.write.description ?? description).batch?.maximum ?? 1));
}

/** Sends a request of a slice. @returns undefined if it is too large for the service */
async function sendTogether(slicedRun: SlicedRun, together: ItemWrite[]): Promise<ResultsByItem | undefined> {
	const { run, output, earlier } = slicedRun;
	const [{ write: first }] = together as [ItemWrite];
	const description = first.description ?? slicedRun.description;
	const items = together.map(({ item }) => item);
	const batch = batchOf(items, first.isAddition);
	const keyed: NodeRun = { ...run, identity: { ...run.identity, isAddition: first.isAddition } };
	const isBatch = together.length > 1;
	try {
		if (earlier) rememberBatch(run, batch, earlier.get(batchOf([items[0]!], first.isAddition)));
		const results: WrittenItems = isBatch
			? await sendBatch(keyed, description, together)
			: new Map([[items[0]!, await sendAlone(keyed, description, first, items)]]);
		return new Map(together.map(({ item, write }) => {
			const written = results.get(item)!;
			return [item, written instanceof Error ? written : outputOfWrite(output, written, write)];
		}));
	} catch (error) {
		if (!isBatch || !isAnsweredWith(error, tooLarge)) return new Map(items.map((item) => [item, error as Error]));
		forgetBatch(run, batch);
		for (const item of items) earlier?.delete(batchOf([item], first.isAddition));
		return undefined;
	}
}

/**
 * Sends a batch. If the CRM repeats its answer to an earlier attempt, what it refused then is sent again, under a further
 * key: the cause may be gone. An item before the one that has changed its record since is not.
 *
 * @param repeated how often the CRM has repeated its answer in this attempt
 */
async function sendBatch(run: NodeRun, description: WriteDescription, together: ItemWrite[], repeated = 0): Promise<WrittenItems> {
	const batch = description.batch!;
	const { collection, query } = together[0]!.write;
	const areNew = together.every(({ write: { id, mayExist } }) => id === undefined && mayExist !== true);
	const bodies = together.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const request: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, ...(query && { query }) };
	// No item has a negative number.
	const numbers = [...together.map(({ item }) => item), ...(repeated > 0 ? [-repeated] : [])];
	const response = await sendUnderKey(run, batch, request, numbers, !areNew);
	const answers = batchAnswers(response, bodies, areNew);
	const results: WrittenItems = new Map(together.map(({ item, write }, i) => [item, writtenItem(run, description, write, answers[i]!)]));
	if (!response.isReplayed || repeated === maxRepeated) return results;
	const refused = mayBeSentAgain(together, answers);
	if (refused.length === 0) return results;
	const ofRefused = await sendBatch(run, description, refused, repeated + 1)
		.catch((error: Error): WrittenItems => new Map(refused.map(({ item }) => [item, error])));
	return new Map([...results, ...ofRefused]);
}

/** More attempts than people make: a service may call each of its answers repeated. */
const maxRepeated = 20;

/** The items that were certainly refused, except those whose record a later item may have changed. */
function mayBeSentAgain(together: ItemWrite[], answers: BatchAnswer[]): ItemWrite[] {
	const changed = new Set<string>();
	const refused: ItemWrite[] = [];
	for (const [i, itemWrite] of [...together.entries()].reverse()) {
		const answer = answers[i]!;
		const records = affectedRecords(itemWrite.write, true);
		const isRefused = 'problem' in answer && answer.problem.mayBeDone !== true;
		if (!isRefused) for (const record of records) changed.add(record);
		else if (!records.some((record) => changed.has(record))) refused.unshift(itemWrite);
	}
	return refused;
}

function writtenItem(run: NodeRun, description: WriteDescription, { id }: Write, answer: BatchAnswer): Written | Error {
	if ('problem' in answer) return run.api.failure(answer.problem);
	const record = writtenRecord(run, description, id, answer);
	return record instanceof Error ? record : { record, status: answer.status };
}
