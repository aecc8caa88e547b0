import { occurrences } from '../base/maps';
import { type FileRow, UnreadableFile } from './fileRow';

/** Recognized delimiters; the first one wins a tie. */
const delimiters = [',', ';', '\t', '|'] as const;

/** Maximum characters of a row: in a longer one, a quote is missing, or the file is not a table. */
const maxRowLength = 1024 * 1024;

/** Reading stops after this many unreadable rows. */
const maxProblems = 1_000;

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Reads CSV (RFC 4180, with any of the usual delimiters and line ends), holding no more than one chunk
 * and its rows. Empty lines are skipped.
 *
 * A row that cannot be read is reported, and reading continues with the next line. If a quote is never closed,
 * that is the line after the opening quote. A row that has more or fewer cells than the first also has its text.
 *
 * @param chunks decoded text
 * @param delimiter one character; detected in the first lines if absent
 * @returns the rows that end in each chunk: a promise for each row would take more memory than the row
 * @throws Error in the user's words after 1,000 unreadable rows
 */
export async function* readCsv(
	chunks: AsyncIterable<string>,
	delimiter?: string,
): AsyncGenerator<Array<FileRow<string[]>>, void> {
	const parser = new CsvParser(delimiter);
	for await (const chunk of chunks) {
		parser.add(chunk);
		yield* parser.rows(false);
	}
	yield* parser.rows(true);
}

/** Splits text into rows, and holds the text that is not a row yet. */
class CsvParser {
	private text = '';
	private start = 0;
	private row = 0;
	private problems = 0;
	/** Whether the rest of a line belongs to a row that cannot be read. */
	private isSkipping = false;
	private width: number | undefined;
	private separator: number | undefined;

	constructor(delimiter: string | undefined) {
		this.separator = delimiter?.charCodeAt(0);
	}

	add(chunk: string): void {
		this.text = this.text.slice(this.start) + chunk;
		this.start = 0;
	}

	/** The complete rows. */
	*rows(isEnd: boolean): Generator<Array<FileRow<string[]>>, void> {
		const rows: Array<FileRow<string[]>> = [];
		for (let next = this.nextRow(isEnd); next; next = this.problems < maxProblems ? this.nextRow(isEnd) : undefined) rows.push(next);
		if (rows.length > 0) yield rows;
		if (this.problems < maxProblems) return;
		throw new UnreadableFile(
			`${this.problems} rows cannot be read; the last one is row ${this.row}. Check the delimiter and the quotes of the file.`,
		);
	}

	/** Undefined if more text is needed. */
	private nextRow(isEnd: boolean): FileRow<string[]> | undefined {
		while (this.start < this.text.length) {
			if (this.isSkipping && !this.skipLine(isEnd)) return undefined;
			if (this.start >= this.text.length) return undefined;
			this.separator ??= delimiterOf(this.text, this.start, isEnd)?.charCodeAt(0);
			if (this.separator === undefined) return undefined;
			const parsed = parseRow(this.text, this.start, this.separator, isEnd);
			const length = (parsed?.end ?? this.text.length) - this.start;
			if (length > maxRowLength) {
				return this.unreadableRow(`The row is longer than ${maxRowLength / 1024 / 1024} MB. Is a quote missing?`, isEnd, length);
			}
			if (!parsed) return undefined;
			if (parsed.problem !== undefined) return this.unreadableRow(parsed.problem, isEnd, length);
			const from = this.start;
			this.start = parsed.end;
			const { cells, isQuoted } = parsed;
			if (cells.length > 1 || cells[0] !== '' || isQuoted) return this.readableRow(cells, from);
		}
		return undefined;
	}

	/** @returns false if the line continues beyond the text */
	private skipLine(isEnd: boolean): boolean {
		const next = afterLine(this.text, this.start, isEnd);
		this.start = next ?? this.text.length;
		this.isSkipping = next === undefined;
		return !this.isSkipping;
	}

	/** Undefined if more text is needed: the text of the row continues to the end of the line. */
	private unreadableRow(problem: string, isEnd: boolean, length: number): FileRow<string[]> | undefined {
		const end = afterLine(this.text, this.start, isEnd);
		if (end === undefined && !isEnd && length <= maxRowLength) return undefined;
		this.problems += 1;
		this.isSkipping = true;
		return { row: ++this.row, problem, text: lineOf(this.text, this.start, end) };
	}

	private readableRow(cells: string[], from: number): FileRow<string[]> {
		this.width ??= cells.length;
		this.row += 1;
		const row = { row: this.row, content: cells };
		return cells.length === this.width ? row : { ...row, text: lineOf(this.text, from, this.start) };
	}
}

/** The text of a row, without its line end. */
function lineOf(text: string, start: number, end = text.length): string {
	const line = text.slice(start, end).replace(/(\r\n|\r|\n)$/, '');
	return line.length > maxRowLength ? `${line.slice(0, 1_000)}…` : line;
}

type ParsedRow =
	| { cells: string[]; isQuoted: boolean; end: number; problem?: undefined }
	| { problem: string; end?: undefined };

/** Parses one row; undefined if more text is needed. */
function parseRow(text: string, start: number, separator: number, isEnd: boolean): ParsedRow | undefined {
	const cells: string[] = [];
	let isQuoted = false;
	for (let at = start; ; at += 1) {
		let cell: string;
		if (text.charCodeAt(at) === quote) {
			const quoted = parseQuoted(text, at, isEnd);
			if (!quoted || quoted.problem !== undefined) return quoted;
			({ cell, end: at } = quoted);
			isQuoted = true;
		} else {
			const from = at;
			at = endOfCell(text, at, separator);
			cell = text.slice(from, at);
		}
		// The next chunk may continue this cell, or begin with the other half of a line end.
		const isUnfinished = at >= text.length || (text.charCodeAt(at) === carriageReturn && at + 1 >= text.length);
		if (isUnfinished && !isEnd) return undefined;
		cells.push(cell);
		const code = text.charCodeAt(at);
		if (code === separator) continue;
		if (at >= text.length) return { cells, isQuoted, end: text.length };
		const end = lineEndAt(text, at);
		if (end !== undefined) return { cells, isQuoted, end };
		return { problem: 'There is text after a closing quote. A quote inside a cell has to be doubled ("").' };
	}
}

type ParsedCell =
	| { cell: string; end: number; problem?: undefined }
	| { problem: string };

function parseQuoted(text: string, start: number, isEnd: boolean): ParsedCell | undefined {
	let cell = '';
	for (let from = start + 1; ; ) {
		const close = text.indexOf('"', from);
		if (close < 0) return isEnd ? { problem: 'A quote is opened and never closed. Close it or, if it is part of the text, double it ("").' } : undefined;
		if (close + 1 >= text.length && !isEnd) return undefined;
		cell += text.slice(from, close);
		if (text.charCodeAt(close + 1) !== quote) return { cell, end: close + 1 };
		cell += '"';
		from = close + 2;
	}
}

function endOfCell(text: string, start: number, separator: number): number {
	for (let at = start; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === separator || code === lineFeed || code === carriageReturn) return at;
	}
	return text.length;
}

/** The position after the line end at a position; undefined if there is no line end. */
function lineEndAt(text: string, at: number): number | undefined {
	const code = text.charCodeAt(at);
	if (code === lineFeed) return at + 1;
	if (code !== carriageReturn) return undefined;
	return text.charCodeAt(at + 1) === lineFeed ? at + 2 : at + 1;
}

/** The position of the next line; undefined if its beginning has not been read yet. */
function afterLine(text: string, start: number, isEnd: boolean): number | undefined {
	for (let at = start; at < text.length; at++) {
		if (text.charCodeAt(at) === carriageReturn && at + 1 >= text.length && !isEnd) return undefined;
		const end = lineEndAt(text, at);
		if (end !== undefined) return end;
	}
	return undefined;
}

/** Number of lines in which the delimiter is looked for. */
const linesCompared = 20;
/** Maximum characters of these lines. */
const maxComparedLength = 64 * 1024;

/**
 * The delimiter that occurs outside of quotes in most of the first lines, equally often in each; undefined if more text
 * is needed. A title above the table, or commas within cells, are in fewer lines.
 */
function delimiterOf(text: string, start: number, isEnd: boolean): string | undefined {
	const lines: Array<Map<string, number>> = [new Map<string, number>()];
	let isInside = false;
	for (let at = start; at < text.length && lines.length <= linesCompared; at++) {
		const character = text[at]!;
		if (character === '"') isInside = !isInside;
		if (isInside) continue;
		if (character === '\n' || character === '\r') lines.push(new Map<string, number>());
		else if (delimiters.includes(character as never)) lines.at(-1)!.set(character, (lines.at(-1)!.get(character) ?? 0) + 1);
	}
	const isEnough = lines.length > linesCompared || text.length - start > maxComparedLength;
	if (!isEnd && !isEnough) return undefined;
	const best = delimiters.map((delimiter) => {
		const counts = occurrences(lines.flatMap((line) => line.get(delimiter) ?? []));
		const [times = 0, likeIt = 0] = [...counts].sort(([timesA, a], [timesB, b]) => b - a || timesB - timesA)[0] ?? [];
		return { delimiter, likeIt, times };
	});
	return best.sort((a, b) => b.likeIt - a.likeIt || b.times - a.times)[0]!.delimiter;
}
