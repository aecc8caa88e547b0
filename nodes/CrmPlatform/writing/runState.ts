import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { KeyFormat, WriteIdentity } from '../api/http/idempotency';
import type { ApiResponse } from '../api/http/request';
import { getOrCreate } from '../base/maps';
import type { BatchDescription, IdempotencyHeader, WriteDescription } from '../api/openapi/writing';
import type { Execution } from '../model';

/** The header for the idempotency keys of one kind of request, and their format. */
export interface KeyHeader extends KeyFormat {
	name: string;
	/** Whether the service's own description of the operation declares the header. */
	isGuaranteed: boolean;
}

/**
 * Decisions of a run's first attempt that later attempts must repeat; otherwise records would be written again under
 * other keys. Between attempts, the description of the service may change, and other items may become readable.
 */
interface RunState {
	run: number | string;
	/** The header of requests for single records, and of batches. */
	single?: KeyHeader;
	batch?: KeyHeader;
	/** Number of items in a slice of the input. */
	size?: number;
	batchPath?: Pick<BatchDescription, 'path' | 'items'> & {
		/** Whether it comes from the service's own description, not from the packaged one. */
		isOwn: boolean;
	};
	/** Whether any record was sent. Before that, no decision has to be repeated. */
	hasSent?: true;
	/** The requests sent so far, as ranges of items: `0-99`, `100-102,104`, `103`. */
	sent?: string[];
}

const runState = (execution: Execution): RunState => stateOfRun<RunState>(execution, 'writes');

/**
 * A state of this run of the node, at first only with its run. n8n keeps it in the node's context, which all attempts of
 * Retry On Fail share, and which is stored with a failed execution and passed to its retry (n8n 2.41,
 * ExecutionService.retry). The next run of a loop replaces it, since n8n repeats only the last run.
 */
export function stateOfRun<State extends { run: number | string }>({ n8n, identity: { run } }: Execution, name: string): State {
	const context = nodeContext(n8n);
	if ((context[name] as State | undefined)?.run !== run) context[name] = { run };
	return context[name] as State;
}

const outsideExecutions = new WeakMap<IExecuteFunctions, IDataObject>();

/** The node's context; a temporary one for calls without an execution (n8n's MCP trigger), which are never repeated. */
export function nodeContext(n8n: IExecuteFunctions): IDataObject {
	if (n8n.getExecutionId() !== undefined) return n8n.getContext('node');
	return getOrCreate(outsideExecutions, n8n, () => ({}));
}

/**
 * The header for the requests of this run, as its first attempt chose it. If the service was not known to honor that
 * header and declares one now, the declared one replaces it.
 *
 * @param carrier whether the request writes one record or a batch
 */
export function keyHeaderOf(
	execution: Execution,
	description: IdempotencyHeader & Pick<WriteDescription, 'batch'>,
	carrier: 'single' | 'batch',
): KeyHeader | undefined {
	const part = carrier === 'batch' ? (description.batch ?? {}) : description;
	return pinned(execution, carrier, headerIn(execution, part) ?? notGuaranteed(headerIn(execution, description)));
}

function pinned(
	execution: Execution,
	carrier: 'single' | 'batch',
	described: KeyHeader | undefined,
): KeyHeader | undefined {
	const state = runState(execution);
	const first = state[carrier];
	if (first && (first.isGuaranteed || !described?.isGuaranteed)) return first;
	if (described) state[carrier] = described;
	return described;
}

function headerIn(
	{ api }: Execution,
	{ idempotencyHeader: name, idempotencyKey }: IdempotencyHeader,
): KeyHeader | undefined {
	return name === undefined ? undefined : { name, ...idempotencyKey, isGuaranteed: api.isSelfDescribed() };
}

const notGuaranteed = (header: KeyHeader | undefined): KeyHeader | undefined =>
	header && { ...header, isGuaranteed: false };

/**
 * How this run divides its items into requests, as decided by the first attempt that sent any. A batch path from the
 * packaged description is replaced by one from the service's own description: keys do not contain it.
 */
export function batchingOf(
	execution: Execution,
	batch: BatchDescription | undefined,
	requestedSize: number,
): { size: number; batch: BatchDescription | undefined } {
	const state = runState(execution);
	if (!state.hasSent) {
		delete state.size;
		delete state.batchPath;
	}
	// At least 1, even if the service states a limit of 0: empty slices would never end.
	state.size ??= Math.max(1, Math.floor(batch ? Math.min(requestedSize, batch.maximum) : 1));
	const isOwn = execution.api.isSelfDescribed();
	if (batch && (!state.batchPath || (isOwn && !state.batchPath.isOwn))) {
		state.batchPath = { path: batch.path, items: batch.items, isOwn };
	}
	if (!state.batchPath) return { size: state.size, batch: undefined };
	const { path, items } = state.batchPath;
	return { size: state.size, batch: { ...batch, path, items, maximum: state.size } };
}

/** Makes later attempts divide the items as this one does. Call this before the first item is sent. */
export function pinBatching(execution: Execution): void {
	runState(execution).hasSent = true;
}

/** Which items this run has sent with one request. */
export interface SentRequests {
	/** Records a request before it is sent. */
	add(items: readonly number[]): void;
	/** Forgets a request that was refused as a whole, so that its items can be divided differently. */
	remove(items: readonly number[]): void;
	/** The items that an earlier attempt sent together with this one, including this one. */
	with(item: number): readonly number[] | undefined;
}

export function sentRequests(execution: Execution): SentRequests {
	const state = runState(execution);
	const ranges = (state.sent ??= []);
	const groups = new Map<number, readonly number[]>();
	for (const range of ranges) {
		const items = itemsIn(range);
		for (const item of items) groups.set(item, items);
	}
	const noted = new Set(ranges);
	return {
		add(items) {
			const range = rangesOf(items);
			if (noted.has(range)) return;
			noted.add(range);
			ranges.push(range);
		},
		remove(items) {
			const range = rangesOf(items);
			if (noted.delete(range)) ranges.splice(ranges.indexOf(range), 1);
		},
		with: (item) => groups.get(item),
	};
}

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
	return ranges.split(',').flatMap((range) => {
		const [from = 0, to = from] = range.split('-').map(Number);
		return Array.from({ length: to - from + 1 }, (_, i) => from + i);
	});
}

/**
 * The execution that the keys contain: the first one in which this node wrote, so that a retry of it writes nothing again.
 * n8n keeps the time at which an execution began with its data, so that a retry has the time of the first one.
 *
 * @param id of this execution
 */
export function originalExecution(n8n: IExecuteFunctions, id: string): Pick<WriteIdentity, 'execution' | 'started'> {
	const context = nodeContext(n8n);
	const started = n8n.getExecutionContext()?.establishedAt;
	const first = (context.firstExecution ??= { execution: id, ...(started !== undefined && { started }) });
	return first as Pick<WriteIdentity, 'execution' | 'started'>;
}

/** Whether no earlier attempt at this run of the node has prepared a write. Call this before `prepare`. */
export const isFirstAttempt = (n8n: IExecuteFunctions, run: number | string): boolean =>
	(nodeContext(n8n).writes as RunState | undefined)?.run !== run;

/** Tells the user of a write of a first attempt that the service had done before under the same key. */
export function reportReplay({ api, isFirst }: Execution, response: ApiResponse): ApiResponse {
	if (isFirst && response.isReplayed) api.notices.add(replayed);
	return response;
}

const replayed =
	'The CRM did not carry out at least one write, and returned the answer of an earlier one: an earlier execution of this n8n, or of a copy of it, had sent a write under the same key. Check the records; with Write Once Per, keys are made of your own values.';
