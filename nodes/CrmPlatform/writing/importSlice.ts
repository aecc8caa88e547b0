import { NodeApiError } from 'n8n-workflow';

import type { Execution } from '../model';
import { startBackgroundJob, startedJob, waitForJob, type StartedJob } from './backgroundJob';
import type { ImportPlan, PlannedRow } from './importPlan';
import { readImportResults } from './importResults';
import { hasWriteOncePer } from './writeOne';
import { itemsIn, rangesOf, stateOfRun } from './runState';

/** The index of a slice, and what all slices share. */
interface SliceContext {
	index: number;
	/** Ids of the jobs, in the order in which they became known. */
	jobs: string[];
	/** Rejects if another slice has failed. */
	stopped: Promise<never>;
}

/**
 * Imports the rows of one slice of a file by a job. If an earlier attempt sent some of them, its job is read; rows that
 * it could not send, but that can be sent now, go into another job.
 *
 * @returns the rows, each of them done or refused
 * @throws NodeApiError if a job cannot be started or read
 */
export async function importSlice(
	execution: Execution,
	plan: ImportPlan,
	rows: PlannedRow[],
	slice: SliceContext,
): Promise<PlannedRow[]> {
	const sentJobs = sentJobsOf(execution, plan, slice.index);
	const earlier = sentJobs.length;
	const isRepeated = earlier > 0;
	const sentBefore = new Set(sentJobs.flatMap((job) => itemsIn(job.rows)));
	const unsent = [...rows.keys()].filter((i) => rows[i]!.line !== undefined && !sentBefore.has(i));
	if (isRepeated && plan.operation !== 'create') {
		for (const i of unsent) Object.assign(rows[i]!, { line: undefined, refusal: overtaken });
	} else if (unsent.length > 0) {
		sentJobs.push({ rows: rangesOf(unsent) });
	}
	for (const [number, job] of [...sentJobs.entries()]) {
		const sentRows = itemsIn(job.rows).map((i) => rows[i]!);
		const key = [...(plan.place ?? [plan.item]), slice.index, ...(number === 0 ? [] : [number])];
		const started =
			job.id === undefined
				? await startJob(execution, plan, sentRows, { job, key, forget: () => number >= earlier && sentJobs.pop() })
				: startedJob(plan.description, job.id);
		for (const planned of sentRows) Object.assign(planned, { line: undefined, refusal: undefined });
		slice.jobs.push(started.id);
		const ended = await waitForJob(execution, plan.item, started, slice.stopped);
		await readImportResults(execution, plan, started, { sentRows, ended });
	}
	return rows;
}

const overtaken = {
	code: 'overtaken',
	message:
		'An earlier attempt refused this row and continued with later rows, which may change the same record. Import it again from this file.',
};

/** @param forget called if the service certainly has not accepted the job */
async function startJob(
	execution: Execution,
	{ description, query }: ImportPlan,
	sentRows: PlannedRow[],
	{ job, key, forget }: { job: SentJob; key: number[]; forget: () => unknown },
): Promise<StartedJob> {
	const lines = sentRows.flatMap(({ line }) => line ?? []);
	if (lines.length < sentRows.length) throw changedSince(execution, sentRows);
	// Releases the lines, so that memory holds them only once, in the request.
	for (const planned of sentRows) planned.line = undefined;
	try {
		const started = await startBackgroundJob(execution, description, { query, lines }, key);
		job.id = started.id;
		return started;
	} catch (error) {
		const status = error instanceof NodeApiError ? Number(error.httpCode) : 0;
		const { data, mayBeDone } = ((error as NodeApiError).context ?? {}) as { data?: { code?: string }; mayBeDone?: boolean };
		if (status >= 400 && status < 500 && status !== 409 && !mayBeDone) forget();
		throw data?.code === 'idempotency_key_reused' ? changedSince(execution, sentRows) : error;
	}
}

/** The error if an earlier attempt, whose response is unknown, sent other values under the same key. */
function changedSince(execution: Execution, sentRows: PlannedRow[]): Error {
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
 * The jobs that were started for a slice of a file, including those of earlier attempts. Add a job before it is sent. The
 * jobs tell a later attempt which rows were sent, even if it can read more rows, for example because a company exists by
 * now.
 */
function sentJobsOf(execution: Execution, { item, place = [item], operation, path }: ImportPlan, slice: number): SentJob[] {
	const state = stateOfRun<ImportState>(execution, 'imports');
	state.jobs ??= {};
	return (state.jobs[`${operation} ${path} ${place.join('.')}/${slice}`] ??= []);
}
