import type { IDataObject } from 'n8n-workflow';

import { readCsv, type FileRow } from './csvReader';
import { unescapedCell } from './csvWriter';
import { readJsonArray, readNdjson } from './jsonReader';
import { decodeText, type Encoding } from './text';

export type FileFormat = 'csv' | 'ndjson' | 'json';

export interface FileSettings {
	format: FileFormat;
	encoding: Encoding;
	/** Of CSV; recognised where absent. */
	delimiter?: string;
}

/** The columns that the files of an import have beside the user's own; they are never read. */
export const reportColumns = {
	row: 'import_row',
	id: 'import_id',
	action: 'import_action',
	field: 'import_error_field',
	code: 'import_error_code',
	message: 'import_error_message',
} as const;

const reported = new Set<string>(Object.values(reportColumns));

/** The records of a file. */
export interface FileRecords {
	/** The header of a CSV file; undefined for JSON. */
	columns: string[] | undefined;
	/** The rows after the header, each by the names of its columns; empty names are left out. */
	rows: AsyncIterable<FileRow<IDataObject>>;
	/** Lets go of a file that is not read to its end. */
	close(): Promise<void>;
}

/**
 * Reads a file record by record, holding little more than one of them.
 *
 * @throws Error in the user's words, also while the rows are read, where the file is empty, its
 * header cannot be used, or it is not text in that encoding and format
 */
export async function readRecords(
	bytes: AsyncIterable<Uint8Array>,
	{ format, encoding, delimiter }: FileSettings,
): Promise<FileRecords> {
	const text = decodeText(bytes, encoding);
	if (format !== 'csv') {
		const rows = format === 'json' ? readJsonArray(text) : readNdjson(text);
		return { columns: undefined, rows: withoutReports(rows), close: () => closed(rows) };
	}
	const rows = readCsv(text, delimiter);
	const close = () => closed(rows);
	let header: string[] | undefined;
	try {
		header = headerOf(await rows.next());
	} finally {
		if (!header) await close();
	}
	const columns = header.filter((name) => name !== '' && !reported.has(name));
	return { columns, rows: namedCells(rows, header), close };
}

const closed = async (rows: AsyncGenerator): Promise<void> => void (await rows.return(undefined));

/** @throws Error in the user's words */
function headerOf(first: IteratorResult<FileRow<string[]>, void>): string[] {
	if (first.done) throw new Error('The file is empty: it has no header. Its first row has to name the columns.');
	if (first.value.problem !== undefined) {
		throw new Error(`The header of the file cannot be read. ${first.value.problem}`);
	}
	const header = first.value.content.map((name) => unescapedCell(name).trim());
	checkHeader(header);
	return header;
}

/** @throws Error in the user's words if two columns share a name or no column has one */
function checkHeader(header: string[]): void {
	const names = header.filter((name) => name !== '');
	if (names.length === 0) {
		throw new Error('The header of the file is empty. Its first row has to name the columns.');
	}
	const twice = names.find((name, i) => names.indexOf(name) !== i);
	if (twice === undefined) return;
	throw new Error(`The header has the column ‘${twice}’ twice. Rename or remove one of them; nothing was written.`);
}

async function* namedCells(
	rows: AsyncIterable<FileRow<string[]>>,
	header: string[],
): AsyncGenerator<FileRow<IDataObject>, void> {
	for await (const { row, content: cells, problem } of rows) {
		if (problem !== undefined) yield { row, problem };
		else if (isRepeated(cells, header)) yield { row, problem: 'The row repeats the header.' };
		else yield cells.length === header.length ? { row, content: named(header, cells) } : uneven(row, header, cells);
	}
}

/** Files that were joined have the header of each. */
const isRepeated = (cells: string[], header: string[]): boolean =>
	cells.length === header.length && cells.every((cell, i) => unescapedCell(cell).trim() === header[i]);

/** Cells under no name are left out, where they are empty. */
function uneven(row: number, header: string[], cells: string[]): FileRow<IDataObject> {
	const surplus = cells.slice(header.length);
	if (surplus.length > 0 && surplus.every((cell) => cell === '')) return { row, content: named(header, cells) };
	const problem = `The row has ${cells.length} cells, and the header ${header.length}. Check the row for a missing quote or delimiter.`;
	return { row, problem };
}

function named(header: string[], cells: string[]): IDataObject {
	// No prototype: a column may be called __proto__.
	const record = Object.create(null) as IDataObject;
	for (const [i, name] of header.entries()) {
		if (name !== '' && !reported.has(name)) record[name] = unescapedCell(cells[i] ?? '');
	}
	return { ...record };
}

async function* withoutReports(
	rows: AsyncIterable<FileRow<IDataObject>>,
): AsyncGenerator<FileRow<IDataObject>, void> {
	for await (const { row, content, problem } of rows) {
		if (problem !== undefined) {
			yield { row, problem };
			continue;
		}
		const own = Object.entries(content).filter(([name]) => !reported.has(name));
		yield { row, content: own.length === Object.keys(content).length ? content : Object.fromEntries(own) };
	}
}
