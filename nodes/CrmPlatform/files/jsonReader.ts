import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { depthProblem, maxLevels } from '../base/numbers';
import { shortened, type FileRow } from './fileRow';
import { UnreadableFile } from './unreadableFile';

/** Maximum characters of a record. */
const maxRecordLength = 1024 * 1024;

const tooLong = (row: number, beginning: string): FileRow<IDataObject> => ({
	row,
	problem: 'The record is longer than 1 MB.',
	text: shortened(beginning),
});

/**
 * Reads newline-delimited JSON, one record a line. Empty lines are skipped; a line that is not a JSON
 * object is reported and reading continues.
 *
 * @returns the records that end in each chunk
 */
export async function* readNdjson(
	chunks: AsyncIterable<string>,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let row = 0;
	for await (const lines of linesOf(chunks)) {
		const rows = lines
			.filter(({ line, isTooLong }) => isTooLong || line.trim() !== '')
			.map(({ line, isTooLong }) => (isTooLong ? tooLong(++row, line) : rowOf(line, ++row)));
		if (rows.length > 0) yield rows;
	}
}

interface TextLine {
	/** Only the beginning, if the record is too long to be held in memory. */
	line: string;
	isTooLong: boolean;
}

/** The lines of a text that end in each chunk. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<TextLine[], void> {
	let rest = '';
	/** The beginning of a line that is too long. */
	let beginning: string | undefined;
	const textLine = (line: string): TextLine => {
		const isTooLong = beginning !== undefined || line.length > maxRecordLength;
		const found = { line: beginning ?? line, isTooLong };
		beginning = undefined;
		return found;
	};
	for await (const chunk of chunks) {
		const lines = (rest + chunk).split('\n');
		rest = lines.pop() ?? '';
		yield lines.map(textLine);
		if (rest.length <= maxRecordLength) continue;
		beginning ??= shortened(rest);
		rest = '';
	}
	if (beginning !== undefined || rest.length > 0) yield [textLine(rest)];
}

/**
 * Reads a JSON array of records. An element that is not an object is reported and reading continues.
 *
 * @returns the records that end in each chunk
 * @throws Error in the user's words if the file is not one JSON array
 */
export async function* readJsonArray(
	chunks: AsyncIterable<string>,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	const parser = new JsonArrayParser();
	for await (const chunk of chunks) {
		const rows: Array<FileRow<IDataObject>> = [];
		const isArray = parser.read(chunk, rows);
		if (rows.length > 0) yield rows;
		if (!isArray) throw notAnArray(parser.row);
	}
	if (!parser.hasEnded) throw notAnArray(parser.row);
}

class JsonArrayParser {
	row = 0;
	/** Brackets open around the current character; -1 before the array, -2 after it. */
	private depth = -1;
	private isInText = false;
	private isEscaped = false;
	private element = '';
	private isTooLong = false;
	/** Whether an element must follow: a comma came last. */
	private isExpected = false;

	get hasEnded(): boolean {
		return this.depth === -2;
	}

	/** @returns false if the text is not a JSON array */
	read(chunk: string, rows: Array<FileRow<IDataObject>>): boolean {
		// This loop runs for each character, so it uses local variables instead of members.
		let { depth, isInText, isEscaped } = this;
		let from = 0;
		for (let at = 0; at < chunk.length; at++) {
			const character = chunk[at]!;
			if (isInText) {
				if (isEscaped) isEscaped = false;
				else if (character === '\\') isEscaped = true;
				else if (character === '"') isInText = false;
				continue;
			}
			if (depth < 0) {
				if (/\s/.test(character)) continue;
				if (depth === -2 || character !== '[') return false;
				depth = 0;
				from = at + 1;
				continue;
			}
			const isClosing = character === ']' && depth === 0;
			if (character === '"') isInText = true;
			else if (character === '{' || character === '[') depth += 1;
			else if (!isClosing && (character === '}' || character === ']')) depth -= 1;
			if (depth < 0) return false;
			if (!isClosing && !(character === ',' && depth === 0)) continue;

			if (!this.isTooLong) this.element += chunk.slice(from, at);
			from = at + 1;
			if (!this.endElement(character, rows)) return false;
			if (isClosing) depth = -2;
		}
		this.depth = depth;
		this.isInText = isInText;
		this.isEscaped = isEscaped;
		if (depth >= 0) this.addToElement(chunk.slice(from));
		return true;
	}

	private addToElement(text: string): void {
		if (!this.isTooLong) this.element += text;
		if (this.element.length <= maxRecordLength) return;
		this.isTooLong = true;
		this.element = shortened(this.element);
	}

	/** @returns false if an element is missing */
	private endElement(end: string, rows: Array<FileRow<IDataObject>>): boolean {
		const isNothing = this.element.trim() === '' && !this.isTooLong;
		if (isNothing && (end === ',' || this.isExpected)) return false;
		if (!isNothing) {
			this.row += 1;
			rows.push(this.isTooLong ? tooLong(this.row, this.element) : rowOf(this.element.trim(), this.row));
		}
		this.isExpected = end === ',';
		this.element = '';
		this.isTooLong = false;
		return true;
	}
}

function rowOf(text: string, row: number): FileRow<IDataObject> {
	let content: unknown;
	try {
		content = parsedValue(text);
	} catch (error) {
		return { row, text, problem: (error as Error).message };
	}
	if (!isObject(content)) {
		const excerpt = text.trim().slice(0, 60);
		return { row, text, problem: `“${excerpt}” is not a JSON object such as { "name": "value" }.` };
	}
	// Each level takes a bracket at its beginning, and one at its end.
	const problem = text.length > 2 * maxLevels ? depthProblem(content) : undefined;
	return problem === undefined ? { row, content } : { row, text, problem: `The record: ${problem}` };
}

const notAnArray = (row: number): UnreadableFile =>
	new UnreadableFile(
		row === 0
			? 'The file is not a JSON array of records, such as [{ "name": "value" }]. For one record per line, choose NDJSON.'
			: `The JSON array is invalid after record ${row}. The records before it were read.`,
	);
