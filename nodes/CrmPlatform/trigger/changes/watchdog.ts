import type { IRun } from 'n8n-workflow';

/** A start that n8n has not settled yet. */
export interface UnsettledStart {
	/** Counts the starts and repetitions of this trigger: a later one has a higher number. */
	number: number;
	/** When it was started or repeated last (Unix epoch ms). */
	at: number;
	/** How often its key was repeated. */
	repeats: number;
	/** Whether n8n has refused the repeated key: the execution has begun. */
	hasBegun: boolean;
	/** When n8n was first known to have its execution, which has begun (Unix epoch ms). */
	seenAt?: number;
	isReported: boolean;
	/** When a later start first came out (Unix epoch ms). */
	overtakenAt?: number | undefined;
}

/** What the triggers of this process have seen of n8n: it is the same for all. Nothing of it is stored. */
export interface SeenOfN8n {
	/** Whether executions run on workers; undefined until the first outcome is known. */
	onWorkers?: boolean;
	/** When n8n could not start something, as its database was away. */
	failedAt?: number;
}

export interface Observations extends SeenOfN8n {
	/** When a start of this trigger came out last. */
	lastOutAt?: number;
	/** Milliseconds after which n8n stops an execution of this workflow; undefined if its settings do not tell. */
	timeout?: number | undefined;
}

/** Milliseconds that n8n is given to settle what it can. */
export const grace = 30_000;

/** Milliseconds without an outcome after which n8n is asked whether a start waits for a worker. */
const patience = 60_000;

/** Milliseconds without any outcome after which the longest wait counts as a lost job; doubles. */
export const maxSilence = 10 * 60_000;

/** Milliseconds after which the user is told of an execution that has begun and whose end is unknown. */
const reportAfter = 60 * 60_000;

/**
 * Decides what to do about starts that n8n has not settled.
 *
 * In queue mode n8n 2.41 leaves a start open for ever when its database was away at that moment, or
 * when Redis has lost the job. The execution is then `new` without a job, and repeating its key
 * replaces it (execution-persistence, reclaimTombstone, since 2.32). Of a job that merely waits for a
 * worker, the same fails the old job, which starts the error workflow; hence only with a reason:
 * workers take jobs in their order, so one that was overtaken is lost or has begun.
 *
 * Never in the main process: there a start that waits for the concurrency limit runs though its
 * execution was replaced. n8n 2.35 and later settles each start in its main process. Until an execution
 * has come out, nobody knows where they run, and the first ones may be lost.
 *
 * @param starts the unsettled ones, in any order
 * @returns the starts to repeat, those to report to the user, those that n8n has stopped without telling
 * (a worker's timeout; workflow-runner, processError), and one that may be lost
 */
export function checkStarts<Start extends UnsettledStart>(
	starts: readonly Start[],
	{ onWorkers, lastOutAt = 0, failedAt, timeout }: Observations,
	now: number,
): { repeat: Start[]; report: Start[]; timedOut: Start[]; doubtful?: Start | undefined } {
	if (onWorkers === false) return { repeat: [], report: [], timedOut: [] };
	const open = starts.filter(({ hasBegun }) => !hasBegun).sort((one, other) => one.number - other.number);
	const isPast = (instant: number | undefined, ms: number) => instant !== undefined && now - instant >= ms;

	const repeat = open.filter(({ at, overtakenAt }) => {
		const wasFailing = failedAt !== undefined && failedAt >= at - grace && isPast(failedAt, grace);
		return isPast(overtakenAt, grace) || (wasFailing && isPast(at, grace));
	});
	const [longest] = open;
	if (repeat.length === 0 && longest) {
		const lastSign = Math.max(longest.at, lastOutAt);
		if (isPast(lastSign, maxSilence * 2 ** longest.repeats)) repeat.push(longest);
	}
	const isUnknown = onWorkers === undefined;
	const report = starts.filter(
		// In the main process an execution may take longer than that.
		({ at, hasBegun, seenAt, isReported }) =>
			(hasBegun || (isUnknown && seenAt === undefined)) && !isReported && isPast(at, reportAfter),
	);
	const timedOut = starts.filter(({ seenAt }) => timeout !== undefined && isPast(seenAt, timeout + patience));
	if (repeat.length > 0 && !isUnknown) return { repeat, report, timedOut };
	const untilDoubt = isUnknown ? reportAfter : Infinity;
	const doubtful = open.find(({ at, seenAt }) => isPast(at, seenAt === undefined ? patience : untilDoubt));
	return { repeat: [], report, timedOut, doubtful };
}

/** Whether executions run on workers, by the run of one; undefined if the run does not tell. */
export function ranOnWorker(run: IRun | undefined): boolean | undefined {
	return run === undefined ? undefined : run.jobId !== undefined;
}

/**
 * Whether an execution has ended as crashed before its first node. After a start of n8n in queue mode,
 * the first executions may: n8n marks those as crashed whose jobs are not in Redis yet
 * (scaling.service, recoverFromQueue), and a worker skips them (job-processor).
 */
export function neverBegan(run: IRun | undefined): boolean {
	if (run?.status !== 'crashed') return false;
	return Object.keys(run.data?.resultData?.runData ?? {}).length === 0;
}

/** Whether a run has neither a job nor nodes, as n8n makes it up for a job that failed (workflow-runner, processError). */
export function hasNoTrace(run: IRun | undefined): boolean {
	if (run?.status !== 'error' || run.jobId !== undefined) return false;
	return Object.keys(run.data?.resultData?.runData ?? {}).length === 0;
}

/**
 * Whether a job has failed before the first node, as the worker could not read its execution from
 * PostgreSQL (job-processor). Since 2.35, a worker asks PostgreSQL for nothing more once the nodes have run.
 */
export function failedBeforeBeginning(run: IRun | undefined): boolean {
	return hasNoTrace(run) && databaseAway.test(run?.data?.resultData?.error?.message ?? '');
}

/** What TypeORM, node-postgres and PostgreSQL say. */
const databaseAway =
	/^(Driver not Connected|connect ECONNREFUSED|Connection terminated|terminating connection due to|the database system is|timeout exceeded when trying to connect)/;
