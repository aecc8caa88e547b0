import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { depthProblem, maxLevels } from '../base/numbers';
import { withoutMembers } from '../base/ownMembers';
import { orThrow, resultOrError } from '../base/results';
import { readCsv } from './csvReader';
import { reportNames, type FileRow } from './fileRow';
import { csvCells, unescapedCell } from './csvWriter';
import { isBlank } from '../values/blank';
import { withWholeMark } from './gzip';

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

/** Maximum characters of a record. */
const maxRecordLength = 1024 * 1024;

/**
 * The records of newline-delimited JSON that end in each chunk. Empty lines are skipped; a line that is no object is reported.
 *
 * @throws Error in the user's words for a line that is too long to be held in memory
 */
export async function* readNdjson(chunks: AsyncIterable<string>): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let row = 0;
	let rest = '';
	const rowsOf = (lines: string[]) => lines.filter((line) => line.trim() !== '').map((line) => rowOf(line, ++row));
	for await (const chunk of chunks) {
		const lines = (rest + chunk).split('\n');
		rest = lines.pop()!;
		yield rowsOf(lines);
		if (rest.length > maxRecordLength) throw new Error(`Record ${row + 1} is longer than 1 MB. NDJSON has one record a line.`);
	}
	yield rowsOf([rest]);
}

/** Maximum characters of a JSON array, which is read as a whole. */
const maxArrayLength = 16 * 1024 * 1024;

/**
 * Reads a JSON array of records. An element that is not an object is reported and reading continues.
 *
 * @throws Error in the user's words if the file is not one JSON array, or too large
 */
export async function* readJsonArray(chunks: AsyncIterable<string>): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let text = '';
	for await (const chunk of chunks) {
		text += chunk;
		if (text.length > maxArrayLength) throw new Error('The JSON array is larger than 16 MB. Save it as NDJSON, one record a line.');
	}
	const elements: unknown = resultOrError(() => parsedValue(text));
	if (!Array.isArray(elements)) {
		const problem = elements instanceof Error ? elements.message : 'It is another JSON value.';
		throw new Error(`The file must be a JSON array of records, such as [{ "name": "value" }]. ${problem} For one record per line, choose NDJSON.`);
	}
	yield elements.map((element, i) => contentRow(element, JSON.stringify(element), i + 1));
}

function rowOf(text: string, row: number): FileRow<IDataObject> {
	const content: unknown = resultOrError(() => parsedValue(text));
	return content instanceof Error ? { row, text, problem: content.message } : contentRow(content, text, row);
}

function contentRow(content: unknown, text: string, row: number): FileRow<IDataObject> {
	if (!isObject(content)) {
		const excerpt = text.trim().slice(0, 60);
		return { row, text, problem: `“${excerpt}” is not a JSON object such as { "name": "value" }.` };
	}
	// Each level takes a bracket at its beginning, and one at its end.
	const problem = text.length > 2 * maxLevels ? depthProblem(content) : undefined;
	return problem === undefined ? { row, content } : { row, text, problem: `The record: ${problem}` };
}

/** The encodings of files; `auto` uses the byte-order mark, and UTF-8 without one. */
export type Encoding = 'auto' | 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Byte-order marks (Unicode 16, section 23.8). */
const marks: Array<[encoding: Exclude<Encoding, 'auto'>, bytes: number[]]> = [
	['utf-8', [0xef, 0xbb, 0xbf]],
	['utf-16le', [0xff, 0xfe]],
	['utf-16be', [0xfe, 0xff]],
];

/**
 * Decodes a file, in chunks of any size, without its byte-order mark.
 *
 * @throws Error in the user's words if the bytes are not text in that encoding, or begin with the mark of another one
 */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<string, void> {
	let decoder: Decoder | undefined;
	for await (const chunk of withWholeMark(bytes)) {
		decoder ??= new TextDecoder(encodingOf(chunk, encoding), { fatal: true });
		yield textOf(decoder, chunk);
	}
	yield textOf(decoder!);
}

type Decoder = InstanceType<typeof TextDecoder>;

/** The text of a chunk; without one, of what the last one left. */
function textOf(decoder: Decoder, chunk?: Uint8Array): string {
	const text = resultOrError(() => decoder.decode(chunk, { stream: chunk !== undefined }));
	// Text has no NUL characters, but UTF-16 and UTF-32 have them beside each letter.
	if (typeof text === 'string' && !text.includes('\0')) return text;
	throw new Error(
		`The file is not ${decoder.encoding.toUpperCase()} text, or has NUL characters. Choose its encoding in the options: files saved by older programs on Windows are often Windows-1252, and those with NUL characters UTF-16. Otherwise, save it as UTF-8.`,
	);
}

/** @throws Error in the user's words if the mark and the choice contradict each other */
function encodingOf(bytes: Uint8Array, chosen: Encoding): Exclude<Encoding, 'auto'> {
	const [marked] = marks.find(([, mark]) => mark.every((byte, i) => bytes[i] === byte)) ?? [];
	const used = chosen === 'auto' ? (marked ?? 'utf-8') : chosen;
	if (marked === undefined || marked === used) return used;
	throw new Error(
		`The file begins with the byte-order mark of ${marked.toUpperCase()}, but ${used.toUpperCase()} is chosen in the options. Choose “Automatic”, or the right encoding.`,
	);
}
