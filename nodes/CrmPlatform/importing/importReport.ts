import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { chunks } from '../base/lists';
import { withoutValues } from '../failure';
import { outputFile, type OutputFile } from '../files/binary';
import { csvBeginning, csvRow } from '../files/csvWriter';
import { reportColumns, type FileRecords } from '../files/rows';
import type { NodeRun } from '../model';
import { inFile } from './importColumns';
import type { ImportPlan, PlannedRow, RowKeys } from './importPlan';
import { hasWriteOncePer } from '../writing/sendAlone';

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

/** The outcome of the rows of a file so far. */
export class ImportProgress {
	/** Ids of the jobs, in the order in which they became known. */
	readonly jobs: string[] = [];
	private readonly execution: NodeRun;
	private readonly plan: ImportPlan;
	private readonly file: FileRecords;
	private readonly counts: Counts = { rows: 0, done: 0, created: 0, updated: 0, deleted: 0, failed: 0, unknown: 0, left_out: 0 };
	private readonly samples: IDataObject[] = [];
	private readonly reasons = new Map<string, CountedReason>();
	private report: ReportFiles | undefined;
	private lastRow = 0;

	constructor(execution: NodeRun, plan: ImportPlan, file: FileRecords) {
		this.execution = execution;
		this.plan = plan;
		this.file = file;
	}

	/** Writes the outcome of the rows of one job. */
	async record(rows: PlannedRow[]): Promise<void> {
		this.report ??= reportFiles(this.execution.n8n, this.file.columns, this.plan.fileName ?? this.plan.name);
		for (const planned of rows) this.count(planned);
		await this.report.add(rows);
		this.plan.noteOutcomes?.(rows);
		this.log('');
	}

	private count({ row, done, refusal, line, leftOut }: PlannedRow): void {
		const { counts, samples } = this;
		counts.rows += 1;
		this.lastRow = row;
		if (done) {
			counts.done += 1;
			counts[done.action] += 1;
		} else if (refusal) {
			counts[refusal.isUnknown ? 'unknown' : 'failed'] += 1;
			for (const reason of refusal.reasons ?? [refusal]) this.countReason(row, reason);
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

	private log(ending: string): void {
		const { n8n } = this.execution;
		n8n.logger.info(`${n8n.getNode().name}: ${this.counts.done} rows imported, ${this.counts.failed} refused${ending}`);
	}

	async end({ notice, repeated }: RowKeys): Promise<{ json: IDataObject; files: IBinaryKeyData }> {
		const { execution, plan, file, counts } = this;
		if (counts.rows === 0 && !plan.isLinking) throw new Error('The file has no records. Nothing was written.');
		const problem = file.problem === undefined ? undefined : `The file was read up to row ${this.lastRow} only. ${file.problem}`;
		const files = (await this.report?.end()) ?? {};
		if (plan.isPreview) delete files.done;
		if (plan.isPreview && counts.failed === 0) delete files.failed;
		const { notices } = execution.api;
		const earlier = [...notices];
		notices.clear();
		// What n8n shows first has to say what has happened.
		if (plan.isPreview) notices.add('Preview: nothing was written. Turn off Preview to import.');
		const ofFile = (texts: string[]): string[] => (plan.isLinking ? [] : texts.map((text) => inFile(plan, text)));
		const later = [...(plan.isPreview ? plan.missing.advice : []), ...outcomeLines(counts, file, plan), ...(problem === undefined ? [] : [problem])];
		for (const text of [...ofFile(refusedRows(plan, counts)), ...earlier, ...ofFile(later)]) notices.add(text);
		if (notice !== undefined) notices.add(inFile(plan, notice));
		return { json: { ...this.result(problem), repeated, created_besides: plan.missing.summary }, files };
	}

	private result(problem: string | undefined): IDataObject {
		const { counts, jobs, samples } = this;
		const reasons = [...this.reasons.values()].sort((a, b) => b.rows - a.rows || a.row - b.row).slice(0, reasonsShown);
		const { rows, failed, left_out } = counts;
		const ending = problem === undefined ? { complete: true } : { complete: false, problem };
		if (!this.plan.isPreview) return { preview: false, ...ending, ...counts, reasons, jobs, undo: undoOf(this.execution) };
		return { preview: true, ...ending, rows, ready: rows - failed, failed, left_out, reasons, columns: this.plan.columns.table, samples };
	}

	/** Reports how far a failed import got. */
	async abandon(): Promise<void> {
		const { counts, jobs } = this;
		await this.report?.end().catch(() => undefined);
		// The log is all that n8n shows of a canceled execution.
		if (jobs.length > 0) this.log('; stopped. Running jobs will finish');
		if (counts.rows > 0) {
			this.execution.api.notices.add(
				`${counts.done} rows were written and ${counts.failed} refused before this. Retry the execution to continue: rows already written are not written again.`,
			);
		}
	}
}

/** How to take the import back, in the user's words. A write that executions share is nobody's. */
const undoOf = (execution: NodeRun): string =>
	hasWriteOncePer(execution) ? 'Change → Undo → A Workflow, Since the import' : `Change → Undo → An Execution → ${execution.identity.execution}`;

function refusedRows({ isPreview }: ImportPlan, { rows, failed }: Counts): string[] {
	const are = isPreview ? 'would be refused. The file “failed” has them with the reasons.' : 'were refused. The file “failed” has them with the reasons: correct it and import it again.';
	return failed === 0 ? [] : [`${failed} of ${rows} rows ${are}`];
}

function outcomeLines({ rows, unknown, left_out: leftOut }: Counts, { title, unnamed }: FileRecords, { isPreview }: ImportPlan): string[] {
	const columns = [...unnamed].sort((a, b) => a - b).join(', ');
	return [
		leftOut > 0 && `${leftOut} values ${isPreview ? 'would be' : 'were'} left out because their fields cannot take them. The file “left_out” has them with the reasons.`,
		unknown > 0 && `For ${unknown} of ${rows} rows, the CRM does not report whether they were written. The file “unknown” has them: look for their records before you import any of them again.`,
		title !== undefined && `“${title}” in row 1 is a title above the table: row 2 names the columns.`,
		columns !== '' && `Not imported because the header does not name column ${columns}. Name it in the first row.`,
	].filter((text) => text !== false);
}

/** Number of rows written at once: a promise for each row takes more memory than its line. */
const rowsAtOnce = 100;

/** The files that an import returns: its rows with their outcomes. */
interface ReportFiles {
	/** Adds each row to the file of its outcome: done, refused or unknown; a row without an outcome is left out. */
	add(rows: PlannedRow[]): Promise<void>;
	/** The binary fields `done` and `failed`, and `unknown` and `left_out` if there are such rows. */
	end(): Promise<IBinaryKeyData>;
}

/**
 * Begins the files of an import: CSV for a CSV file, NDJSON for JSON. An import of such a file reads the user's columns
 * and ignores those of the report.
 *
 * @param columns of a CSV file
 * @param of the name of the file
 */
function reportFiles(n8n: IExecuteFunctions, columns: string[] | undefined, of = ''): ReportFiles {
	const prefix = of && `${of.replace(/\.\w+(\.gz)?$/i, '')}.`;
	const format = columns ? { ending: 'csv', type: 'text/csv' } : { ending: 'ndjson', type: 'application/x-ndjson' };
	type Column = keyof typeof reportColumns;
	type Values = Partial<Record<Column, unknown>>;
	const refused = ({ row, refusal }: PlannedRow): Values[] => [{ row, field: refusal?.field, code: refusal?.code, message: refusal?.message, text: refusal?.text }];
	const kinds: Array<{ name: string; names: Column[]; valuesOf: (row: PlannedRow) => Values[]; file?: OutputFile }> = [
		{ name: 'done', names: ['row', 'id', 'action'], valuesOf: ({ row, done }) => (done ? [{ row, ...done }] : []) },
		{ name: 'failed', names: failedColumns, valuesOf: (row) => (row.refusal && !row.refusal.isUnknown ? refused(row) : []) },
		{ name: 'unknown', names: failedColumns, valuesOf: (row) => (row.refusal?.isUnknown ? refused(row) : []) },
		{
			name: 'left_out',
			names: ['row', 'field', 'value', 'message'],
			valuesOf: ({ row, refusal, leftOut = [] }) => (refusal ? [] : leftOut.map((value) => ({ row, ...value }))),
		},
	];
	const line = (text: string, names: Column[], values: Values): string => {
		if (columns) return `${text}${csvRow(names.map((name) => values[name]))}`;
		const reportJson = JSON.stringify(Object.fromEntries(names.map((name) => [reportColumns[name], values[name]])));
		return `${text === '{}' ? '{' : `${text.slice(0, -1)},`}${reportJson.slice(1)}\n`;
	};
	const write = async (kind: (typeof kinds)[number], text: string): Promise<void> => {
		if (!kind.file) {
			kind.file = outputFile(n8n, { name: `${prefix}${kind.name}.${format.ending}`, type: format.type });
			if (columns) await kind.file.write(csvBeginning([...columns, ...kind.names.map((name) => reportColumns[name])]));
		}
		if (text !== '') await kind.file.write(text);
	};
	return {
		async add(rows) {
			for (const some of chunks(rows, rowsAtOnce)) {
				for (const kind of kinds) {
					const text = some.flatMap((row) => kind.valuesOf(row).map((values) => line(row.text, kind.names, values))).join('');
					if (text !== '') await write(kind, text);
				}
			}
		},
		async end() {
			for (const kind of kinds.slice(0, 2)) await write(kind, '');
			const ended = kinds.map(async ({ name, file }) => (file ? [[name, await file.end()] as const] : []));
			return Object.fromEntries((await Promise.all(ended)).flat());
		},
	};
}

const failedColumns: Array<keyof typeof reportColumns> = ['row', 'field', 'code', 'message', 'text'];
