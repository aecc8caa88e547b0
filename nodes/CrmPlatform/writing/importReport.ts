import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { outputFile, type OutputFile } from '../files/binary';
import { csvBeginning, csvCells, csvRow } from '../files/csvWriter';
import { reportColumns } from '../files/rows';
import { chunks } from '../base/lists';
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

/**
 * Begins the files of an import: CSV for a CSV file, NDJSON for JSON. An import of such a file reads the user's columns
 * and ignores those of the report.
 *
 * @param columns of a CSV file
 * @param of the name of the file
 */
export function reportFiles(n8n: IExecuteFunctions, columns: string[] | undefined, of = ''): ReportFiles {
	const prefix = of && `${of.replace(/\.\w+(\.gz)?$/i, '')}.`;
	const format = columns ? { ending: 'csv', type: 'text/csv' } : { ending: 'ndjson', type: 'application/x-ndjson' };
	type Column = keyof typeof reportColumns;
	type Values = Partial<Record<Column, unknown>>;
	const refused = ({ row, refusal }: ReportedRow): Values[] => [{ row, field: refusal?.field, code: refusal?.code, message: refusal?.message, text: refusal?.text }];
	const kinds: Array<{ name: string; names: Column[]; valuesOf: (row: ReportedRow) => Values[]; file?: OutputFile }> = [
		{ name: 'done', names: ['row', 'id', 'action'], valuesOf: ({ row, done }) => (done ? [{ row, ...done }] : []) },
		{ name: 'failed', names: failedColumns, valuesOf: (row) => (row.refusal && !row.refusal.isUnknown ? refused(row) : []) },
		{ name: 'unknown', names: failedColumns, valuesOf: (row) => (row.refusal?.isUnknown ? refused(row) : []) },
		{
			name: 'left_out',
			names: ['row', 'field', 'value', 'message'],
			valuesOf: ({ row, refusal, leftOut = [] }) => (refusal ? [] : leftOut.map(({ field, value, message }) => ({ row, field: field.name, value, message }))),
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
