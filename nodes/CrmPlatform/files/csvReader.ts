import { occurrences } from '../base/maps';
import type { FileRow } from './fileRow';

/** Maximum characters of a row: in a longer one, a quote is missing, or the file is not a table. */
const maxRowLength = 1024 * 1024;

/** Reading stops after this many unreadable rows. */
const maxProblems = 1_000;

/**
 * Reads CSV (RFC 4180, with any of the usual delimiters and line ends), holding no more than one chunk
 * and its rows. Empty lines are skipped.
 *
 * A row that cannot be read is reported, and reading continues with the next line. If a quote is never closed,
 * that is the line after the opening quote. A row that has more or fewer cells than the first also has its text.
 *
 * @param delimiter one character; detected in the first lines if absent
 * @returns the rows that end in each chunk: a promise for each row would take more memory than the row
 * @throws Error in the user's words for a line that is too long to be held in memory, and after 1,000 unreadable rows
 */
export async function* readCsv(chunks: AsyncIterable<string>, delimiter?: string): AsyncGenerator<Array<FileRow<string[]>>, void> {
	const reader = new CsvReader(delimiter);
	for await (const chunk of chunks) yield [...reader.rows(chunk, false)];
	yield [...reader.rows('', true)];
}

/** Divides text into rows, and holds the text that is not a row yet. */
class CsvReader {
	private text = '';
	private row = 0;
	private problems = 0;
	private width: number | undefined;
	private delimiter: string | undefined;

	constructor(delimiter: string | undefined) {
		this.delimiter = delimiter;
	}

	*rows(chunk: string, isEnd: boolean): Generator<FileRow<string[]>, void> {
		this.text += chunk;
		this.delimiter ??= delimiterOf(this.text, isEnd);
		if (this.delimiter === undefined) return;
		const cellPattern = patternOfCell(this.delimiter);
		let start = 0;
		while (start < this.text.length) {
			const parsed = parseRow(this.text, start, cellPattern, isEnd);
			const line = parsed?.problem === undefined ? parsed : lineAt(this.text, start, isEnd);
			if (!parsed || !line) break;
			start = line.end;
			if (parsed.problem !== undefined) yield this.unreadableRow(parsed.problem, line.text);
			else if (line.text !== '') yield this.readableRow(parsed.cells, line.text);
		}
		this.text = this.text.slice(start);
	}

	private readableRow(content: string[], text: string): FileRow<string[]> {
		this.width ??= content.length;
		this.row += 1;
		return { row: this.row, content, ...(content.length !== this.width && { text }) };
	}

	private unreadableRow(problem: string, text: string): FileRow<string[]> {
		this.row += 1;
		this.problems += 1;
		if (this.problems < maxProblems) return { row: this.row, problem, text };
		throw new Error(`${maxProblems} rows cannot be read; the last one is row ${this.row}. Check the delimiter and the quotes of the file.`);
	}
}

/** A cell and what follows it: quoted text, in which quotes are doubled, or other text; a delimiter, or the end of the row. */
const patternOfCell = (delimiter: string): RegExp =>
	new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|((?!")[^\\${delimiter}\\r\\n]*))(?:(\\${delimiter})|(\\r\\n|\\r|\\n|$))`, 'y');

const closedQuote = /"[^"]*(?:""[^"]*)*"(?!")/y;

type ParsedRow =
	| { cells: string[]; text: string; end: number; problem?: undefined }
	| { problem: string };

/** Parses one row; undefined if more text is needed. */
function parseRow(text: string, start: number, cellPattern: RegExp, isEnd: boolean): ParsedRow | undefined {
	const cells: string[] = [];
	const tooLong = { problem: 'The row is longer than 1 MB. Is a quote missing?' };
	const unfinished = text.length - start > maxRowLength ? tooLong : undefined;
	for (let at = start; ; at = cellPattern.lastIndex) {
		cellPattern.lastIndex = closedQuote.lastIndex = at;
		const match = cellPattern.exec(text);
		if (!match && closedQuote.test(text)) {
			return { problem: 'There is text after a closing quote. A quote inside a cell has to be doubled ("").' };
		}
		if (!match && !isEnd) return unfinished;
		if (!match) return { problem: 'A quote is opened and never closed. Close it or, if it is part of the text, double it ("").' };
		const [, quoted, plain = '', delimiter, lineEnd = ''] = match;
		cells.push(quoted?.replaceAll('""', '"') ?? plain);
		if (delimiter !== undefined) continue;
		const end = cellPattern.lastIndex;
		// The next chunk may continue this cell, or begin with the other half of a line end.
		if (!isEnd && end === text.length && !lineEnd.endsWith('\n')) return unfinished;
		return end - start > maxRowLength ? tooLong : { cells, text: text.slice(start, end - lineEnd.length), end };
	}
}

/** The line that begins at a position; undefined if more text is needed. @throws Error in the user's words if it is too long */
function lineAt(text: string, start: number, isEnd: boolean): { text: string; end: number } | undefined {
	const lineEnd = /\r\n|\n|\r/g;
	lineEnd.lastIndex = start;
	const { 0: ending = '', index = text.length } = lineEnd.exec(text) ?? {};
	if (index - start > maxRowLength) throw new Error('A line of the file is longer than 1 MB. Is the file a table?');
	const end = index + ending.length;
	return !isEnd && end === text.length && !ending.endsWith('\n') ? undefined : { text: text.slice(start, index), end };
}

/** Recognized delimiters; the first one wins a tie. */
const delimiters = [',', ';', '\t', '|'];
/** Number of lines in which the delimiter is looked for. */
const linesCompared = 20;
/** Maximum characters of these lines. */
const maxComparedLength = 64 * 1024;

/**
 * The delimiter that occurs outside of quotes in most of the first lines, equally often in each; undefined if more text
 * is needed. A title above the table, or commas within cells, are in fewer lines.
 */
function delimiterOf(text: string, isEnd: boolean): string | undefined {
	const lines = text.replace(/"[^"]*("|$)/g, '').split(/\r\n|\r|\n/);
	if (!isEnd && lines.length <= linesCompared && text.length <= maxComparedLength) return undefined;
	const best = delimiters.map((delimiter) => {
		const timesInLines = lines.slice(0, linesCompared).map((line) => line.split(delimiter).length - 1);
		const counts = occurrences(timesInLines.filter((times) => times > 0));
		const [times = 0, likeIt = 0] = [...counts].sort(([timesA, a], [timesB, b]) => b - a || timesB - timesA)[0] ?? [];
		return { delimiter, likeIt, times };
	});
	return best.sort((a, b) => b.likeIt - a.likeIt || b.times - a.times)[0]!.delimiter;
}
