import { randomUUID } from 'node:crypto';

import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

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
	/** Of the names by which Create or Update finds the records of the items. */
	nameDigests?: string;
	/** Which description the writes that were sent follow; undefined if none was sent. */
	sentAs?: 'described' | 'packaged';
	/** The certainly refused items of each request sent (`requestText`), as ranges; `unanswered` for one without an answer. */
	refusedByRequest?: Record<string, string>;
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

export const writesOf = (run: NodeRun): RunState => stateOfRun<RunState>(run, 'writes');

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
