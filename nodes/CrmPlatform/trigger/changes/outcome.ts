import { ExecutionCancelledError, NodeOperationError, type INode, type IRun } from 'n8n-workflow';

import type { Group } from './position';

/** How the start of an execution came out. */
export type Outcome = 'succeeded' | 'failed' | 'unknown' | 'not started';

/** n8n gives no run for a key that an execution has already. */
export function outcomeOf(run: IRun | undefined): Outcome {
	if (run === undefined) return 'unknown';
	const hasFailed = ['error', 'crashed', 'canceled'].includes(run.status) || run.data?.resultData?.error !== undefined;
	return hasFailed ? 'failed' : 'succeeded';
}

/** n8n rejects what was cancelled, and what it could not start. */
export function outcomeOfError(error: Error): Outcome {
	return error instanceof ExecutionCancelledError ? 'failed' : 'not started';
}

/** Tells the user of a group that is not started any more. */
export function setAsideError(node: INode, { kind, ids, attempt }: Group): NodeOperationError {
	const what = kind === 'events' ? 'event' : 'record';
	const them = ids.length === 1 ? `The ${what} ${ids[0]} was` : `${ids.length} ${what}s were`;
	const why = attempt === 1 ? 'the execution failed' : `${attempt} executions failed`;
	return new NodeOperationError(node, `${them} set aside: ${why}`, {
		description: `The trigger continues with the others. Find the failed executions in the list, and retry the last one once its cause is fixed (${ids.join(', ')}).`,
	});
}
