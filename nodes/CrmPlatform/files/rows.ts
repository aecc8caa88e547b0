import type { IDataObject } from 'n8n-workflow';

import { readCsv } from './csvReader';
import type { FileRow } from './fileRow';
import { csvCells, unescapedCell } from './csvWriter';
import { contentRow, readJsonArray, readNdjson } from './jsonReader';
import { isBlank } from '../values/blank';
import { decodeText, type Encoding } from './text';

export type FileFormat = 'csv' | 'ndjson' | 'json';

export interface FileSettings {
	format: FileFormat;
	encoding: Encoding;
	/** The delimiter of a CSV file; recognized if absent. */
	delimiter?: string;
}

/** The columns that an import adds to the user's columns in its files. They are never read. */
export const reportColumns = {
	row: 'import_row',
	id: 'import_id',
	action: 'import_action',
	field: 'import_error_field',
	code: 'import_error_code',
	value: 'import_error_value',
	message: 'import_error_message',
	text: 'import_error_row',
} as const;

export const reportNames: ReadonlySet<string> = new Set<string>(Object.values(reportColumns));

export interface FileRecords {
	/** The header of a CSV file; undefined for JSON. */
	columns: string[] | undefined;
	/** A line above the header, which is not read. */
	title: string | undefined;
	/** The names that several columns have in the header. In `columns`, all but the first are numbered. */
	repeated: ReadonlySet<string>;
	/** Columns without a name, counted from 1, that have a value in any row read so far. */
	unnamed: Set<number>;
	/** The rows after the header, several at a time. Each has its cells by column name; cells without a name are left out. */
	rows: AsyncIterable<Array<FileRow<IDataObject>>>;
	/** Why an import has not read the file to its end. */
	problem?: string;
	/** Closes a file that is not read to its end. */
	close(): Promise<void>;
}

/**
 * Reads a file chunk by chunk, and holds little more than the records of one chunk.
 *
 * @throws Error in the user's words, also while the rows are read, if the file is empty, if its header cannot be
 * used, or if it is not text in that encoding and format
 */
export async function readFileRecords(
	bytes: AsyncIterable<Uint8Array>,
	{ format, encoding, delimiter }: FileSettings,
): Promise<FileRecords> {
	const text = decodeText(bytes, encoding);
	if (format !== 'csv') return withoutHeader(format === 'json' ? readJsonArray(text) : readNdjson(text));
	const rows = readCsv(text, delimiter);
	const close = () => closeRows(rows);
	const beginning: Array<FileRow<string[]>> = [];
	while (beginning.length < 2) {
		const next = await rows.next();
		if (next.done) break;
		beginning.push(...next.value);
	}
	const title = titleOf(beginning);
	const [first, ...others] = title === undefined ? beginning : beginning.slice(1);
	let header: string[] | undefined;
	try {
		header = headerOf(first);
	} finally {
		if (!header) await close();
	}
	const repeated = new Set(header.filter((name, i) => isNamed(name) && header.indexOf(name) !== i));
	const uniqueNames = header.map((name, i) => (isNamed(name) && header.indexOf(name) !== i ? numbered(header, name, i) : name));
	const columns = uniqueNames.filter(isNamed);
	const unnamed = new Set<number>();
	return { columns, title, repeated, unnamed, rows: namedCells(others, rows, { header, uniqueNames }, unnamed), close };
}

const withoutHeader = (rows: AsyncGenerator<Array<FileRow<IDataObject>>, void>): FileRecords => ({
	columns: undefined,
	title: undefined,
	repeated: new Set(),
	unnamed: new Set(),
	rows: withoutReports(rows),
	close: () => closeRows(rows),
});

/** The rows of a table that an item has as a list. */
export function recordsOfList(list: unknown[]): FileRecords {
	async function* rows(): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
		for (let i = 0; i < list.length; i += 500) {
			yield await Promise.resolve(list.slice(i, i + 500).map((content, j) => contentRow(content, JSON.stringify(content ?? null), i + j + 1)));
		}
	}
	return withoutHeader(rows());
}

const isNamed = (name: string): boolean => name !== '' && !reportNames.has(name);

const closeRows = async (rows: AsyncGenerator): Promise<void> => void (await rows.return(undefined));

/**
 * The title in the first row, as in reports: its only filled cell, above a row of several different words. A row of data
 * that is taken for the header names no field, so nothing is written by mistake.
 */
function titleOf([first, second]: Array<FileRow<string[]>>): string | undefined {
	const filled = (row: FileRow<string[]> | undefined) => (row?.content ?? []).filter((cell) => !isBlank(cell));
	const [title, ...others] = filled(first);
	const names = filled(second);
	const areNames = names.length > 1 && new Set(names).size === names.length && !names.some((name) => /[@\d]/.test(name));
	return areNames && others.length === 0 ? title : undefined;
}

/** @throws Error in the user's words if there is no header, or if no column has a name */
function headerOf(first: FileRow<string[]> | undefined): string[] {
	if (!first) throw new Error('The file is empty. Its first row must name the columns.');
	if (first.problem !== undefined) throw new Error(`The header of the file cannot be read. ${first.problem}`);
	const header = first.content.map((name) => unescapedCell(name).trim());
	if (header.some((name) => name !== '')) return header;
	throw new Error('The header of the file is empty. The first row must name the columns.');
}

/** `Email (2)` for the second column `Email`. */
function numbered(header: string[], name: string, at: number): string {
	for (let number = header.slice(0, at).filter((other) => other === name).length + 1; ; number += 1) {
		if (!header.includes(`${name} (${number})`)) return `${name} (${number})`;
	}
}

async function* namedCells(
	first: Array<FileRow<string[]>>,
	others: AsyncIterable<Array<FileRow<string[]>>>,
	{ header, uniqueNames }: { header: string[]; uniqueNames: string[] },
	unnamed: Set<number>,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	const columns = uniqueNames.map((name) => (isNamed(name) ? name : ''));
	const withoutName = header.flatMap((name, i) => (name === '' ? [i] : []));
	const namedRow = (read: FileRow<string[]>): FileRow<IDataObject> => {
		if (read.problem !== undefined) return read;
		const { row, content: cells, text = csvCells(cells) } = read;
		// Files that were joined have several headers.
		const isRepeated = cells.length === header.length && cells.every((cell, i) => unescapedCell(cell).trim() === header[i]);
		if (isRepeated) return { row, problem: 'The row repeats the header.', text };
		for (const i of withoutName) if (cells[i]) unnamed.add(i + 1);
		// Empty cells without a column name are ignored.
		const isComplete = cells.length >= header.length && cells.slice(header.length).every((cell) => cell === '');
		if (isComplete) return { row, content: named(columns, cells) };
		const problem = `The row has ${cells.length} cells, but the header has ${columns.length}. Check it for a missing quote or delimiter.`;
		return { row, problem, text };
	};
	yield first.map(namedRow);
	for await (const rows of others) yield rows.map(namedRow);
}

/** @param columns the name of each cell; empty if the cell is left out */
function named(columns: string[], cells: string[]): IDataObject {
	const record: IDataObject = {};
	for (const [i, name] of columns.entries()) {
		const value = unescapedCell(cells[i] ?? '');
		if (name === '__proto__') Object.defineProperty(record, name, { value, enumerable: true, writable: true });
		else if (name !== '') record[name] = value;
	}
	return record;
}

async function* withoutReports(
	chunks: AsyncIterable<Array<FileRow<IDataObject>>>,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	const withoutReport = (read: FileRow<IDataObject>): FileRow<IDataObject> => {
		if (read.problem !== undefined) return read;
		const { row, content } = read;
		const userEntries = Object.entries(content).filter(([name]) => !reportNames.has(name));
		return { row, content: userEntries.length === Object.keys(content).length ? content : Object.fromEntries(userEntries) };
	};
	for await (const rows of chunks) yield rows.map(withoutReport);
}
