import type { IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';

import { chunks } from '../base/lists';
import { OutputFile } from '../files/binary';
import { csvHeader, csvRow } from '../files/csvWriter';
import { reportColumns } from '../files/fileRow';
import type { ImportPlan, PlannedRow } from './importPlan';

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

/** A line of a file: which one, and what it says of the row. */
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

/**
 * The files about the rows of an import: CSV for a CSV file, NDJSON for JSON. An import of such a file reads the user's
 * columns and ignores those of the report.
 */
export class RowReports {
	private readonly n8n: IExecuteFunctions;
	private readonly plan: ImportPlan;
	private readonly columns: string[] | undefined;
	private readonly files = new Map<ReportName, OutputFile>();

	/** @param columns of a CSV file */
	constructor(n8n: IExecuteFunctions, plan: ImportPlan, columns: string[] | undefined) {
		this.n8n = n8n;
		this.plan = plan;
		this.columns = columns;
	}

	/** Adds what is to be said about rows. @throws Error if n8n cannot store it */
	async add(rows: PlannedRow[]): Promise<void> {
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
		if (this.columns) return `${rowText}${csvRow(names.map((name) => values[name]))}`;
		const json = JSON.stringify(Object.fromEntries(names.map((name) => [reportColumns[name], values[name]])));
		return `${rowText === '{}' ? '{' : `${rowText.slice(0, -1)},`}${json.slice(1)}\n`;
	}

	private async fileOf(report: ReportName): Promise<OutputFile> {
		const { n8n, plan: { fileName }, columns, files } = this;
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
	async end(): Promise<IBinaryKeyData> {
		const { isPreview, writtenIds } = this.plan;
		const required: ReportName[] = isPreview || writtenIds ? [] : ['done', 'failed'];
		for (const report of required) await this.fileOf(report);
		const inOrder = Object.keys(columnsOfReports) as ReportName[];
		const ended = inOrder.map(async (report) => [report, await this.files.get(report)?.end()] as const);
		return Object.fromEntries((await Promise.all(ended)).filter(([, file]) => file !== undefined)) as IBinaryKeyData;
	}
}
