import { ExecutionCancelledError, type IDataObject, type IExecuteResponsePromiseData, type IRun, type ITriggerFunctions } from 'n8n-workflow';

import { within } from '../../base/clock';
import { processMemory } from '../../base/processMemory';
import { emitUnwritable } from '../storedState';
import type { PublishedTrigger } from './pollSettings';
import type { Group } from './ledger';

/** A key that is unique in the n8n instance, and new for each attempt, and after an execution that ended before its first node. */
function executionKey(n8n: ITriggerFunctions, { name, attempt, unbegun }: Group): string {
	return `${String(n8n.getWorkflow().id)}:${n8n.getNode().id}:${name}:${attempt + unbegun}`;
}

type Context = Pick<PublishedTrigger, 'n8n' | 'clock'>;

/** Milliseconds to wait for n8n's answer. */
const answerTimeout = 3_000;

/** Whether n8n has an execution; `no answer` if n8n is slow or, before 2.35, has none or no database. */
export type Existence = 'yes' | 'no' | 'no database' | 'no answer';

/** Whether n8n has an execution of this attempt of a group. */
export const existenceOf = async ({ n8n, clock }: Context, group: Group): Promise<Existence> =>
	(await within(answerTimeout, emitUnwritable(n8n, executionKey(n8n, group)), clock)) ?? 'no answer';

/** Whether executions ran on workers, as the triggers of this process have seen. */
const ranOnWorkers = processMemory(new Set<boolean>());

/** Whether executions run on workers; undefined until the first outcome is known. */
export const runsOnWorkers = (): boolean | undefined => (ranOnWorkers.size === 0 ? undefined : ranOnWorkers.has(true));

export type Outcome = 'succeeded' | 'failed' | 'unknown' | 'rejected by n8n' | 'ended before its first node';

/** How an execution has ended, or its start. */
export interface ExecutionEnd {
	outcome: Outcome;
	/** Whether a node has run. */
	hasRun: boolean;
}

interface ReportedEnd extends ExecutionEnd {
	/** If n8n may have made up the failure: its message. */
	doubt?: string;
	/** Whether a worker has run it, if that is known. */
	onWorker?: boolean;
}

/**
 * Starts an execution, and follows it to its end: n8n reports that as its run, or a worker answers first.
 *
 * @param group undefined for a probe, which has no items
 * @param isAwaited whether it was not started again since: otherwise, asking n8n for it would interfere
 */
export async function runExecution(
	{ n8n, clock }: Context, items: IDataObject[], group?: Group, isAwaited = () => true,
): Promise<ExecutionEnd> {
	const ended = n8n.helpers.createDeferredPromise<IRun | undefined>();
	const answer = n8n.helpers.createDeferredPromise<IExecuteResponsePromiseData>();
	n8n.emit([items.map((json) => ({ json }))], answer, ended as never, group && executionKey(n8n, group));
	const reported = ended.promise.then(endOfExecution, endOfError);
	const answered = answer.promise.then(outcomeOfAnswer, () => undefined);
	const answeredOutcome = await Promise.race([answered, reported.then(() => undefined)]);
	const { outcome, hasRun, doubt, onWorker }: ReportedEnd = answeredOutcome === undefined
		? await reported
		: ((await within(maxTimeWithoutRun, reported, clock)) ?? { outcome: answeredOutcome, hasRun: true, onWorker: true });
	if (onWorker !== undefined) ranOnWorkers.add(onWorker);
	if (doubt === undefined || !group || !isAwaited()) return { outcome, hasRun };
	// If a job failed while n8n's database was unavailable, its execution may not have begun, and never would.
	if ((await existenceOf({ n8n, clock }, group)) !== 'yes') return { outcome: 'rejected by n8n', hasRun };
	return { outcome: databaseAway.test(doubt) ? 'ended before its first node' : 'failed', hasRun };
}

/**
 * Maximum milliseconds between n8n's answer for an execution and its run. If a worker is faster than the
 * main process, n8n never returns the run: Bull removes a finished job at once (removeOnComplete; since
 * 2.30 keepLastCompleted, which is 0), and the main process waits for a job that is gone
 * (workflow-runner, enqueueExecution; the same in 2.11, 2.20, 2.30, 2.33, 2.35, 2.38, 2.40 and 2.41).
 */
const maxTimeWithoutRun = 15_000;

/**
 * Error messages of TypeORM, node-postgres and PostgreSQL: a worker could not read the execution (job-processor). Since 2.35, a
 * worker asks PostgreSQL for nothing more once the nodes have run.
 */
const databaseAway =
	/^(Driver not Connected|connect ECONNREFUSED|Connection terminated|terminating connection due to|the database system is|timeout exceeded when trying to connect)/;

/** Ends of an execution. One that waits for long counts as succeeded. */
const ends: Partial<Record<string, Outcome>> = { success: 'succeeded', waiting: 'succeeded', error: 'failed', crashed: 'failed', canceled: 'failed' };

/**
 * n8n returns no run for a key that an execution already has. After Redis was emptied, it numbers jobs from 1 again, and
 * takes the end of another job for the end of a lost one: the run of the latter then still is `new`.
 */
function endOfExecution(execution: IRun | undefined): ReportedEnd {
	if (execution === undefined) return { outcome: 'unknown', hasRun: false };
	const { runData = {}, error } = execution.data?.resultData ?? {};
	const end = ends[execution.status] ?? 'rejected by n8n';
	const outcome = end === 'succeeded' && error !== undefined ? 'failed' : end;
	const hasRun = outcome === 'succeeded' || Object.keys(runData).length > 0;
	// Without a job, n8n has made up the failure, or a worker that was considered dead has lost it (workflow-runner, processError).
	if (execution.status === 'error' && execution.jobId === undefined && !hasRun && runsOnWorkers() !== false) {
		return { outcome, hasRun, doubt: error?.message ?? '' };
	}
	// After a start of n8n in queue mode, it marks executions as crashed whose jobs are not in Redis yet (scaling.service,
	// recoverFromQueue), and a worker skips them (job-processor).
	return { outcome: execution.status === 'crashed' && !hasRun ? 'ended before its first node' : outcome, hasRun, onWorker: execution.jobId !== undefined };
}

/** n8n rejects canceled executions and, since 2.35, executions that it could not start; earlier versions never settle the latter. */
function endOfError(error: Error): ReportedEnd {
	const isCanceled = error instanceof ExecutionCancelledError;
	return { outcome: isCanceled ? 'failed' : 'rejected by n8n', hasRun: isCanceled };
}

/**
 * Reads n8n's answer for a workflow that a worker has run (scaling.service, job-finished, since before 2.11):
 * nothing if it succeeded. In its main process, n8n also answers nothing for a failed one, just before it returns the
 * run, which therefore takes precedence. Any other answer is the workflow's own, which may still run.
 */
function outcomeOfAnswer(answer: IExecuteResponsePromiseData): Outcome | undefined {
	if (Object.keys(answer).length === 0) return 'succeeded';
	const { statusCode, body } = answer as { statusCode?: unknown; body?: { message?: unknown } };
	return statusCode === 500 && body?.message === 'Workflow execution failed' ? 'failed' : undefined;
}
