import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import type { FileRecords } from '../files/rows';
import { UnreadableFile } from '../files/unreadableFile';
import type { Execution } from '../model';
import { importSlice } from './importSlice';
import { plannedSlices, type ImportPlan, type PlannedRow } from './importPlan';
import { reportFiles, rowText, type ReportFiles } from './importReport';

/** Maximum number of concurrent jobs. Rows that change records keep their order: the later of two wins. */
const jobsAtOnce = 3;

/**
 * Imports the rows of a file in jobs of a few thousand rows each, a few at a time, or previews the first rows
 * without writing anything.
 *
 * The key of a job contains its place in the file, so that an interrupted run finds the jobs it has started. A
 * file that cannot be read to its end is imported up to that point, and the result says so.
 *
 * @returns counts, and the files `done` and `failed`
 * @throws NodeApiError where a job cannot be started or read; Error in the user's words where nothing of the
 * file can be read
 */
export async function importRows(
	execution: Execution,
	plan: ImportPlan,
	file: FileRecords,
): Promise<{ json: IDataObject; files: IBinaryKeyData }> {
	const { n8n } = execution;
	const tell = (news: string): void => {
		n8n.logger.info(`${n8n.getNode().name}: ${counts.done} rows imported, ${counts.failed} refused${news}`);
	};
	const counts = { rows: 0, done: 0, created: 0, updated: 0, deleted: 0, failed: 0, unknown: 0 };
	const jobs: string[] = [];
	const samples: IDataObject[] = [];
	const reasons: IDataObject[] = [];
	let report: ReportFiles | undefined;
	let problem: string | undefined;
	let lastRow = 0;

	/** Writes the outcome of the rows of one job. */
	const record = async (rows: PlannedRow[]): Promise<void> => {
		report ??= reportFiles(n8n, file.columns);
		for (const planned of rows) {
			counts.rows += 1;
			lastRow = planned.row;
			if (planned.done) {
				counts.done += 1;
				counts[planned.done.action] += 1;
			} else if (planned.refusal) {
				const { field, message, isUnknown } = planned.refusal;
				counts[isUnknown ? 'unknown' : 'failed'] += 1;
				if (reasons.length < reasonsShown) reasons.push({ row: planned.row, ...(field !== undefined && { field }), message });
			} else if (samples.length < sampleSize && planned.line !== undefined) {
				samples.push(JSON.parse(planned.line) as IDataObject);
			}
		}
		await report.add(rows);
		tell('');
	};

	const { isPreview } = plan;
	const atOnce = plan.operation === 'create' ? jobsAtOnce : 1;
	const textOf = rowText(file.columns);
	const running: Array<Promise<PlannedRow[]>> = [];
	let fail: (error: unknown) => void = () => undefined;
	let hasFailed = false;
	/** Rejects with the first job that fails, whichever is waited for. */
	const failure = new Promise<never>((_, reject) => (fail = reject));
	failure.catch(() => (hasFailed = true));
	/** A job leaves the list once it has ended; until then, the response to its start is awaited. */
	const recordNext = async () => {
		const rows = await Promise.race([running[0]!, failure]);
		void running.shift();
		await record(rows);
	};
	try {
		let place = 0;
		try {
			for await (const planned of plannedSlices(execution, plan, file.rows, textOf)) {
				if (hasFailed) break;
				const imported = isPreview
					? Promise.resolve(planned)
					: importSlice(execution, plan, planned, { place, jobs, stopped: failure });
				imported.catch(fail);
				running.push(imported);
				place += 1;
				if (running.length >= atOnce) await recordNext();
			}
		} catch (error) {
			problem = problemOfFile(error, place);
		}
		while (running.length > 0) await recordNext();
		if (counts.rows === 0) throw new Error('The file has no records. Nothing was written.');
		if (problem !== undefined) problem = `The file was read up to row ${lastRow} only. ${problem}`;
		const files = await report!.end();
		if (isPreview) {
			execution.api.notices.add('Preview: nothing was written. Turn off Preview to import the file.');
			delete files.done;
			if (counts.failed === 0) delete files.failed;
		}
		noteOutcome(execution, counts, { unnamed: file.unnamed, problem, isPreview });
		noteMissingColumns(execution, plan);
		return { json: resultOf(plan, { counts, jobs, samples, reasons, problem }), files };
	} catch (error) {
		fail(error);
		// Starts nothing new and waits for no job, only for responses to requests in flight, so that the next
		// attempt finds their jobs.
		await Promise.allSettled(running);
		await report?.end().catch(() => undefined);
		// n8n shows nothing else of a canceled execution.
		if (jobs.length > 0) tell('; stopped. Running jobs will finish');
		if (counts.rows > 0) {
			execution.api.notices.add(
				`${counts.done} rows were written and ${counts.failed} refused before this. Retry the execution to continue: rows already written are not written again.`,
			);
		}
		throw error instanceof UnreadableFile ? new Error(error.message) : error;
	}
}

/**
 * Why a file was not read to its end.
 *
 * @param place number of the jobs that were begun
 * @throws the error itself where it is not about the file, or where nothing was read
 */
function problemOfFile(error: unknown, place: number): string {
	if (error instanceof UnreadableFile && place > 0) return error.message;
	throw error;
}

/** Number of mapped rows that a preview shows. */
const sampleSize = 5;

/** Number of rows whose reason is in the item, to save opening a file; the files have all of them. */
const reasonsShown = 3;

type Counts = Record<'rows' | 'done' | 'created' | 'updated' | 'deleted' | 'failed' | 'unknown', number>;

function resultOf(
	{ isPreview }: ImportPlan,
	{ counts, jobs, samples, reasons, problem }: { counts: Counts; jobs: string[]; problem: string | undefined } & Record<'samples' | 'reasons', IDataObject[]>,
): IDataObject {
	const { rows, failed } = counts;
	const ending = problem === undefined ? { complete: true } : { complete: false, problem };
	if (!isPreview) return { preview: false, ...ending, ...counts, reasons, jobs };
	return { preview: true, ...ending, rows, ready: rows - failed, failed, reasons, samples };
}

function noteMissingColumns({ api }: Execution, { unseen }: ImportPlan): void {
	if (!unseen?.size) return;
	const names = [...unseen].map((name) => `“${name}”`).join(', ');
	api.notices.add(`Not imported because no row has this column: ${names}. Correct the name in Columns, or in the file, and import it again with Create or Update.`);
}

function noteOutcome(
	{ api }: Execution,
	{ rows, failed, unknown }: Counts,
	{ unnamed, problem, isPreview }: { unnamed: Set<number>; problem: string | undefined; isPreview: boolean },
): void {
	if (failed > 0) {
		api.notices.add(
			isPreview
				? `${failed} of ${rows} rows would be refused. The file “failed” has them with the reasons.`
				: `${failed} of ${rows} rows were refused. The file “failed” has them with the reasons: correct it and import it again.`,
		);
	}
	if (unknown > 0) {
		api.notices.add(
			`For ${unknown} of ${rows} rows, the service does not report whether they were written. The file “unknown” has them: look for their records before you import any of them again.`,
		);
	}
	if (unnamed.size > 0) {
		const columns = [...unnamed].sort((a, b) => a - b).join(', ');
		api.notices.add(`Not imported because the header does not name column ${columns}. Name it in the first row.`);
	}
	if (problem !== undefined) api.notices.add(problem);
}
