import { NodeApiError } from 'n8n-workflow';

import { batchAnswers } from '../api/batchAnswers';
import type { ApiRequest } from '../api/http/request';
import { tooLarge } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { isAnsweredWith, isCertainlyUnwritten } from '../api/refusals';
import { sha256 } from '../base/digest';
import { chunks } from '../base/lists';
import { orThrow, resultOrError } from '../base/results';
import { getOrCreate, occurrences } from '../base/maps';
import { nodeFailure, withLines } from '../failure';
import { type ProceedAfter, type NodeRun, type Result, type Results, SkippedItem, type Work, type Write, type Writes } from '../model';
import { slicesAtOnce, Turns } from '../schedule';
import { parseWholeNumber } from '../values/parsers';
import { itemsIn, rangesOf, type RunState, writesOf } from './runState';
import { hasWriteOncePer, outputOfWrite, recordInAnswer, sendAlone, sendUnderKey, writeOncePer, type Written } from './sendAlone';

/** What all slices of a run share. */
interface SlicedRun extends Pick<Writes, 'description' | 'output'> {
	run: NodeRun;
	remembered: RememberedRequests;
	/** The writes that no slice has taken yet: those of many items need much memory. */
	untaken: Map<number, Write | Error>;
	turns: Turns;
	usesBatches: boolean;
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
	const chosen = parseWholeNumber('Batch Size', run.n8n.getNodeParameter('options.batchSize', 0, 0), { otherwise: 0 });
	const requested = isOncePer ? 1 : chosen || Infinity;
	const { batch } = description;
	const remembered = new RememberedRequests(run, writes);
	const size = remembered.sliceSize(batch && !areAlone ? Math.min(requested, batch.maximum) : 1);
	const untaken = new Map(writes.map((write, item) => [item, remembered.writeOrError(item, write)] as const));
	const slicedRun: SlicedRun = { run, remembered, description, output, untaken, turns: new Turns(), usesBatches: size > 1 };
	return {
		size,
		atOnce: requested === 1 && size === 1 && !isOncePer ? 1 : slicesAtOnce,
		handle: async (items, proceedAfter) => await sendSlice(slicedRun, items, proceedAfter),
	};
}

/** Sends the writes of a slice, after earlier ones that change the same records: its requests one after another. */
async function sendSlice(slicedRun: SlicedRun, items: number[], proceedAfter: ProceedAfter): Promise<Results> {
	const { run, untaken, turns, usesBatches } = slicedRun;
	const slice = items.map((item) => ({ item, write: untaken.get(item)! }));
	for (const item of items) untaken.delete(item);
	const locks = new Set(slice.flatMap(({ write }) => lockKeys(write, usesBatches)));
	// Two writes with one value wait for each other; an invalid one fails when it is sent.
	if (hasWriteOncePer(run)) for (const item of items) locks.add(`once per ${String(resultOrError(() => writeOncePer(run, item)))}`);
	const endTurn = await turns.begin(locks);
	try {
		const results = new Map<number, Result | Error>();
		const requests = requestsIn(slicedRun, slice);
		while (requests.length > 0 && (requests[0]!.replayedRequest || proceedAfter([...results.values()]))) {
			requests.unshift(...(await sendTogether(slicedRun, requests.shift()!, results)));
		}
		const inOrder = slice.map(({ item, write }) => (write instanceof Error ? write : results.get(item)));
		// Before a slice that waits for this one asks the same.
		proceedAfter(inOrder);
		return inOrder;
	} finally {
		endTurn();
	}
}

/**
 * The writes of each request: those of one collection, description, query, and way to create. Items that an earlier attempt
 * sent together stay together, even if more items are readable now: under another key, they would be written again. They
 * come first, as new items are later ones of their records.
 */
function requestsIn({ description, usesBatches, remembered }: SlicedRun, slice: Array<{ item: number; write: Write | Error }>): WriteRequest[] {
	const requests = new Map<string, ItemWrite[]>();
	const writable = slice.flatMap(({ item, write }) =>
		(write instanceof Error ? [] : [{ item, write, place: remembered.earlierWith({ item, write })?.place ?? Number.MAX_SAFE_INTEGER }]));
	for (const { item, write, place } of writable.sort((a, b) => a.place - b.place)) {
		const { collection, query, creates, description: { method, batch } = description } = write;
		const request = usesBatches && batch ? JSON.stringify([collection, method, query, creates, place]) : String(item);
		getOrCreate(requests, request, () => []).push({ item, write });
	}
	// A slice may be larger than a batch of another description.
	return [...requests.values()].flatMap((together) =>
		chunks(together, (together[0]!.write.description ?? description).batch?.maximum ?? 1).map((writes) => ({ writes })));
}

/** The result of each write of a request, and whether the CRM has replayed the answer to an earlier attempt. */
interface Answer {
	results: Array<Written | Error>;
	isReplayed?: boolean | undefined;
}

/**
 * Sends a request of a slice, unless earlier attempts forbid it, and adds the results of its items.
 *
 * @returns the requests that follow: the halves of one that is too large for the service; or what the CRM refused in a
 * replayed answer, under a further key, as the cause may be gone
 */
async function sendTogether(slicedRun: SlicedRun, request: WriteRequest, results: Map<number, Result | Error>): Promise<WriteRequest[]> {
	const { run, remembered, output } = slicedRun;
	const { writes, replayedRequest } = request;
	const [first] = writes as [ItemWrite];
	const description = first.write.description ?? slicedRun.description;
	const isBatch = writes.length > 1 || replayedRequest !== undefined;
	const isRefused = (item: number) => isCertainlyUnwritten(results.get(item));
	let sent: RememberedRequest | undefined;
	let answer: Answer;
	try {
		sent = remembered.begin(request);
		answer = isBatch
			? await sendBatch(run, description, writes, sent.replays)
			: { results: [await sendAlone(run, description, first.write, [first.item])] };
	} catch (error) {
		// Divided otherwise, what may have been written before would be written again.
		const isUnwritten = sent?.isNew && isCertainlyUnwritten(error);
		if (isUnwritten) sent?.forget();
		if (isBatch && isUnwritten && isAnsweredWith(error, tooLarge)) {
			return replayedRequest ? [] : chunks(writes, Math.ceil(writes.length / 2)).map((half) => ({ writes: half }));
		}
		const failure = error instanceof NodeApiError ? remembered.failureOf(error, writes.map(({ item }) => item)) : (error as Error);
		for (const { item } of writes) results.set(item, failure);
		replayedRequest?.end(isRefused);
		return [];
	}
	for (const [i, { item, write }] of writes.entries()) {
		results.set(item, resultOrError(() => outputOfWrite(output, orThrow(answer.results[i]!), write)));
	}
	sent.end(isRefused);
	return answer.isReplayed ? requestsToRepeat(remembered, sent, writes.filter(({ item }) => isRefused(item))) : [];
}

async function sendBatch(run: NodeRun, description: WriteDescription, writes: ItemWrite[], replays: number): Promise<Answer> {
	const batch = description.batch!;
	const { collection, query, creates } = writes[0]!.write;
	const areNew = writes.every(({ write }) => write.id === undefined && write.creates !== 'ifNoneMatches');
	const bodies = writes.map(({ write: { id, version, body } }) => ({
		...body,
		...(id !== undefined && { id }),
		...(version !== undefined && batch.takesVersion && { version }),
	}));
	const keyParts = [...writes.map(({ item }) => item), ...(replays > 0 ? ['again', replays] : [])];
	const areHarmlessTwice = writes.every(({ write: { id } }) => id !== undefined);
	const post: ApiRequest = { method: 'POST', path: collection + batch.path, body: { [batch.items]: bodies }, query };
	const response = await sendUnderKey(run, batch, post, { keyParts, isAddition: creates === 'addition' }, areHarmlessTwice);
	const results = batchAnswers(response, bodies, areNew).map((answer, i): Written | Error => {
		if ('problem' in answer) return run.api.failure(answer.problem);
		const record = recordInAnswer(run, description, writes[i]!.write.id, answer);
		return record instanceof Error ? record : { record, status: answer.status };
	});
	return { results, isReplayed: response.isReplayed };
}

/** More attempts than people make: a service may call each of its answers replayed. */
const maxReplays = 20;

/** The requests that repeat what the replayed answer refuses: those of earlier attempts, then all that is not overtaken. */
function requestsToRepeat(remembered: RememberedRequests, replayedRequest: RememberedRequest, refused: ItemWrite[]): WriteRequest[] {
	// A first attempt's replayed answers are its own.
	if (replayedRequest.replays >= maxReplays || replayedRequest.isNew) return [];
	const requests = new Map<unknown, ItemWrite[]>();
	for (const itemWrite of refused) getOrCreate(requests, remembered.earlierWith(itemWrite, replayedRequest.replays + 1), () => []).push(itemWrite);
	const itemCounts = occurrences(refused.flatMap(({ write }) => lockKeys(write)));
	const others = (requests.get(undefined) ?? []).filter((itemWrite, _, unsent) =>
		!remembered.isOvertakenByOther(itemWrite, unsent)
		&& (requests.size === 1 || lockKeys(itemWrite.write).every((record) => itemCounts.get(record) === 1)));
	requests.delete(undefined);
	return [...requests.values(), others].filter((writes) => writes.length > 0).map((writes) => ({ writes, replayedRequest }));
}

interface ItemWrite {
	item: number;
	write: Write;
}

interface WriteRequest {
	writes: ItemWrite[];
	/** The request whose answer the CRM has just replayed, if these writes are sent again because it refused them then. */
	replayedRequest?: RememberedRequest;
}

/** What this attempt has sent in one request. */
interface RememberedRequest {
	/** How often the CRM has replayed its answer to these writes in this attempt. */
	replays: number;
	/** Whether no earlier attempt has sent it. */
	isNew: boolean;
	/** Remembers which items of the answered request were certainly refused, and of those that it repeats. */
	end(isRefused: (item: number) => boolean): void;
	/** Forgets a request that has written nothing, so that its items can be divided otherwise. */
	forget(): void;
}

/** Items that an earlier attempt has sent in one request. */
interface EarlierRequest {
	text: string;
	/** Its place in the order in which requests were sent. */
	place: number;
	items: number[];
	isAddition: boolean;
	replays: number;
	/** The items that were certainly refused; undefined if no answer came. */
	refused: ReadonlySet<number> | undefined;
}

/**
 * A request as text: `=0-99`, `=100-102,104`; of additions: `+0-99`; with what `=0-99` saw refused: `=3,17~1`. It begins with no
 * digit, as JavaScript puts numbers before other names, and requests keep the order in which they were remembered.
 */
const requestText = (items: number[], isAddition: boolean, replays: number): string =>
	(isAddition ? '+' : '=') + rangesOf(items) + (replays > 0 ? `~${replays}` : '');

function earlierRequest([text, refused]: [text: string, refused: string], place: number): EarlierRequest {
	const [ranges = '', replays = 0] = text.slice(1).split('~');
	const refusedItems = refused === unanswered ? undefined : new Set(itemsIn(refused));
	return { text, place, items: itemsIn(ranges), isAddition: text.startsWith('+'), replays: Number(replays), refused: refusedItems };
}

const unanswered = '?';

const requestsOf = ({ refusedByRequest = {} }: RunState): EarlierRequest[] => Object.entries(refusedByRequest).map(earlierRequest);

/** Hexadecimal digits of the digest of a name: short, since the context is stored with the execution. */
const nameDigits = 6;
const noName = '-'.repeat(nameDigits);

/**
 * Remembers the names by which an attempt decides what it creates and what it changes.
 *
 * @param names of the items; empty texts for those that are not written
 * @returns the items that an earlier attempt may have sent by another name: they could be written to two records
 */
export function renamedItems(run: NodeRun, names: string[]): Set<number> {
	const state = writesOf(run);
	const { sentAs, nameDigests = '' } = state;
	const sent = new Set(sentAs === undefined ? [] : requestsOf(state).flatMap(({ items }) => items));
	const digests = names.map((name) => (name === '' ? noName : sha256(name).slice(0, nameDigits)));
	const earlierOf = (item: number) => (sent.has(item) && nameDigests.slice(item * nameDigits, (item + 1) * nameDigits)) || noName;
	state.nameDigests = digests.map((digest, item) => (earlierOf(item) === noName ? digest : earlierOf(item))).join('');
	const isRenamed = (digest: string, item: number) => digest !== noName && ![noName, digest].includes(earlierOf(item));
	return new Set(digests.flatMap((digest, item) => (isRenamed(digest, item) ? [item] : [])));
}

/**
 * The records that other writes must not change at the same time: all of the collection if it is unknown which one is
 * changed, or if single additions keep their order, which may be intended.
 */
function lockKeys(write: Write | Error, usesBatches = true): string[] {
	if (write instanceof Error || write.keySubject !== undefined) return [];
	const { collection, id, orderKey = id, creates } = write;
	if (orderKey !== undefined) return [`${collection}/${orderKey}`];
	return creates === 'ifNoneMatches' || !usesBatches ? [collection] : [];
}

/** Stands for the record of an item that cannot be read now. */
const unreadable = '';

/** By record, the last one of these items. */
const lastItems = (items: Iterable<number>, writes: Array<Write | Error>): ReadonlyMap<string, number> =>
	new Map([...items].sort((a, b) => a - b).flatMap((item) => {
		const write = writes[item];
		const records = write === undefined || write instanceof Error ? [unreadable] : lockKeys(write);
		return records.map((record): [string, number] => [record, item]);
	}));

/** Whether a later item of the same record is among the last ones, in another request: the last one wins. */
function isOvertaken(lastOf: ReadonlyMap<string, number>, { item, write }: ItemWrite, together: ItemWrite[]): boolean {
	const records = lockKeys(write);
	const last = Math.max(...records.map((record) => lastOf.get(record) ?? -1), (records.length > 0 && lastOf.get(unreadable)) || -1);
	return last > item && !together.some((other) => other.item === last);
}

/** What earlier attempts at a run have sent, and may have written; and what this one sends, for later ones. */
class RememberedRequests {
	private readonly run: NodeRun;
	private readonly state: RunState;
	/** The requests of earlier attempts by item. Only additions are sent in several. */
	private readonly earlier = new Map<number, EarlierRequest[]>();
	private readonly possiblyWritten = new Set<number>();
	/** By record, the last item sent, and the last one that may be written; that of any record under `unreadable`. */
	private readonly lastSent: ReadonlyMap<string, number>;
	private readonly lastWritten: ReadonlyMap<string, number>;

	constructor(run: NodeRun, writes: Array<Write | Error>) {
		this.run = run;
		this.state = writesOf(run);
		for (const request of requestsOf(this.state)) {
			for (const item of request.items) {
				getOrCreate(this.earlier, item, () => []).push(request);
				if (!request.refused?.has(item)) this.possiblyWritten.add(item);
			}
		}
		this.lastSent = lastItems(this.earlier.keys(), writes);
		this.lastWritten = lastItems(this.possiblyWritten, writes);
	}

	/** The number of items in a slice: as in the first attempt that has sent a write, otherwise this size. */
	sliceSize(size: number): number {
		if (this.state.sentAs === undefined) delete this.state.size;
		return (this.state.size ??= size);
	}

	/** The request in which an earlier attempt has sent an item, or has sent it again after that many replayed answers. */
	earlierWith({ item, write: { creates } }: ItemWrite, replays = 0): EarlierRequest | undefined {
		return this.earlier.get(item)?.findLast((request) => request.isAddition === (creates === 'addition') && request.replays === replays);
	}

	/** The write of an item; its error if it cannot be read, or must not be sent, as a later item of its record was sent. */
	writeOrError(item: number, write: Write | Error): Write | Error {
		if (write instanceof SkippedItem) return write;
		if (write instanceof Error) return this.failureOf(write, [item]);
		const isLate = !this.earlierWith({ item, write }) && isOvertaken(this.lastSent, { item, write }, []);
		return isLate ? new Error(overtaken) : write;
	}

	/** Whether a later item of the same record may be written, other than by these writes. */
	isOvertakenByOther(itemWrite: ItemWrite, together: ItemWrite[]): boolean {
		return isOvertaken(this.lastWritten, itemWrite, together);
	}

	/** The error of items, which says if one of them may be written. */
	failureOf(error: Error, items: number[]): Error {
		if (!items.some((item) => this.possiblyWritten.has(item))) return error;
		const failure = nodeFailure(this.run.n8n, error, items[0]);
		failure.context.mayBeDone = true;
		return failure.description?.includes(sentEarlier) ? failure : withLines(failure, [sentEarlier]);
	}

	/**
	 * Remembers a request that is sent next.
	 *
	 * @throws Error in the user's words if it got no answer, so that it may only now be written, and a later item of one of its
	 * records may be written already; or if the first item was sent together with other items, unless all are additions that were
	 * refused: those others may be found by their names now
	 */
	begin({ writes, replayedRequest }: WriteRequest): RememberedRequest {
		const [first] = writes as [ItemWrite];
		const items = writes.map(({ item }) => item);
		const replays = replayedRequest ? replayedRequest.replays + 1 : 0;
		const text = requestText(items, first.write.creates === 'addition', replays);
		const earlier = this.earlierWith(first, replays);
		if (earlier && !earlier.refused && writes.some((itemWrite) => this.isOvertakenByOther(itemWrite, writes))) throw new Error(overtaken);
		const mayDivide = earlier?.isAddition && items.every((item) => earlier.refused?.has(item));
		if (earlier && earlier.text !== text && !mayDivide) throw new Error(divided);
		const refusedByRequest = (this.state.refusedByRequest ??= {});
		refusedByRequest[text] ??= unanswered;
		return {
			replays,
			isNew: !earlier,
			end(isRefused) {
				refusedByRequest[text] = rangesOf(items.filter(isRefused));
				replayedRequest?.end(isRefused);
			},
			forget: () => void delete refusedByRequest[text],
		};
	}
}

const overtaken =
	'An earlier attempt has sent, and may have written, a later item of the same record, or of one in the same request. '
	+ 'To keep the later values, this item was not sent. Check the record.';

const sentEarlier = 'An earlier attempt may have written this item. Check the record.';

const divided =
	'An earlier attempt sent this item in one request with other items than now. '
	+ 'To avoid duplicates, nothing was sent. Check the records, then run the workflow again.';
