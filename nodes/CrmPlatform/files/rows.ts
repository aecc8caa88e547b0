import type { IDataObject } from 'n8n-workflow';

import { withoutMembers } from '../base/ownMembers';
import { orThrow, resultOrError } from '../base/results';
import { readCsv } from './csvReader';
import { reportNames, type FileRow } from './fileRow';
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

export interface FileRecords {
	/** The header of a CSV file; undefined for JSON. A column without a name is called `Column 3`. */
	columns: string[] | undefined;
	/** The columns that have the name of an earlier one, by another name, and that name. */
	repeated?: ReadonlyMap<string, string>;
	/** A line above the header, which is not read. */
	title?: string | undefined;
	/** The rows after the header that are not blank, several at a time. Each has its cells by column name. */
	rows: AsyncIterable<Array<FileRow<IDataObject>>>;
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
	const firstRows: Array<FileRow<string[]>> = [];
	while (firstRows.length < 2) {
		const next = await rows.next();
		if (next.done) break;
		firstRows.push(...next.value);
	}
	const read = resultOrError(() => {
		const title = titleOf(firstRows);
		const [first, ...others] = title === undefined ? firstRows : firstRows.slice(1);
		return { title, header: headerOf(first), others };
	});
	if (read instanceof Error) await close();
	const { title, header, others } = orThrow(read);
	const names = uniqueNames(header);
	const columns = names.filter((_, i) => !reportNames.has(header[i]!));
	const repeated = new Map(names.flatMap((name, i) => (name === header[i] ? [] : [[name, header[i]!]])));
	return { columns, repeated, title, rows: namedCells(others, rows, { header, names }), close };
}

function withoutHeader(rows: AsyncGenerator<Array<FileRow<IDataObject>>, void>): FileRecords {
	async function* userRows(): FileRecords['rows'] {
		for await (const read of rows) {
			yield read.filter(isFilled).map((row) => (row.content ? { ...row, content: withoutMembers(row.content, ...reportNames) } : row));
		}
	}
	return { columns: undefined, rows: userRows(), close: () => closeRows(rows) };
}

/** Whether a row has a value: spreadsheets write empty lines as blank cells. The rows that remain keep their numbers. */
const isFilled = ({ content }: FileRow<object>): boolean => content === undefined || Object.values(content).some((value) => !isBlank(value));

/** The rows of a table that an item has as a list. */
export function recordsOfList(list: unknown[]): FileRecords {
	async function* rows(): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
		for (let i = 0; i < list.length; i += 500) {
			yield await Promise.resolve(list.slice(i, i + 500).map((content, j) => contentRow(content, JSON.stringify(content ?? null), i + j + 1)));
		}
	}
	return withoutHeader(rows());
}

const closeRows = async (rows: AsyncGenerator): Promise<void> => void (await rows.return(undefined));

/**
 * The title in the first row, as in reports: its only filled cell, above a row of several different words. A row of data
 * that is taken for the header names no field, so nothing is written by mistake.
 *
 * @throws Error in the user's words for one name above two columns: it may also be a header whose other column has no name
 */
function titleOf([first, second]: Array<FileRow<string[]>>): string | undefined {
	const filled = (row: FileRow<string[]> | undefined) => (row?.content ?? []).filter((cell) => !isBlank(cell));
	const [title, ...others] = filled(first);
	const names = filled(second);
	const areNames = names.length > 1 && new Set(names).size === names.length && !names.some((name) => /[@\d]/.test(name));
	if (!areNames || title === undefined || others.length > 0) return undefined;
	if (first?.content?.length !== 2) return title;
	throw new Error(`The first row has only “${title}”, which may be a title or the name of a column. Remove the row, or name both columns.`);
}

/** @throws Error in the user's words if there is no header, or if no column has a name */
function headerOf(first: FileRow<string[]> | undefined): string[] {
	if (!first) throw new Error('The file is empty. Its first row must name the columns.');
	if (first.problem !== undefined) throw new Error(`The header of the file cannot be read. ${first.problem}`);
	if (first.content.every(isBlank)) throw new Error('The header of the file is empty. The first row must name the columns.');
	return first.content.map(columnName);
}

/** `Email (2)` for the second column `Email`. */
function uniqueNames(header: string[]): string[] {
	const names = new Set<string>();
	for (const name of header) {
		let unique = name;
		for (let number = 2; names.has(unique) || (unique !== name && header.includes(unique)); number += 1) unique = `${name} (${number})`;
		names.add(unique);
	}
	return [...names];
}

/** Whether a column may lack a name in the header: then it is called by its position. */
export const mayBeUnnamed = (name: string): boolean => /^Column \d+$/.test(name);

const columnName = (cell: string, index: number): string => unescapedCell(cell).trim() || `Column ${index + 1}`;

async function* namedCells(
	first: Array<FileRow<string[]>>,
	others: AsyncIterable<Array<FileRow<string[]>>>,
	{ header, names }: { header: string[]; names: string[] },
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	const userColumns = [...names.entries()].filter(([i]) => !reportNames.has(header[i]!));
	const namedRow = (read: FileRow<string[]>): FileRow<IDataObject> => {
		if (read.problem !== undefined) return read;
		const { row, content: cells, text = csvCells(cells) } = read;
		// Files that were joined have several headers.
		const isRepeated = cells.length === header.length && cells.every((cell, i) => columnName(cell, i) === header[i]);
		if (isRepeated) return { row, problem: 'The row repeats the header.', text };
		// Empty cells without a column are ignored.
		const isComplete = cells.length >= header.length && cells.slice(header.length).every((cell) => cell === '');
		if (isComplete) return { row, content: Object.fromEntries(userColumns.map(([i, name]) => [name, unescapedCell(cells[i]!)])) };
		const problem = `The row has ${cells.length} cells, but the header has ${header.length}. Check it for a missing quote or delimiter.`;
		return { row, problem, text };
	};
	yield first.filter(isFilled).map(namedRow);
	for await (const rows of others) yield rows.filter(isFilled).map(namedRow);
}
