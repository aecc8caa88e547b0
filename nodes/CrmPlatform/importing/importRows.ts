import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { answersByItem, type ItemAnswer } from '../api/batchAnswers';
import { customFieldsIfAny } from '../api/customFields';
import type { Reason } from '../api/http/errorWords';
import { problemOfItem } from '../api/http/problem';
import { attemptMayBeDone } from '../api/http/retry';
import { isReusedKey } from '../api/refusals';
import { wholeNumber } from '../base/numbers';
import { pointerSteps } from '../base/ownMembers';
import type { FileRecords } from '../files/rows';
import { forgetRecordsOf } from '../lookUp/sourceIds';
import { chosenSource } from '../mapping/chosenNotations';
import type { NodeRun } from '../model';
import { startBackgroundJob, startedJob, waitForJob, endReason, readJobResults, type StartedJob } from '../writing/backgroundJob';
import { itemsIn, rangesOf, stateOfRun } from '../writing/runState';
import { hasWriteOncePer } from '../writing/sendAlone';
import type { ExpectedRecords } from './expectedRecords';
import type { ImportPlan, PlannedRow, RowFailure } from './importPlan';
import { ImportProgress, type ImportResult } from './importReport';
import { planSlices } from './planRows';
import { RowKeys } from './rowProblems';

/** Maximum number of concurrent jobs that create records. Changes keep their order, since the later of two wins. */
const jobsAtOnce = 3;

/**
 * Imports the rows of a file in jobs, or previews them. The key of a job contains its place in the file, so that an interrupted run finds it.
 *
 * @param file is closed at the end
 * @param expected to which the rows that are ready are added
 * @throws NodeApiError if a job cannot be started or read
 */
export async function importRows(
	run: NodeRun,
	plan: ImportPlan,
	file: FileRecords,
	expected?: ExpectedRecords,
): Promise<ImportResult> {
	const progress = new ImportProgress(run, plan, file);
	try {
		const custom = plan.isPreview ? await customFieldsIfAny(run.api, plan.path, plan.fields) : undefined;
		const keys = new RowKeys(plan, custom?.fields);
		const slices = planSlices(run, plan, file, { keys, expected });
		if (plan.isPreview) for await (const rows of slices) await progress.add(rows);
		else for await (const [rows, job] of importSlices(run, plan, slices)) await progress.add(rows, job);
		return await progress.end(keys);
	} catch (error) {
		await progress.abandon();
		throw error as Error;
	} finally {
		await file.close();
	}
}

/** Forgets that rows were no records yet: later rows may link to them. */
function forgetImported({ n8n, api }: NodeRun, { path, writtenIds }: ImportPlan): void {
	const source = chosenSource(n8n);
	if (source !== undefined && !writtenIds) forgetRecordsOf(api, path, source);
}

/** The rows of a slice with their results, and the ID of their job, if any row was sent. */
type ImportedSlice = [rows: PlannedRow[], job: string | undefined];

/** Imports slices of a file, a few at a time. @returns them in the order of the file */
async function* importSlices(run: NodeRun, plan: ImportPlan, slices: AsyncIterable<PlannedRow[]>): AsyncGenerator<ImportedSlice, void> {
	const atOnce = plan.operation === 'create' ? jobsAtOnce : 1;
	const running: Array<Promise<ImportedSlice>> = [];
	let index = 0;
	let hasFailed = false;
	try {
		for await (const rows of slices) {
			if (hasFailed) break;
			const slice = importSlice(run, plan, rows, index).finally(() => forgetImported(run, plan));
			// A failure is thrown in its turn.
			slice.catch(() => (hasFailed = true));
			running.push(slice);
			index += 1;
			if (running.length >= atOnce) yield await running.shift()!;
		}
		while (running.length > 0) yield await running.shift()!;
	} finally {
		// The jobs that are started have to be known to the next attempt.
		await Promise.allSettled(running);
	}
}

/** The job of a slice, as later attempts have to know it. */
interface SentJob {
	/** Indexes of the sent rows in the slice, as ranges: `0-16,18-4999`. */
	rows: string;
	/** Undefined if the response to its start is unknown. */
	id?: string;
}

/** The jobs of this run, by operation, path, and slice of an item's file. */
interface ImportState {
	runKey: number | string;
	jobs?: Record<string, SentJob>;
}

/**
 * If an earlier attempt has sent the slice, reads its results, and refuses rows that are ready only now: later rows may have changed their records.
 *
 * @throws NodeApiError if the job cannot be started or read
 */
async function importSlice(run: NodeRun, plan: ImportPlan, rows: PlannedRow[], index: number): Promise<ImportedSlice> {
	const { item, fileNumbers, operation, path, description } = plan;
	const jobs = (stateOfRun<ImportState>(run, 'importJobs').jobs ??= {});
	const name = `${operation} ${path} ${fileNumbers.join('.')}/${index}`;
	const isNew = jobs[name] === undefined;
	const ready = rows.flatMap(({ line }, i) => (line === undefined ? [] : [i]));
	const job = (jobs[name] ??= { rows: rangesOf(ready) });
	const sentIndexes = itemsIn(job.rows);
	const sentRows = sentIndexes.flatMap((i) => rows[i] ?? []);
	if (sentRows.length < sentIndexes.length) throw sentOtherwise(run, rows);
	const results = new Map<number, Partial<PlannedRow>>();
	if (sentIndexes.length > 0) {
		job.id ??= await startJob(run, plan, sentRows, [...fileNumbers, index]).catch((error: Error) => {
			if (isNew && isRefusedStart(error)) delete jobs[name];
			throw isReusedKey(error) ? sentOtherwise(run, sentRows) : error;
		});
		const started = startedJob(description, job.id);
		const ended = await waitForJob(run, item, started);
		const read = await readRowResults(run, plan, started, { count: sentIndexes.length, ended });
		for (const [sent, i] of sentIndexes.entries()) results.set(i, read[sent]!);
	}
	const importedRows = rows.map((planned, i): PlannedRow => {
		const result = results.get(i) ?? (planned.line === undefined ? undefined : { failure: overtaken });
		return result ? { ...planned, line: undefined, failure: undefined, ...result } : planned;
	});
	return [importedRows, job.id];
}

const overtaken = {
	code: 'overtaken',
	message:
		'An earlier attempt refused this row and continued with later rows, which may change the same record. Import it again from this file.',
};

/** @throws Error in the user's words if an earlier attempt sent other rows; NodeApiError if the service refuses the job */
async function startJob(run: NodeRun, { description, query }: ImportPlan, sentRows: PlannedRow[], numbers: number[]): Promise<string> {
	const lines = sentRows.flatMap(({ line }) => line ?? []);
	if (lines.length < sentRows.length) throw sentOtherwise(run, sentRows);
	// Releases the lines, so that memory holds them only once, in the request.
	for (const planned of sentRows) planned.line = undefined;
	return (await startBackgroundJob(run, description, { query, lines }, numbers)).id;
}

/** Whether the service has certainly not accepted a job. */
function isRefusedStart(error: Error): boolean {
	const status = error instanceof NodeApiError ? Number(error.httpCode) : 0;
	return status >= 400 && status < 500 && status !== 409 && (error as NodeApiError).context.mayBeDone !== true;
}

/** The error if an earlier attempt, whose response is unknown, sent other values under the same key. */
function sentOtherwise(run: NodeRun, sentRows: PlannedRow[]): Error {
	const again = hasWriteOncePer(run) ? 'with another value in Write Once Per' : 'in a new execution';
	return new Error(`Rows ${sentRows[0]!.row} to ${sentRows.at(-1)!.row} were already sent with different values: the file has changed, or a record that the rows refer to has. This time, none of them was written. Job → Get Many of the node CRM Platform Admin shows what the earlier job wrote. To write the other rows, import the file “failed” of the earlier import. Or import the whole file with Create or Update ${again}: Match On prevents duplicates.`);
}

type RowResult = Pick<PlannedRow, 'done' | 'failure'>;

/**
 * A row without a readable result stays unknown: as a refused row it would be imported again, and so written twice.
 *
 * @param count of the lines of the job
 * @param ended the finished job
 * @throws NodeApiError if the results cannot be read
 */
async function readRowResults(
	run: NodeRun,
	plan: ImportPlan,
	{ path }: StartedJob,
	{ count, ended }: { count: number; ended: IDataObject },
): Promise<RowResult[]> {
	const results: IDataObject[] = [];
	for await (const part of readJobResults(run, path, count, plan.description.withoutRecords)) {
		for (const { data, id, ...result } of part) results.push({ ...result, id: id ?? (data as IDataObject | null | undefined)?.id });
	}
	// Without a result for line 0, the service may count from 1, and each result would belong to another row.
	const startsAtZero = results.some(({ index }) => String(index) === '0');
	const items = Array.from({ length: count }, () => ({}));
	const answers = new Map(startsAtZero ? answersByItem({ results }, items, false) : []);
	const areFirst = answers.size === results.length && [...answers.keys()].every((item) => item < answers.size);
	const failure = withoutResult(ended, areFirst ? answers.size : undefined);
	return items.map((_, item) => {
		const answer = answers.get(item);
		return answer ? resultOf(plan, answer) : { failure };
	});
}

function resultOf(plan: ImportPlan, { status, id, error }: ItemAnswer): RowResult {
	if (attemptMayBeDone({ status, headers: {} })) {
		return { failure: unknownResult(`The CRM responded with ${status} for this row, so it may have been written.`) };
	}
	if (status >= 400) return { failure: refusalOf(plan, status, error) };
	if (status < 200 || status >= 300 || error) {
		return { failure: unknownResult('The result of this row could not be understood, so the row may have been written.') };
	}
	const { operation } = plan;
	const created = operation === 'create' || status === 201;
	const action = operation === 'delete' ? 'deleted' : created ? 'created' : 'updated';
	return { done: { action, id: id ?? '' } };
}

function refusalOf({ fields }: ImportPlan, status: number, error: unknown): RowFailure {
	const { message, code, details } = problemOfItem(status, error);
	const errors = (details.errors ?? []) as Reason[];
	const reasons = errors.map(({ pointer, detail = message }) => {
		if (pointer === undefined) return { message: detail };
		const field = pointerSteps(pointer).join('.');
		const label = fields.find(({ name }) => name === field)?.label ?? field;
		return { field, message: `${label}: ${detail}` };
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
 * Why rows have no result. Those of a job that ended early were not done if it counts as many lines as have a result, and these are
 * the first ones. Otherwise its count lags, or results are lost, and a row may have been written.
 *
 * @param results number of lines with a result; undefined if these are not the first lines
 */
function withoutResult(job: IDataObject, results: number | undefined): RowFailure {
	const { status } = job;
	const processed = wholeNumber(job.processed);
	const stated = endReason(job);
	const reason = stated === undefined ? '.' : `: ${stated}`;
	if (status !== 'completed' && results !== undefined && processed === results) {
		return { code: 'not_done', message: `The job ended before this row (${String(status)})${reason}` };
	}
	return unknownResult(`The CRM returned no result for this row, so it may have been written. The job is ${String(status)}${reason}`);
}

const unknownResult = (explanation: string): RowFailure => ({
	code: 'unknown',
	message: `${explanation} Look for the record before you import the row again.`,
	isUnknown: true,
});
