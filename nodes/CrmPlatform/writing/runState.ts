import { randomUUID } from 'node:crypto';

import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { sha256 } from '../base/digest';
import { getOrCreate } from '../base/maps';
import { nodeFailure, withLines } from '../failure';
import { SkippedItem, type NodeRun, type Write } from '../model';

/**
 * What later attempts at a run of the node repeat; otherwise they would write records again under other keys: between
 * attempts, the options may change, and other items may become readable.
 */
interface RunState {
	runKey: number | string;
	/** Number of items in a slice of the input. */
	size?: number;
	/** Of the names by which Create or Update finds the records of the items. */
	nameDigests?: string;
	/** Which description the writes that were sent follow; undefined if none was sent. */
	sentAs?: 'described' | 'packaged';
	/** The certainly refused items of each request sent (`requestText`), as ranges; `unanswered` for one without an answer. */
	refusedByBatch?: Record<string, string>;
}

type States = Record<string, { runKey: number | string } | undefined>;

/** Those of the run that is under way, by name. */
const currentStates = new WeakMap<IExecuteFunctions, States>();

/**
 * A state of this run of the node, at first only with its run. n8n keeps it in the node's context, which all attempts of
 * Retry On Fail share, and which is stored with a failed execution and passed to its retry (n8n 2.41,
 * ExecutionService.retry). The next run of a loop replaces it, since n8n repeats only the last run. A run at the same time, as
 * a tool of an AI agent, replaces it in the context alone.
 */
export function stateOfRun<State extends { runKey: number | string }>({ n8n, identity: { runKey } }: NodeRun, name: string): State {
	const current = getOrCreate(currentStates, n8n, (): States => ({}));
	if (current[name]?.runKey !== runKey) {
		const context = nodeContext(n8n) as States;
		if (context[name]?.runKey !== runKey) context[name] = { runKey };
		current[name] = context[name];
	}
	return current[name] as State;
}

const writesOf = (run: NodeRun): RunState => stateOfRun<RunState>(run, 'writes');

const outsideExecutions = new WeakMap<IExecuteFunctions, IDataObject>();

/** The node's context; a temporary one for calls without an execution (n8n's MCP trigger), which are never repeated. */
export function nodeContext(n8n: IExecuteFunctions): IDataObject {
	if (n8n.getExecutionId() !== undefined) return n8n.getContext('node');
	return getOrCreate(outsideExecutions, n8n, () => ({}));
}

/**
 * Remembers that a write is sent. Call this before each.
 *
 * @throws Error in the user's words if an earlier attempt has sent keys as the service's own description says, and that
 * cannot be read now: under other keys, the service would write again
 */
export function rememberWrite(run: NodeRun): void {
	const state = writesOf(run);
	const { api } = run;
	if (state.sentAs === 'described' && !api.isSelfDescribed()) {
		const problem = 'An earlier attempt has sent writes. To avoid duplicates, none is sent without the CRM’s own API description.';
		throw new Error(`${problem} ${api.descriptionNotice() ?? ''}`);
	}
	state.sentAs = api.isSelfDescribed() ? 'described' : 'packaged';
}

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
	const earlier = state.sentAs === undefined ? '' : state.nameDigests ?? '';
	const digests = names.map((name) => (name === '' ? noName : sha256(name).slice(0, nameDigits)));
	const earlierOf = (item: number) => earlier.slice(item * nameDigits, (item + 1) * nameDigits) || noName;
	state.nameDigests = digests.map((digest, item) => (earlierOf(item) === noName ? digest : earlierOf(item))).join('');
	const isRenamed = (digest: string, item: number) => digest !== noName && ![noName, digest].includes(earlierOf(item));
	return new Set(digests.flatMap((digest, item) => (isRenamed(digest, item) ? [item] : [])));
}

export interface ItemWrite {
	item: number;
	write: Write;
}

export interface WriteRequest {
	writes: ItemWrite[];
	/** The request whose answer the CRM has just replayed, if these writes are sent again because it refused them then. */
	replayedRequest?: RememberedRequest;
}

/** What this attempt has sent in one request. */
export interface RememberedRequest {
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

/**
 * The records that other writes must not change at the same time: all of the collection if it is unknown which one is
 * changed, or if single additions keep their order, which may be intended.
 */
export function lockKeys(write: Write | Error, usesBatches = true): string[] {
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
export class RememberedRequests {
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
		for (const request of Object.entries(this.state.refusedByBatch ?? {}).map(earlierRequest)) {
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
		const refusedByBatch = (this.state.refusedByBatch ??= {});
		refusedByBatch[text] ??= unanswered;
		return {
			replays,
			isNew: !earlier,
			end(isRefused) {
				refusedByBatch[text] = rangesOf(items.filter(isRefused));
				replayedRequest?.end(isRefused);
			},
			forget: () => void delete refusedByBatch[text],
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

/** Item indexes as text: `0-2,4` for 0, 1, 2 and 4. Short, since the context is stored with the execution. */
export function rangesOf(items: readonly number[]): string {
	const ranges: Array<[from: number, to: number]> = [];
	for (const item of items) {
		const last = ranges.at(-1);
		if (last?.[1] === item - 1) last[1] = item;
		else ranges.push([item, item]);
	}
	return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join();
}

export function itemsIn(ranges: string): number[] {
	if (ranges === '') return [];
	return ranges.split(',').flatMap((range) => {
		const [from = 0, to = from] = range.split('-').map(Number);
		return Array.from({ length: to - from + 1 }, (_, i) => from + i);
	});
}

/**
 * What the keys of a run's writes share. They contain the first execution in which this node wrote, so that a retry of it
 * writes nothing again. n8n keeps the time at which an execution began with its data, so that a retry has the first one's.
 *
 * @param runKey distinguishes the runs of a node in an execution
 */
export function runIdentity(n8n: IExecuteFunctions, runKey: number | string): NodeRun['identity'] {
	const context = nodeContext(n8n);
	const started = n8n.getExecutionContext()?.establishedAt;
	// Executions that are not stored, and calls without one, have no id and cannot be retried.
	const execution = n8n.getExecutionId() ?? randomUUID();
	const first = (context.firstExecution ??= { execution, ...(started !== undefined && { started }) }) as { execution: string };
	return { instance: n8n.getInstanceId(), workflow: n8n.getWorkflow().id ?? '', ...first, node: n8n.getNode().id, runKey };
}
