import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { problemOfItem } from '../api/http/problem';
import type { Query } from '../api/http/path';
import type { Field } from '../api/openapi/fields';
import type { JobDescription } from '../api/openapi/jobs';
import type { FileRow } from '../files/csvReader';
import type { FileRecords } from '../files/rows';
import { valueAt } from '../mapping/expressions/template';
import type { Execution } from '../model';
import { readJobResults, startBackgroundJob, waitForJob, type StartedJob } from './backgroundJob';
import { reportFiles, type Done, type Refusal, type ReportFiles } from './importReport';
import { readJobLines } from './jobLines';

/** What is done with the rows of a file. */
export interface ImportPlan {
	/** Index of the input item that has the file. */
	item: number;
	operation: 'create' | 'update' | 'upsert' | 'delete';
	description: JobDescription;
	/** The fields the operation takes. */
	fields: Field[];
	/** Of the records, without version prefix, the ids of its parents filled in. */
	path: `/${string}`;
	/** The query that starts a job. */
	query: Query;
	/** Whether an empty cell clears the field. */
	clearsEmpty: boolean;
	/** The fields of the columns; automatic where absent. */
	columns?: ReadonlyMap<string, string>;
	/** Read that many rows and write nothing. */
	trialRows?: number;
}

/** Rows of one job: what is held in memory, and what a service that stops has to repeat at most. */
const rowsPerJob = 5_000;
/** Characters of the rows of one job; services take some 50 MB. */
const charactersPerJob = 4 * 1024 * 1024;
/** Bytes of one line that services take. */
const longestLine = 1024 * 1024;

/** Jobs at the same time. Rows that change records keep their order: of two, the later has the last word. */
const jobsAtOnce = 3;

/** A row of the file, and what is to be done with it. */
interface PlannedRow {
	row: number;
	content?: IDataObject;
	/** The line of the job; absent where the row cannot be read. */
	line?: IDataObject;
	refusal?: Refusal;
}

/**
 * Imports the rows of a file in jobs of a few thousand rows each, a few at a time, or tries the first
 * rows without writing anything.
 *
 * The key of a job names its place in the file, so that a run that was cut short finds the jobs it has
 * started. A file that cannot be read to its end is imported up to there, and the result says so.
 *
 * @returns counts, and the files `done` and `failed`
 * @throws NodeApiError where a job cannot be started or read; Error in the user's words where nothing
 * of the file can be read
 */
export async function importRows(
	job: Execution,
	plan: ImportPlan,
	file: FileRecords,
): Promise<{ json: IDataObject; files: IBinaryKeyData }> {
	const counts = { rows: 0, done: 0, created: 0, updated: 0, deleted: 0, failed: 0 };
	const jobs: string[] = [];
	const samples: IDataObject[] = [];
	let report: ReportFiles | undefined;
	let problem: string | undefined;

	/** Writes what became of the rows of one job. */
	const record = async ({ rows, results }: Imported): Promise<void> => {
		report ??= reportFiles(job.n8n, file.columns);
		for (const planned of rows) {
			counts.rows += 1;
			const done = results.get(planned);
			if (done) {
				counts.done += 1;
				counts[done.action] += 1;
				await report.addDone(planned, done);
			} else if (planned.refusal) {
				counts.failed += 1;
				await report.addFailed(planned, planned.refusal);
			} else if (samples.length < sampleSize && planned.line) {
				samples.push(planned.line);
			}
		}
		const { n8n } = job;
		n8n.logger.info(`${n8n.getNode().name}: ${counts.done} rows imported, ${counts.failed} refused`);
	};

	const isTrial = plan.trialRows !== undefined;
	const atOnce = plan.operation === 'create' ? jobsAtOnce : 1;
	const running: Array<Promise<Imported>> = [];
	try {
		let place = 0;
		try {
			for await (const rows of slicesOf(file.rows, plan.trialRows)) {
				const planned = await planRows(job, plan, rows);
				const imported = isTrial
					? Promise.resolve({ rows: planned, results: new Map<PlannedRow, Done>() })
					: importSlice(job, plan, planned, { place, jobs });
				imported.catch(() => undefined);
				running.push(imported);
				place += 1;
				if (running.length >= atOnce) await record(await running.shift()!);
			}
		} catch (error) {
			if (!(error instanceof UnreadableFile) || place === 0) throw error;
			problem = error.message;
		}
		for (let next = running.shift(); next; next = running.shift()) await record(await next);
		if (counts.rows === 0) throw new Error('The file has no records. Nothing was written.');
		const files = await report!.end();
		tellRefusals(job, counts, problem);
		return { json: resultOf(plan, { counts, jobs, samples, problem }), files };
	} catch (error) {
		// Nothing new is started; what is under way ends first, so that a next attempt finds it.
		await Promise.allSettled(running);
		await report?.end().catch(() => undefined);
		if (counts.rows > 0) {
			job.api.notices.add(
				`${counts.done} rows were done and ${counts.failed} refused before this. Retry the execution to go on: rows that are done are not written again.`,
			);
		}
		throw error instanceof UnreadableFile ? new Error(error.message) : error;
	}
}

/** Mapped rows that a trial shows. */
const sampleSize = 5;

type Counts = Record<'rows' | 'done' | 'created' | 'updated' | 'deleted' | 'failed', number>;

function resultOf(
	{ trialRows }: ImportPlan,
	{ counts, jobs, samples, problem }: { counts: Counts; jobs: string[]; samples: IDataObject[]; problem: string | undefined },
): IDataObject {
	const { rows, failed } = counts;
	const ending = problem === undefined ? { complete: true } : { complete: false, problem };
	if (trialRows === undefined) return { trial: false, ...ending, ...counts, jobs };
	return { trial: true, ...ending, rows, ready: rows - failed, failed, samples };
}

function tellRefusals({ api }: Execution, { rows, failed }: Counts, problem: string | undefined): void {
	if (failed > 0) {
		api.notices.add(
			`${failed} of ${rows} rows were refused. The file ‘failed’ has them with the reasons: correct it and import it again.`,
		);
	}
	if (problem !== undefined) api.notices.add(`The file was imported up to row ${rows + 1} only. ${problem}`);
}

/** Thrown by the reader of a file. */
class UnreadableFile extends Error {}

/**
 * The rows in slices for one job each. What was read before the file proved unreadable comes first.
 *
 * @throws UnreadableFile
 */
async function* slicesOf(
	rows: AsyncIterable<FileRow<IDataObject>>,
	limit = Infinity,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let slice: Array<FileRow<IDataObject>> = [];
	let characters = 0;
	let count = 0;
	let failure: UnreadableFile | undefined;
	const iterator = rows[Symbol.asyncIterator]();
	while (count < limit) {
		const next = await iterator.next().catch((error: Error) => {
			failure = new UnreadableFile(error.message, { cause: error });
			return undefined;
		});
		if (!next || next.done) break;
		count += 1;
		slice.push(next.value);
		characters += sizeOf(next.value.content);
		if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
		yield slice;
		slice = [];
		characters = 0;
	}
	if (slice.length > 0) yield slice;
	if (failure) throw failure;
}

function sizeOf(content: IDataObject = {}): number {
	let size = 0;
	for (const [name, value] of Object.entries(content)) {
		size += name.length + (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).length;
	}
	return size;
}

/** Reads the lines of a job; a row that cannot be read is refused, and the others are not. */
async function planRows(
	job: Execution,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
): Promise<PlannedRow[]> {
	const readable = rows.flatMap(({ content }) => (content ? [renamed(content, plan.columns)] : []));
	const items = readable.map((json) => ({ json }));
	// The mapping reads the rows as if they were the node's input.
	const n8n = Object.create(job.n8n, { getInputData: { value: () => items } }) as IExecuteFunctions;
	const read = await readJobLines({ ...job, n8n }, plan.path, plan.operation, {
		mode: 'automatic',
		objectOf: (item) => readable[item] ?? {},
		emptyCells: plan.clearsEmpty ? 'clear' : 'leave',
		linked: [],
	});
	let index = 0;
	return rows.map(({ row, content, problem }) => {
		if (problem !== undefined) return { row, refusal: { code: 'unreadable_row', message: problem } };
		try {
			const line = read(index++);
			return { row, content, ...checked(line, plan) };
		} catch (error) {
			return { row, content, refusal: { code: 'invalid_value', message: (error as Error).message } };
		}
	});
}

function renamed(content: IDataObject, columns: ReadonlyMap<string, string> | undefined): IDataObject {
	if (!columns) return content;
	const entries = [...columns].flatMap(([column, field]) =>
		Object.hasOwn(content, column) ? [[field, content[column]]] : [],
	);
	return Object.fromEntries(entries) as IDataObject;
}

/** What would be refused by any service: a line that is too long or, when creating, lacks a value. */
function checked(line: IDataObject, { operation, fields }: ImportPlan): Pick<PlannedRow, 'line' | 'refusal'> {
	const missing =
		operation === 'create' &&
		fields.find(({ required, path }) => {
			const value = valueAt(line, path as [string, ...string[]])[0];
			return required && path.length === 1 && (value === undefined || value === null);
		});
	if (missing) {
		const message = `${missing.label}: it is empty, and a new record needs it.`;
		return { refusal: { field: missing.name, code: 'required', message } };
	}
	if (Buffer.byteLength(JSON.stringify(line)) <= longestLine) return { line };
	return { refusal: { code: 'too_large', message: 'The record is larger than 1 MB.' } };
}

/** The rows of one job, and what was done for those that were not refused. */
interface Imported {
	rows: PlannedRow[];
	results: Map<PlannedRow, Done>;
}

async function importSlice(
	job: Execution,
	plan: ImportPlan,
	rows: PlannedRow[],
	{ place, jobs }: { place: number; jobs: string[] },
): Promise<Imported> {
	const results = new Map<PlannedRow, Done>();
	const sent = rows.filter(({ line }) => line !== undefined);
	if (sent.length === 0) return { rows, results };
	const lines = sent.map(({ line }) => line!);
	const key = [plan.item, place];
	const started = await startBackgroundJob(job, plan.description, { query: plan.query, lines }, key);
	jobs.push(started.id);
	const ended = await waitForJob(job, plan.item, started.path);
	await readResults(job, started, { plan, sent, results });
	for (const planned of sent) {
		if (!results.has(planned)) planned.refusal ??= notDone(ended);
	}
	return { rows, results };
}

async function readResults(
	job: Execution,
	{ path }: StartedJob,
	{ plan, sent, results }: { plan: ImportPlan; sent: PlannedRow[]; results: Map<PlannedRow, Done> },
): Promise<void> {
	for await (const part of readJobResults(job, path)) {
		for (const { index, status, id, data, error } of part) {
			const planned = sent[Number(index)];
			if (!planned) throw new Error(`The service gave a result for line ${String(index)} of ${sent.length}.`);
			if (Number(status) >= 400) {
				planned.refusal = refusalOf(Number(status), error);
			} else {
				const created = plan.operation === 'create' || Number(status) === 201;
				const action = plan.operation === 'delete' ? 'deleted' : created ? 'created' : 'updated';
				results.set(planned, { action, id: String(id ?? (data as IDataObject | undefined)?.id ?? '') });
			}
		}
	}
}

function refusalOf(status: number, error: unknown): Refusal {
	const { message, code, details } = problemOfItem(status, error);
	const [first] = (Array.isArray(details.errors) ? details.errors : []) as Array<IDataObject | undefined>;
	const field = typeof first?.pointer === 'string' ? first.pointer.replace(/^#?\//, '').replaceAll('/', '.') : undefined;
	return { code: String(first?.code ?? code ?? status), message, ...(field !== undefined && { field }) };
}

/** A job that was cancelled, or failed as a whole. */
function notDone({ status, error }: IDataObject): Refusal {
	const reason = typeof error === 'string' && error !== '' ? `: ${error}` : '.';
	return { code: 'not_done', message: `The job ended before this row (${String(status)})${reason}` };
}
