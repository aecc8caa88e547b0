import { randomUUID } from 'node:crypto';

import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { sha256 } from '../base/digest';
import { getOrCreate } from '../base/maps';
import type { NodeRun } from '../model';

/**
 * What later attempts at a run of the node repeat; otherwise they would write records again under other keys: between
 * attempts, the options may change, and other items may become readable.
 */
export interface RunState {
	runKey: number | string;
	/** Number of items in a slice of the input. */
	size?: number;
	/** Digests of the names by which Create or Update finds the records of the items. */
	names?: string;
	/** Whether writes were sent as the service's own description says, or the packaged one; undefined if none was sent. */
	isDescribed?: boolean;
	/** The certainly refused items by the batches sent (`batchOf`); `unanswered` for one without an answer. */
	batches?: Record<string, string>;
}

/** The state that the writes of this run share. Call it once: a tool of an AI agent may run twice at the same time. */
export const runState = (run: NodeRun): RunState => stateOfRun<RunState>(run, 'writes');

/**
 * A state of this run of the node, at first only with its run. n8n keeps it in the node's context, which all attempts of
 * Retry On Fail share, and which is stored with a failed execution and passed to its retry (n8n 2.41,
 * ExecutionService.retry). The next run of a loop replaces it, since n8n repeats only the last run.
 */
export function stateOfRun<State extends { runKey: number | string }>({ n8n, identity: { runKey } }: NodeRun, name: string): State {
	const context = nodeContext(n8n);
	if ((context[name] as State | undefined)?.runKey !== runKey) context[name] = { runKey };
	return context[name] as State;
}

const outsideExecutions = new WeakMap<IExecuteFunctions, IDataObject>();

/** The node's context; a temporary one for calls without an execution (n8n's MCP trigger), which are never repeated. */
export function nodeContext(n8n: IExecuteFunctions): IDataObject {
	if (n8n.getExecutionId() !== undefined) return n8n.getContext('node');
	return getOrCreate(outsideExecutions, n8n, () => ({}));
}

/** The number of items in a slice: as in the first attempt that has sent a write, otherwise this size. */
export function sliceSizeOf(state: RunState, size: number): number {
	if (state.isDescribed === undefined) delete state.size;
	return (state.size ??= size);
}

/**
 * Remembers that a write is sent. Call this before each.
 *
 * @throws Error in the user's words if an earlier attempt has sent keys as the service's own description says, and that
 * cannot be read now: under other keys, the service would write again
 */
export function rememberWrite(run: NodeRun): void {
	const state = runState(run);
	const { api } = run;
	if (state.isDescribed && !api.isSelfDescribed()) {
		const problem = 'An earlier attempt has sent writes. To avoid duplicates, none is sent without the CRM’s own API description.';
		throw new Error(`${problem} ${api.descriptionNotice() ?? ''}`);
	}
	state.isDescribed = api.isSelfDescribed();
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
	const state = runState(run);
	const earlier = state.isDescribed === undefined ? '' : state.names ?? '';
	const digests = names.map((name) => (name === '' ? noName : sha256(name).slice(0, nameDigits)));
	const earlierOf = (item: number) => earlier.slice(item * nameDigits, (item + 1) * nameDigits) || noName;
	state.names = digests.map((digest, item) => (earlierOf(item) === noName ? digest : earlierOf(item))).join('');
	const isRenamed = (digest: string, item: number) => digest !== noName && ![noName, digest].includes(earlierOf(item));
	return new Set(digests.flatMap((digest, item) => (isRenamed(digest, item) ? [item] : [])));
}

/** Distinguishes batches with the same items: these are additions, or `repeated` a batch that was answered before. */
interface BatchSeries {
	isAddition?: boolean | undefined;
	repeated?: number;
}

/**
 * A batch as text: `=0-99`, `=100-102,104`; of additions: `+0-99`; with what `=0-99` saw refused: `=3,17~1`. It begins with no
 * digit, as JavaScript puts numbers before other names, and batches keep the order in which they were remembered.
 */
export const batchOf = (items: readonly number[], { isAddition, repeated = 0 }: BatchSeries): string =>
	(isAddition ? '+' : '=') + rangesOf(items) + (repeated > 0 ? `~${repeated}` : '');

export const itemsOfBatch = (batch: string): number[] => itemsIn(batch.slice(1).replace(/~.*/, ''));

/** The batch in which earlier attempts sent an item last, by `batchOf` the item. Only additions are sent in several. */
export const earlierBatches = ({ batches = {} }: RunState): Map<string, string> =>
	new Map(Object.keys(batches).flatMap((batch) => {
		const repeated = Number(batch.split('~')[1] ?? 0);
		return itemsOfBatch(batch).map((item) => [batchOf([item], { isAddition: batch.startsWith('+'), repeated }), batch]);
	}));

/** The items that an earlier attempt may have written. */
export const possiblyWritten = ({ batches = {} }: RunState): Set<number> =>
	new Set(Object.entries(batches).flatMap(([batch, refused]) => {
		const notWritten = new Set(refused === unanswered ? [] : itemsIn(refused));
		return itemsOfBatch(batch).filter((item) => !notWritten.has(item));
	}));

const unanswered = '?';

/** Whether an attempt has sent a batch, and none has got an answer: it may be written by the next one. */
export const isUnanswered = ({ batches }: RunState, batch = ''): boolean => batches?.[batch] === unanswered;

/**
 * Remembers a batch. Call this before it is sent.
 *
 * @throws Error in the user's words if an earlier attempt has sent other items together with the first one, unless these are
 * additions that it refused: the others may be found by their names now
 */
export function rememberBatch(state: RunState, batch: string, items: number[], earlierBatch = batch): void {
	const batches = (state.batches ??= {});
	const refused = batch.startsWith('+') ? itemsIn(batches[earlierBatch]?.replace(unanswered, '') ?? '') : [];
	if (earlierBatch !== batch && !items.every((item) => refused.includes(item))) throw new Error(divided);
	batches[batch] ??= unanswered;
}

/** Remembers which items of an answered batch were certainly refused. */
export function rememberRefused({ batches }: RunState, batch: string, items: number[]): void {
	batches![batch] = rangesOf(items);
}

/** Forgets a batch of which no attempt has written anything, so that its items can be divided differently. */
export function forgetBatch({ batches }: RunState, batch: string): void {
	delete batches?.[batch];
}

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
