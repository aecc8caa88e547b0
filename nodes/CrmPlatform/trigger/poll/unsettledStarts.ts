import type { IRun } from 'n8n-workflow';

/** A start that n8n has not settled yet. */
export interface UnsettledStart {
	/** The number of its last emission: each start and each repetition of this trigger has a higher one. */
	lastEmission: number;
	/** When it was started or repeated last (Unix epoch ms). */
	at: number;
	/** How often its key was repeated. */
	repeats: number;
	/** Whether n8n has refused the repeated key: the execution has begun. */
	hasBegun: boolean;
	/** When n8n first confirmed that its execution has begun (Unix epoch ms). */
	seenAt?: number;
	isReported: boolean;
	/** When the outcome of a later start was first known (Unix epoch ms). */
	overtakenAt?: number | undefined;
}

/** Observations of n8n, shared by all triggers of this process and never stored. */
export interface SeenOfN8n {
	/** Whether executions run on workers; undefined until the first outcome is known. */
	onWorkers?: boolean;
	/** When n8n last failed to start an execution because its database was unavailable. */
	failedAt?: number;
}

export interface Observations extends SeenOfN8n {
	/** When the outcome of a start of this trigger was last known. */
	lastOutcomeAt?: number;
	/** Timeout (ms) of executions of this workflow; undefined if its settings have none. */
	timeout?: number | undefined;
}

/** Milliseconds after which n8n has settled every start that it can. */
export const settlingTime = 30_000;

/** Milliseconds without an outcome after which a probe checks whether a start waits for a worker. */
const probeAfter = 60_000;

/** Milliseconds without any outcome after which the oldest start counts as lost; doubles with each repetition. */
export const maxSilence = 10 * 60_000;

/** Milliseconds after which an execution that has begun and whose end is unknown is reported to the user. */
const reportAfter = 60 * 60_000;

/**
 * Decides what to do about starts that n8n has not settled.
 *
 * In queue mode n8n 2.41 never settles a start if its database was unavailable at that moment, or if Redis has
 * lost the job. The execution is then `new` without a job, and repeating its key replaces it
 * (execution-persistence, reclaimTombstone, since 2.32). If the job merely waits for a worker, repeating fails
 * the old job, which starts the error workflow. Hence it needs a reason: workers take jobs in order, so an
 * overtaken one is lost or has begun.
 *
 * Starts are never repeated in the main process: there a start that waits for the concurrency limit runs
 * although its execution was replaced. n8n 2.35 and later settles each start in its main process. Until the
 * first outcome, it is unknown where executions run, and the first ones may be lost.
 *
 * @param starts the unsettled starts, in any order
 * @returns the starts to repeat, the starts to report to the user, the starts that n8n has stopped without reporting it
 * (a worker's timeout; workflow-runner, processError), and one that may be lost
 */
export function checkStarts<Start extends UnsettledStart>(
	starts: readonly Start[],
	{ onWorkers, lastOutcomeAt = 0, failedAt, timeout }: Observations,
	now: number,
): { repeat: Start[]; report: Start[]; timedOut: Start[]; doubtful?: Start | undefined } {
	if (onWorkers === false) return { repeat: [], report: [], timedOut: [] };
	const open = starts.filter(({ hasBegun }) => !hasBegun).sort((a, b) => a.lastEmission - b.lastEmission);
	const isPast = (instant: number | undefined, ms: number) => instant !== undefined && now - instant >= ms;

	const repeat = open.filter(({ at, overtakenAt }) => {
		const wasFailing = failedAt !== undefined && failedAt >= at - settlingTime && isPast(failedAt, settlingTime);
		return isPast(overtakenAt, settlingTime) || (wasFailing && isPast(at, settlingTime));
	});
	const [oldestStart] = open;
	if (repeat.length === 0 && oldestStart) {
		const lastSign = Math.max(oldestStart.at, lastOutcomeAt);
		if (isPast(lastSign, maxSilence * 2 ** oldestStart.repeats)) repeat.push(oldestStart);
	}
	const isUnknown = onWorkers === undefined;
	const report = starts.filter(
		// In the main process, an execution may take longer than `reportAfter`.
		({ at, hasBegun, seenAt, isReported }) =>
			(hasBegun || (isUnknown && seenAt === undefined)) && !isReported && isPast(at, reportAfter),
	);
	const timedOut = starts.filter(({ seenAt }) => timeout !== undefined && isPast(seenAt, timeout + probeAfter));
	if (repeat.length > 0 && !isUnknown) return { repeat, report, timedOut };
	const untilDoubt = isUnknown ? reportAfter : Infinity;
	const doubtful = open.find(({ at, seenAt }) => isPast(at, seenAt === undefined ? probeAfter : untilDoubt));
	return { repeat: [], report, timedOut, doubtful };
}

/** Whether executions run on workers, judging by one run; undefined if the run does not show it. */
export function ranOnWorker(run: IRun | undefined): boolean | undefined {
	return run === undefined ? undefined : run.jobId !== undefined;
}

/**
 * Whether an execution has ended as crashed before its first node. After a start of n8n in queue mode,
 * the first executions may: n8n marks those as crashed whose jobs are not in Redis yet
 * (scaling.service, recoverFromQueue), and a worker skips them (job-processor).
 */
export function neverBegan(run: IRun | undefined): boolean {
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
