import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { outputFile, type OutputFile } from '../files/binary';
import { csvRow } from '../files/csvWriter';
import { reportColumns } from '../files/rows';

/** What was done for a row. */
export interface Done {
	action: 'created' | 'updated' | 'deleted';
	/** Id of the record. */
	id: string;
}

/** Why a row was not written. */
export interface Refusal {
	field?: string;
	code: string;
	message: string;
}

interface ReportedRow {
	row: number;
	/** Absent where the row cannot be read. */
	content?: IDataObject;
}

/** The files an import gives: its rows as they were, and what became of each. */
export interface ReportFiles {
	addDone(row: ReportedRow, done: Done): Promise<void>;
	addFailed(row: ReportedRow, refusal: Refusal): Promise<void>;
	/** The binary fields `done` and `failed`. */
	end(): Promise<IBinaryKeyData>;
}

const doneColumns = ['row', 'id', 'action'] as const;
const failedColumns = ['row', 'field', 'code', 'message'] as const;

/**
 * Begins the files of an import: CSV for a CSV file, NDJSON for JSON. An import that is given one of
 * them reads the columns of the user and none of the report's.
 *
 * @param columns of a CSV file
 */
export function reportFiles(n8n: IExecuteFunctions, columns: string[] | undefined): ReportFiles {
	const begin = (name: string): OutputFile =>
		columns
			? outputFile(n8n, { name: `${name}.csv`, type: 'text/csv' })
			: outputFile(n8n, { name: `${name}.ndjson`, type: 'application/x-ndjson' });
	const done = begin('done');
	const failed = begin('failed');

	const line = (content: IDataObject = {}, names: readonly (keyof typeof reportColumns)[], report: object): string => {
		const values = names.map((name): [string, unknown] => [
			reportColumns[name],
			(report as Record<string, unknown>)[name],
		]);
		if (!columns) return `${JSON.stringify({ ...content, ...Object.fromEntries(values) })}\n`;
		return csvRow([...columns.map((name) => content[name]), ...values.map(([, value]) => value)]);
	};
	const header = (names: readonly (keyof typeof reportColumns)[]): string =>
		columns ? csvRow([...columns, ...names.map((name) => reportColumns[name])]) : '';

	const begun = Promise.all([done.write(header(doneColumns)), failed.write(header(failedColumns))]);
	return {
		async addDone({ row, content }, result) {
			await begun;
			await done.write(line(content, doneColumns, { ...result, row }));
		},
		async addFailed({ row, content }, refusal) {
			await begun;
			await failed.write(line(content, failedColumns, { ...refusal, row }));
		},
		async end() {
			const [doneFile, failedFile] = await Promise.all([done.end(), failed.end()]);
			return { done: doneFile, failed: failedFile };
		},
	};
}
