import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';

import { chunks } from '../base/lists';
import { withoutValues } from '../failure';
import { OutputFile } from '../files/binary';
import { csvHeader, csvRow } from '../files/csvWriter';
import { reportColumns } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import type { NodeRun } from '../model';
import { hasWriteOncePer } from '../writing/sendAlone';
import { shownColumns } from './importColumns';
import { inFile, type ImportPlan, type PlannedRow } from './importPlan';
import type { RowKeys } from './rowProblems';

/** Number of mapped rows that a preview shows. */
const sampleSize = 5;

/** Number of reasons in the output item, which saves opening a file; the files have all of them. */
const reasonsShown = 20;
/** Maximum number of reasons that are told apart. */
const maxReasons = 1_000;

type Counts = Record<'rows' | 'done' | 'created' | 'updated' | 'deleted' | 'failed' | 'unknown' | 'left_out', number>;

/** Why rows were refused: how many, the first of them, and its message. */
interface CountedReason extends IDataObject {
	rows: number;
	row: number;
	message: string;
}

export interface ImportResult {
	/** Counts, and for a preview its columns and samples. */
	json: IDataObject;
	/** `done` and `failed`, and others if there are such rows; of late links, `unlinked` if any is not written. */
	files: IBinaryKeyData;
	/** If the file has late links: the ID of the record of each row; in a preview, the number of each row that is ready. */
	ids: ReadonlyMap<number, string>;
}

/** The results of rows so far, and the files about them: CSV for CSV, NDJSON for JSON. An import of these ignores the columns of the report. */
export class ImportProgress {
	private readonly run: NodeRun;
	private readonly plan: ImportPlan;
	private readonly file: FileRecords;
	private readonly files = new Map<ReportName, OutputFile>();
	private readonly jobs: string[] = [];
	private readonly counts: Counts = { rows: 0, done: 0, created: 0, updated: 0, deleted: 0, failed: 0, unknown: 0, left_out: 0 };
	private readonly samples: IDataObject[] = [];
	private readonly ids = new Map<number, string>();
	private readonly reasons = new Map<string, CountedReason>();

	constructor(run: NodeRun, plan: ImportPlan, file: FileRecords) {
		this.run = run;
		this.plan = plan;
		this.file = file;
	}

	/** Writes the results of rows, and notes the ID of their job. */
	async add(rows: PlannedRow[], job?: string): Promise<void> {
		if (job !== undefined) this.jobs.push(job);
		for (const planned of rows) this.count(planned);
		await this.addLines(rows);
	}

	private count({ row, done, failure, line, leftOut }: PlannedRow): void {
		const { counts, samples, ids, plan } = this;
		counts.rows += 1;
		const id = done?.id ?? (line === undefined ? undefined : String(row));
		if (id !== undefined && plan.lateLinks.length > 0) ids.set(row, id);
		if (done) {
			counts.done += 1;
			counts[done.action] += 1;
		} else if (failure) {
			counts[failure.isUnknown ? 'unknown' : 'failed'] += 1;
			for (const reason of failure.reasons ?? [failure]) this.countReason(row, reason);
			return;
		} else if (samples.length < sampleSize && line !== undefined) {
			samples.push(JSON.parse(line) as IDataObject);
		}
		counts.left_out += leftOut?.length ?? 0;
	}

	/** Reasons that differ only in the values they quote are one. */
	private countReason(row: number, { field, message }: { field?: string; message: string }): void {
		const key = `${field} ${withoutValues(message)}`;
		const counted = this.reasons.get(key);
		if (counted) counted.rows += 1;
		else if (this.reasons.size < maxReasons) this.reasons.set(key, { rows: 1, row, ...(field !== undefined && { field }), message });
	}

	async end({ notice, repeated }: RowKeys): Promise<ImportResult> {
		const { run: { api: { notices } }, plan } = this;
		const files = await this.endFiles();
		const [refused, ...others] = (plan.writtenIds ? [undefined, ...this.hintsOfLinks()] : this.hints(notice)).map((text) => text && inFile(plan, text));
		const preview = plan.isPreview && 'Preview: nothing was written. Turn off Preview to import.';
		const texts = [preview, refused, ...notices, ...others];
		// What n8n shows first has to say what has happened.
		notices.clear();
		for (const text of texts) if (text) notices.add(text);
		return { json: { ...this.result(), repeated, created_besides: plan.creator.summary }, files, ids: this.ids };
	}

	/** What to know of the rows: first, how many were refused. @param ofKeys of rows that overwrite each other */
	private hints(ofKeys: string | undefined): Array<string | false | undefined> {
		const { plan: { isPreview, creator }, file: { title }, counts: { rows, failed, unknown, left_out: leftOut } } = this;
		const refused = isPreview ? 'would be refused. The file “failed” has them with the reasons.' : 'were refused. The file “failed” has them with the reasons: correct it and import it again.';
		return [
			failed > 0 && `${failed} of ${rows} rows ${refused}`,
			...(isPreview ? creator.advice : []),
			leftOut > 0 && `${leftOut} values ${isPreview ? 'would be' : 'were'} left out because their fields cannot take them. The file “left_out” has them with the reasons.`,
			unknown > 0 && `For ${unknown} of ${rows} rows, the CRM does not report whether they were written. The file “unknown” has them: look for their records before you import any of them again.`,
			title !== undefined && `“${title}” in row 1 is a title above the table: row 2 names the columns.`,
			ofKeys,
		];
	}

	private hintsOfLinks(): Array<string | false> {
		const { failed, left_out: leftOut, unknown } = this.counts;
		const links = 'links to records of the same files';
		return [
			failed + leftOut > 0 && `${failed + leftOut} ${links} were not written. The file “unlinked” has them with the reasons.`,
			unknown > 0 && `For ${unknown} rows with ${links}, the CRM does not report whether these were written. The file “unlinked” has them.`,
		];
	}

	private result(): IDataObject {
		const { counts, jobs, samples, plan } = this;
		const reasons = [...this.reasons.values()].sort((a, b) => b.rows - a.rows || a.row - b.row).slice(0, reasonsShown);
		const { rows, failed, left_out } = counts;
		if (!plan.isPreview) return { preview: false, ...counts, reasons, jobs, undo: undoOf(this.run) };
		return { preview: true, rows, ready: rows - failed, failed, left_out, reasons, columns: shownColumns(plan.columns.all, plan.clearsEmpty), samples };
	}

	/** Reports how far a failed import got. */
	async abandon(): Promise<void> {
		const { done, failed, rows } = this.counts;
		if (rows === 0) return;
		await this.endFiles().catch(() => undefined);
		this.run.api.notices.add(
			`${done} rows were written and ${failed} refused before this. Retry the execution to continue: rows already written are not written again.`,
		);
	}

	/** Adds what is to be said about rows. @throws Error if n8n cannot store it */
	private async addLines(rows: PlannedRow[]): Promise<void> {
		for (const some of chunks(rows, rowsAtOnce)) {
			const texts = new Map<ReportName, string>();
			for (const planned of some) {
				for (const line of linesAbout(this.plan, planned)) texts.set(line[0], (texts.get(line[0]) ?? '') + this.textOf(line, planned.text));
			}
			for (const [report, text] of texts) await (await this.fileOf(report)).write(text);
		}
	}

	/** @param rowText the user's columns, as `PlannedRow` has them */
	private textOf([report, values]: ReportLine, rowText: string): string {
		const names = columnsOfReports[report];
		if (this.file.columns) return `${rowText}${csvRow(names.map((name) => values[name]))}`;
		const json = JSON.stringify(Object.fromEntries(names.map((name) => [reportColumns[name], values[name]])));
		return `${rowText === '{}' ? '{' : `${rowText.slice(0, -1)},`}${json.slice(1)}\n`;
	}

	private async fileOf(report: ReportName): Promise<OutputFile> {
		const { run: { n8n }, plan: { fileName }, file: { columns }, files } = this;
		const existing = files.get(report);
		if (existing) return existing;
		const prefix = fileName === undefined ? '' : `${fileName.replace(/\.\w+(\.gz)?$/i, '')}.`;
		const format = columns ? { ending: 'csv', type: 'text/csv' } : { ending: 'ndjson', type: 'application/x-ndjson' };
		const file = new OutputFile(n8n, { name: `${prefix}${report}.${format.ending}`, type: format.type });
		files.set(report, file);
		if (columns) await file.write(csvHeader([...columns, ...columnsOfReports[report].map((name) => reportColumns[name])]));
		return file;
	}

	/** The files, by their names as binary fields. An import that writes records has `done` and `failed` even without rows. */
	private async endFiles(): Promise<IBinaryKeyData> {
		const { isPreview, writtenIds } = this.plan;
		const required: ReportName[] = isPreview || writtenIds ? [] : ['done', 'failed'];
		for (const report of required) await this.fileOf(report);
		const inOrder = Object.keys(columnsOfReports) as ReportName[];
		const ended = inOrder.map(async (report) => [report, await this.files.get(report)?.end()] as const);
		return Object.fromEntries((await Promise.all(ended)).filter(([, file]) => file !== undefined)) as IBinaryKeyData;
	}
}

/** How to take the import back, in the user's words. A write that executions share is nobody's. */
const undoOf = (run: NodeRun): string =>
	hasWriteOncePer(run) ? 'Change → Undo → A Workflow, Since the import' : `Change → Undo → An Execution → ${run.identity.execution}`;

type ReportColumn = keyof typeof reportColumns;
type ReportName = 'done' | 'failed' | 'unknown' | 'left_out' | 'unlinked';

/** The columns that each file has beside the user's. */
const columnsOfReports: Record<ReportName, ReportColumn[]> = {
	done: ['row', 'id', 'action'],
	failed: ['row', 'field', 'code', 'message', 'text'],
	unknown: ['row', 'field', 'code', 'message', 'text'],
	left_out: ['row', 'field', 'value', 'message'],
	unlinked: ['row', 'id', 'field', 'code', 'value', 'message'],
};

type ReportLine = [report: ReportName, values: Partial<Record<ReportColumn, unknown>>];

/** The lines about a row: done, refused or unknown, and a line for each value left out. A row without a result has none. */
function linesAbout({ writtenIds, isPreview }: ImportPlan, { row, done, failure, leftOut = [] }: PlannedRow): ReportLine[] {
	if (writtenIds) {
		const id = isPreview ? undefined : writtenIds.get(row);
		return (failure ? [failure] : leftOut).map((reason) => ['unlinked', { ...reason, row, id }]);
	}
	if (failure) return [[failure.isUnknown ? 'unknown' : 'failed', { ...failure, row }]];
	const lines: ReportLine[] = leftOut.map((reason) => ['left_out', { ...reason, row }]);
	return done ? [['done', { ...done, row }], ...lines] : lines;
}

/** Number of rows written at once: a promise for each row takes more memory than its line. */
const rowsAtOnce = 100;
