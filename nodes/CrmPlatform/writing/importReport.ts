import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { outputFile, type OutputFile } from '../files/binary';
import { csvBeginning, csvCells, csvRow } from '../files/csvWriter';
import { reportColumns } from '../files/rows';
import type { RefusedValue } from '../mapping/prepareValues';

/** The outcome of a row that was written. */
interface Done {
	action: 'created' | 'updated' | 'deleted';
	/** Id of the record. */
	id: string;
}

/** Why a row was not written. */
export interface Refusal {
	field?: string;
	code: string;
	message: string;
	/** Each of several reasons. */
	reasons?: Array<{ field?: string; message: string }>;
	/** The text of a row that cannot be read. */
	text?: string;
	/** Whether the row may have been written anyway. */
	isUnknown?: true;
}

/** A row and its outcome. */
export interface ReportedRow {
	row: number;
	/** The result of `rowText`. */
	text: string;
	done: Done | undefined;
	refusal: Refusal | undefined;
	/** The values that the row is written without. */
	leftOut?: RefusedValue[];
}

/** Number of rows written at once: a promise for each row takes more memory than its line. */
const rowsAtOnce = 100;

/**
 * Returns the function for the text of a row's cells or members; an unreadable row has no content.
 *
 * @param columns of a CSV file
 */
export const rowText =
	(columns: string[] | undefined) =>
	(content: IDataObject = {}): string =>
		// A delimiter follows each cell.
		columns ? csvCells([...columns.map((name) => content[name]), null]) : JSON.stringify(content);

/** The files that an import returns: its rows with their outcomes. */
export interface ReportFiles {
	/** Adds each row to the file of its outcome: done, refused or unknown; a row without an outcome is left out. */
	add(rows: ReportedRow[]): Promise<void>;
	/** The binary fields `done` and `failed`, and `unknown` and `left_out` if there are such rows. */
	end(): Promise<IBinaryKeyData>;
}

const doneColumns = ['row', 'id', 'action'] as const;
const failedColumns = ['row', 'field', 'code', 'message', 'text'] as const;
const leftOutColumns = ['row', 'field', 'value', 'message'] as const;

/**
 * Begins the files of an import: CSV for a CSV file, NDJSON for JSON. An import of such a file reads the user's columns
 * and ignores those of the report.
 *
 * @param columns of a CSV file
 * @param of the name of the file
 */
export function reportFiles(n8n: IExecuteFunctions, columns: string[] | undefined, of = ''): ReportFiles {
	const prefix = of && `${of.replace(/\.\w+(\.gz)?$/i, '')}.`;
	const begin = (name: string): OutputFile =>
		columns
			? outputFile(n8n, { name: `${prefix}${name}.csv`, type: 'text/csv' })
			: outputFile(n8n, { name: `${prefix}${name}.ndjson`, type: 'application/x-ndjson' });
	const done = begin('done');
	const failed = begin('failed');
	let unknown: OutputFile | undefined;
	let leftOut: OutputFile | undefined;

	type Column = keyof typeof reportColumns;
	const line = (text: string, names: readonly Column[], values: unknown[]): string => {
		if (columns) return `${text}${csvRow(values)}`;
		const reportJson = JSON.stringify(Object.fromEntries(names.map((name, i) => [reportColumns[name], values[i]])));
		return `${text === '{}' ? '{' : `${text.slice(0, -1)},`}${reportJson.slice(1)}\n`;
	};
	const doneLine = ({ row, text, done: report }: ReportedRow): string | undefined =>
		report && line(text, doneColumns, [row, report.id, report.action]);
	const failedLine = ({ row, text, refusal }: ReportedRow): string | undefined =>
		refusal && line(text, failedColumns, [row, refusal.field, refusal.code, refusal.message, refusal.text]);
	const leftOutLines = ({ row, text, refusal, leftOut: values = [] }: ReportedRow): string[] =>
		refusal ? [] : values.map(({ field, value, message }) => line(text, leftOutColumns, [row, field.name, value, message]));
	const header = (names: readonly Column[]): string =>
		columns ? csvBeginning([...columns, ...names.map((name) => reportColumns[name])]) : '';

	const begun = Promise.all([done.write(header(doneColumns)), failed.write(header(failedColumns))]);
	return {
		async add(rows) {
			await begun;
			for (let i = 0; i < rows.length; i += rowsAtOnce) {
				const some = rows.slice(i, i + rowsAtOnce);
				await done.write(some.map(doneLine).join(''));
				await failed.write(some.filter(({ refusal }) => !refusal?.isUnknown).map(failedLine).join(''));
				const withoutValues = some.flatMap(leftOutLines);
				if (withoutValues.length > 0) {
					if (!leftOut) await (leftOut = begin('left_out')).write(header(leftOutColumns));
					await leftOut.write(withoutValues.join(''));
				}
				const unknownRows = some.filter(({ refusal }) => refusal?.isUnknown);
				if (unknownRows.length === 0) continue;
				if (!unknown) await (unknown = begin('unknown')).write(header(failedColumns));
				await unknown.write(unknownRows.map(failedLine).join(''));
			}
		},
		async end() {
			const [doneFile, failedFile, unknownFile, leftOutFile] = await Promise.all([done.end(), failed.end(), unknown?.end(), leftOut?.end()]);
			return { done: doneFile, failed: failedFile, ...(unknownFile && { unknown: unknownFile }), ...(leftOutFile && { left_out: leftOutFile }) };
		},
	};
}
