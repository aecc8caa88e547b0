import { NodeApiError, type IBinaryKeyData, type IDataObject } from 'n8n-workflow';

import { answersByItem, type ItemAnswer } from '../api/batchAnswers';
import { problemOfItem } from '../api/http/problem';
import { attemptMayBeDone } from '../api/http/retry';
import { UnreadableFile } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import type { NodeRun } from '../model';
import { wholeNumber } from '../base/numbers';
import { endReason, readJobResults, startBackgroundJob, startedJob, waitForJob, type StartedJob } from '../writing/backgroundJob';
import { planSlices, refuse, RowKeys, type ImportPlan, type PlannedRow, type Refusal } from './importPlan';
import { ImportProgress } from './importReport';
import { itemsIn, rangesOf, stateOfRun } from '../writing/runState';
import { hasWriteOncePer } from '../writing/sendAlone';

/** Maximum number of concurrent jobs that create records. Changes keep their order, since the later of two wins. */
const jobsAtOnce = 3;

/**
 * Imports the rows of a file in jobs of a few thousand rows each, a few at a time, or previews them without writing
 * anything.
 *
 * The key of a job contains its place in the file, so that an interrupted run finds the jobs that it started. A file that
 * cannot be read to its end is imported up to that point, and the result says so.
 *
 * @param file is closed at the end
 * @returns counts, and the files `done` and `failed`
 * @throws NodeApiError if a job cannot be started or read; Error in the user's words if nothing of the file can be read
 */
export async function importRows(
	execution: NodeRun,
	plan: ImportPlan,
	file: FileRecords,
): Promise<{ json: IDataObject; files: IBinaryKeyData }> {
	const progress = new ImportProgress(execution, plan, file);
	const keys = new RowKeys(plan);
	try {
		for await (const rows of importSlices(execution, plan, planSlices(execution, plan, file, keys), progress.jobs)) {
			await progress.record(rows);
		}
		return await progress.end(keys);
	} catch (error) {
		await progress.abandon();
		throw error instanceof UnreadableFile ? new Error(error.message) : error;
	} finally {
		await file.close();
	}
}

/**
 * Imports slices of a file, a few at a time.
 *
 * @param jobs the ids of all jobs, in the order in which they become known
 * @returns the rows of each slice, in the order of the file
 */
async function* importSlices(
	execution: NodeRun,
	plan: ImportPlan,
	slices: AsyncIterable<PlannedRow[]>,
	jobs: string[],
): AsyncGenerator<PlannedRow[], void> {
	const atOnce = plan.operation === 'create' ? jobsAtOnce : 1;
	/** In the order of the file. */
	const running: Array<Promise<PlannedRow[]>> = [];
	let isStopped = false;
	let stop: (error?: unknown) => void = () => undefined;
	const stopped = new Promise<never>((_, reject) => (stop = reject));
	stopped.catch(() => (isStopped = true));
	const waitForFirst = async (): Promise<PlannedRow[]> => {
		// It stays in the list until it has ended, so that a failure of another waits for it.
		const rows = await Promise.race([running[0]!, stopped]);
		void running.shift();
		return rows;
	};
	let index = 0;
	try {
		for await (const rows of slices) {
			if (isStopped) break;
			const slice = plan.isPreview ? Promise.resolve(rows) : importSlice(execution, plan, rows, { index, jobs, stopped });
			slice.catch(stop);
			running.push(slice);
			index += 1;
			if (running.length >= atOnce) yield await waitForFirst();
		}
		while (running.length > 0) yield await waitForFirst();
	} finally {
		stop();
		// Waits for responses to requests in flight, but not for jobs, so that the next attempt finds the started jobs.
		await Promise.allSettled(running);
	}
}

/**
 * Imports the rows of one slice of a file by a job. If an earlier attempt sent some of them, its job is read; rows that
 * it could not send, but that can be sent now, go into another job.
 *
 * @param jobs the ids of all jobs, in the order in which they become known
 * @param stopped rejects if another slice has failed
 * @returns the rows, each of them done or refused
 * @throws NodeApiError if a job cannot be started or read
 */
async function importSlice(
	execution: NodeRun,
	plan: ImportPlan,
	rows: PlannedRow[],
	{ index, jobs, stopped }: { index: number; jobs: string[]; stopped: Promise<never> },
): Promise<PlannedRow[]> {
	const sentJobs = sentJobsOf(execution, plan, index);
	const sentBefore = new Set(sentJobs.flatMap((job) => itemsIn(job.rows)));
	const unsent = [...rows.keys()].filter((i) => rows[i]!.line !== undefined && !sentBefore.has(i));
	const isOvertaken = sentJobs.length > 0 && plan.operation !== 'create';
	if (isOvertaken) for (const i of unsent) refuse(rows[i]!, overtaken);
	const newJobs: SentJob[] = unsent.length === 0 || isOvertaken ? [] : [{ rows: rangesOf(unsent) }];
	for (const [number, job] of [...sentJobs, ...newJobs].entries()) {
		const places = itemsIn(job.rows);
		const sentRows = places.flatMap((i) => rows[i] ?? []);
		if (sentRows.length < places.length) throw changedSince(execution, rows);
		const key = [...(plan.place ?? [plan.item]), index, ...(number === 0 ? [] : [number])];
		const started = job.id === undefined ? await startJob(execution, plan, sentRows, { job, key, sentJobs }) : startedJob(plan.description, job.id);
		jobs.push(started.id);
		const ended = await waitForJob(execution, plan.item, started, stopped);
		const outcomes = await readOutcomes(execution, plan, started, { count: places.length, ended });
		for (const [line, i] of places.entries()) rows[i] = { ...rows[i]!, line: undefined, ...outcomes[line]! };
	}
	return rows;
}

const overtaken = {
	code: 'overtaken',
	message:
		'An earlier attempt refused this row and continued with later rows, which may change the same record. Import it again from this file.',
};

async function startJob(
	execution: NodeRun,
	{ description, query }: ImportPlan,
	sentRows: PlannedRow[],
	{ job, key, sentJobs }: { job: SentJob; key: number[]; sentJobs: SentJob[] },
): Promise<StartedJob> {
	const lines = sentRows.flatMap(({ line }) => line ?? []);
	if (lines.length < sentRows.length) throw changedSince(execution, sentRows);
	const isNew = !sentJobs.includes(job);
	if (isNew) sentJobs.push(job);
	// Releases the lines, so that memory holds them only once, in the request.
	for (const planned of sentRows) planned.line = undefined;
	try {
		const started = await startBackgroundJob(execution, description, { query, lines }, key);
		job.id = started.id;
		return started;
	} catch (error) {
		const status = error instanceof NodeApiError ? Number(error.httpCode) : 0;
		const { data, mayBeDone } = ((error as NodeApiError).context ?? {}) as { data?: { code?: string }; mayBeDone?: boolean };
		// The service certainly has not accepted it.
		if (isNew && status >= 400 && status < 500 && status !== 409 && !mayBeDone) sentJobs.pop();
		throw data?.code === 'idempotency_key_reused' ? changedSince(execution, sentRows) : error;
	}
}

/** The error if an earlier attempt, whose response is unknown, sent other values under the same key. */
function changedSince(execution: NodeRun, sentRows: PlannedRow[]): Error {
	const again = hasWriteOncePer(execution) ? 'with another value in Write Once Per' : 'in a new execution';
	return new Error(
		`Rows ${sentRows[0]!.row} to ${sentRows.at(-1)!.row} were already sent with different values: the file has changed, or a record that the rows refer to has. This time, none of them was written. Job → Get Many of the node CRM Platform Admin shows what the earlier job wrote. To write the other rows, import the file “failed” of the earlier import. Or import the whole file with Create or Update ${again}: Match On prevents duplicates.`,
	);
}

/** A job of an import, and the rows that it was sent. */
interface SentJob {
	/** Places of the rows in their slice of the file, as ranges: `0-16,18-4999`. */
	rows: string;
	/** Undefined if the response to its start is unknown. */
	id?: string;
}

/** The jobs of this run, by operation, path, and slice of an item's file. */
interface ImportState {
	run: number | string;
	jobs?: Record<string, SentJob[]>;
}

/**
 * The jobs that were started for a slice of a file, including those of earlier attempts. The
 * jobs tell a later attempt which rows were sent, even if it can read more rows, for example because a company exists by
 * now.
 */
function sentJobsOf(execution: NodeRun, { item, place = [item], operation, path }: ImportPlan, slice: number): SentJob[] {
	const state = stateOfRun<ImportState>(execution, 'imports');
	state.jobs ??= {};
	return (state.jobs[`${operation} ${path} ${place.join('.')}/${slice}`] ??= []);
}

type RowOutcome = Pick<PlannedRow, 'done' | 'refusal'>;

const refused = (refusal: Refusal): RowOutcome => ({ done: undefined, refusal });

/**
 * Reads the outcome of each line of a job. A row without a readable result stays unknown: as a refused row it would be
 * imported again, and so written twice.
 *
 * @param count of its lines
 * @param ended the finished job
 * @throws NodeApiError if the results cannot be read
 */
async function readOutcomes(
	execution: NodeRun,
	plan: ImportPlan,
	{ path }: StartedJob,
	{ count, ended }: { count: number; ended: IDataObject },
): Promise<RowOutcome[]> {
	const all: IDataObject[] = [];
	for await (const part of readJobResults(execution, path, count, plan.description.withoutRecords)) {
		for (const { data, id, ...result } of part) all.push({ ...result, id: id ?? (data as IDataObject | null | undefined)?.id });
	}
	// Without a result for line 0, the service may count from 1, and each result would belong to another row.
	const startsAtZero = all.some(({ index }) => String(index) === '0');
	const lines = Array.from({ length: count }, () => ({}));
	const results = new Map(startsAtZero ? answersByItem({ results: all }, lines, false) : []);
	const withoutResult = missingResult(ended, results.size === all.length ? all.length : undefined);
	return lines.map((_, line) => {
		const result = results.get(line);
		return result ? rowOutcome(plan, result) : refused(withoutResult);
	});
}

function rowOutcome(plan: ImportPlan, { status, id, error }: ItemAnswer): RowOutcome {
	if (attemptMayBeDone({ status, headers: {} })) {
		return refused(unknown(`The CRM responded with ${status} for this row, so it may have been written.`));
	}
	if (status >= 400) return refused(rowRefusal(plan, status, error));
	if (status < 200 || status >= 300 || error) {
		return refused(unknown('The result of this row could not be understood, so the row may have been written.'));
	}
	const { operation } = plan;
	const created = operation === 'create' || status === 201;
	const action = operation === 'delete' ? 'deleted' : created ? 'created' : 'updated';
	return { done: { action, id: id ?? '' }, refusal: undefined };
}

function rowRefusal({ fields }: ImportPlan, status: number, error: unknown): Refusal {
	const { message, code, details } = problemOfItem(status, error);
	const errors = (Array.isArray(details.errors) ? details.errors : []) as Array<IDataObject | undefined>;
	const reasons = errors.map((reason) => {
		const field = typeof reason?.pointer === 'string' ? reason.pointer.replace(/^#?\//, '').replaceAll('/', '.') : undefined;
		const label = fields.find(({ name }) => name === field)?.label ?? field;
		const detail = String(reason?.detail ?? reason?.message ?? message);
		return { ...(field !== undefined && { field }), message: label === undefined ? detail : `${label}: ${detail}` };
	});
	const names = [...new Set(reasons.flatMap(({ field }) => field ?? []))];
	return {
		code: String(errors[0]?.code ?? code ?? status),
		message: reasons.length > 1 ? reasons.map((reason) => reason.message).join('\n') : message,
		...(reasons.length > 1 && { reasons }),
		...(names.length > 0 && { field: names.join(', ') }),
	};
}

/**
 * Why rows have no result. If a job ended early, they were not done, provided that it processed no more lines than there
 * are results.
 *
 * @param results number of lines with a result; undefined if some results belong to no line
 */
function missingResult(job: IDataObject, results: number | undefined): Refusal {
	const { status } = job;
	const processed = wholeNumber(job.processed);
	const stated = endReason(job);
	const reason = stated === undefined ? '.' : `: ${stated}`;
	if (status !== 'completed' && processed !== undefined && results !== undefined && processed <= results) {
		return { code: 'not_done', message: `The job ended before this row (${String(status)})${reason}` };
	}
	return unknown(`The CRM returned no result for this row, so it may have been written. The job is ${String(status)}${reason}`);
}

/** The outcome of the row is unknown. */
const unknown = (explanation: string): Refusal => ({
	code: 'unknown',
	message: `${explanation} Look for the record before you import the row again.`,
	isUnknown: true,
});
