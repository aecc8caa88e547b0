import {
	ExecutionCancelledError,
	NodeOperationError,
	type IExecuteResponsePromiseData,
	type INode,
	type IRun,
} from 'n8n-workflow';

import type { LoadFailure } from './loadGroup';
import type { Group } from './position';

/** The outcome of starting an execution. */
export type Outcome = 'succeeded' | 'failed' | 'unknown' | 'rejected by n8n' | 'ended before its first node';

/** Ends of an execution. One that waits for long counts as succeeded. */
const ends: Partial<Record<string, Outcome>> = { success: 'succeeded', waiting: 'succeeded', error: 'failed', crashed: 'failed', canceled: 'failed' };

/**
 * n8n returns no run for a key that an execution already has. After Redis was emptied, it numbers jobs from 1 again, and
 * takes the end of another job for the end of a lost one: the run of the latter then still is `new`.
 */
export function executionOutcome(run: IRun | undefined): Outcome {
	if (run === undefined) return 'unknown';
	if (neverBegan(run)) return 'ended before its first node';
	const outcome = ends[run.status] ?? 'rejected by n8n';
	return outcome === 'succeeded' && run.data?.resultData?.error !== undefined ? 'failed' : outcome;
}

/** n8n rejects canceled executions and, since 2.35, executions that it could not start; earlier versions never settle the latter. */
export function outcomeOfError(error: Error): Outcome {
	return error instanceof ExecutionCancelledError ? 'failed' : 'rejected by n8n';
}

/** Whether the execution has ended before n8n could follow it (active-executions, getExecutionOrFail). */
export const endedUnseen = (error: Error): boolean => error.message.includes('No active execution found');

/**
 * Reads n8n's answer for a workflow that a worker has run (scaling.service, job-finished, since before 2.11):
 * nothing if it succeeded. In its main process, n8n also answers nothing for a failed one, just before it returns the
 * run, which therefore takes precedence. Any other answer is the workflow's own, which may still run.
 */
export function outcomeOfAnswer(answer: IExecuteResponsePromiseData): Outcome | undefined {
	if (Object.keys(answer).length === 0) return 'succeeded';
	const { statusCode, body } = answer as { statusCode?: unknown; body?: { message?: unknown } };
	return statusCode === 500 && body?.message === 'Workflow execution failed' ? 'failed' : undefined;
}

/** `The event evt_1`, or `5 events`. */
const subjectOf = (nouns: string, ids: string[], article = 'The'): string =>
	ids.length === 1 ? `${article} ${nouns.slice(0, -1)} ${ids[0]}` : `${ids.length} ${nouns}`;

const wasOrWere = (ids: string[]): string => (ids.length === 1 ? 'was' : 'were');

/** Reports a group that is set aside, and the outcome of its last execution. */
export function setAsideError(node: INode, { kind, ids, attempt, unbegun }: Group, outcome: Outcome): NodeOperationError {
	const failed = attempt === 1 ? 'the execution failed' : `${attempt} executions failed`;
	const isUnknown = outcome === 'unknown';
	const notBegun = `n8n ended ${unbegun} executions before they began`;
	const reason = outcome === 'ended before its first node' ? notBegun : failed;
	const why = isUnknown ? 'n8n stopped during the execution, so its outcome is unknown' : reason;
	const advice = isUnknown
		? 'Check what the execution has done, and retry it if it has not finished'
		: 'Find the failed executions in the list, and retry the last one once its cause is fixed';
	return new NodeOperationError(node, `${subjectOf(kind, ids)} ${wasOrWere(ids)} set aside: ${why}`, {
		description: `The trigger continues with the others. ${advice} (${ids.join(', ')}).`,
	});
}

/** Reports events or records that cannot be read, so that no execution starts for them yet. */
export function unreadError(node: INode, { kind }: Group, failures: LoadFailure[], fate: 'waits' | 'set aside'): NodeOperationError {
	const ids = failures.flatMap((failure) => failure.ids);
	const subject = subjectOf(kind, ids);
	const [failure] = failures;
	const reason = failure?.error.message ?? '';
	if (fate === 'waits') {
		return new NodeOperationError(node, `${subject} could not be read yet: ${reason}`, {
			description: `The trigger tries again, and meanwhile continues with the others (${ids.join(', ')}).`,
		});
	}
	return new NodeOperationError(node, `${subject} ${wasOrWere(ids)} set aside and started no execution: ${reason}`, {
		description: `The trigger continues with the others. Check what the credential may read, then handle the records yourself (${ids.join(', ')}).`,
	});
}

/** Reports open records that a new beginning has left behind. */
export function abandonedError(node: INode, records: string[]): NodeOperationError {
	const subject = `${subjectOf('pending records', records)} ${wasOrWere(records)}`;
	return new NodeOperationError(node, `${subject} set aside because the trigger now starts from another point`, {
		description: `No execution starts for them (${records.join(', ')}). To start the workflow for changes that had no execution, set Start On to Events, and Start From to A Date before them. Retry failed executions in the list of executions, and read the other records by ID.`,
	});
}

/** Reports an execution that has begun and whose end n8n does not report. */
export function silentError(node: INode, { kind, ids }: Group): NodeOperationError {
	const subject = subjectOf(kind, ids, 'the');
	return new NodeOperationError(node, `For an hour, n8n has not reported how the execution for ${subject} ended`, {
		description:
			'The trigger waits for it. If the list of executions does not show it as running, n8n has lost it: restart the main process of n8n, and the trigger continues.',
	});
}

/**
 * Whether an execution has ended as crashed before its first node. After a start of n8n in queue mode,
 * the first executions may: n8n marks those as crashed whose jobs are not in Redis yet
 * (scaling.service, recoverFromQueue), and a worker skips them (job-processor).
 */
function neverBegan(run: IRun | undefined): boolean {
	return run?.status === 'crashed' && hasNoNode(run);
}

/** Whether a run has neither a job nor nodes, as n8n makes it up for a job that failed (workflow-runner, processError). */
export function hasNoTrace(run: IRun | undefined): boolean {
	return run?.status === 'error' && run.jobId === undefined && hasNoNode(run);
}

const hasNoNode = ({ data }: IRun): boolean => Object.keys(data?.resultData?.runData ?? {}).length === 0;

/**
 * Whether a job has failed before the first node, as the worker could not read its execution from
 * PostgreSQL (job-processor). Since 2.35, a worker asks PostgreSQL for nothing more once the nodes have run.
 */
export function failedBeforeBeginning(run: IRun | undefined): boolean {
	return hasNoTrace(run) && databaseAway.test(run?.data?.resultData?.error?.message ?? '');
}

/** Error messages of TypeORM, node-postgres and PostgreSQL. */
const databaseAway =
	/^(Driver not Connected|connect ECONNREFUSED|Connection terminated|terminating connection due to|the database system is|timeout exceeded when trying to connect)/;
