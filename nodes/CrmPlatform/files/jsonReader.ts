import type { IDataObject } from 'n8n-workflow';

import { isObject, parsedValue } from '../base/json';
import { depthProblem, maxLevels } from '../base/numbers';
import { shortened, type FileRow, UnreadableFile } from './fileRow';

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

/** Maximum characters of a JSON array, which is read as a whole. */
const maxArrayLength = 16 * 1024 * 1024;

/**
 * Reads a JSON array of records. An element that is not an object is reported and reading continues.
 *
 * @throws Error in the user's words if the file is not one JSON array, or too large
 */
export async function* readJsonArray(
	chunks: AsyncIterable<string>,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let text = '';
	for await (const chunk of chunks) {
		text += chunk;
		if (text.length > maxArrayLength) throw new UnreadableFile('The JSON array is larger than 16 MB. Save it as NDJSON, one record a line.');
	}
	yield elementsOf(text).map((element, i) => contentRow(element, JSON.stringify(element), i + 1));
}

function elementsOf(text: string): unknown[] {
	let problem = 'It is another JSON value.';
	try {
		const elements = parsedValue(text);
		if (Array.isArray(elements)) return elements;
	} catch (error) {
		problem = (error as Error).message;
	}
	throw new UnreadableFile(`The file must be a JSON array of records, such as [{ "name": "value" }]. ${problem} For one record per line, choose NDJSON.`);
}

function rowOf(text: string, row: number): FileRow<IDataObject> {
	try {
		return contentRow(parsedValue(text), text, row);
	} catch (error) {
		return { row, text, problem: (error as Error).message };
	}
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
