import type { IDataObject } from 'n8n-workflow';

import { resultOrError } from '../base/results';
import { isObject, parsedValue } from '../base/json';
import { depthProblem, maxLevels } from '../base/numbers';
import type { FileRow } from './fileRow';

/** Maximum characters of a record. */
const maxRecordLength = 1024 * 1024;

/**
 * Reads newline-delimited JSON, one record a line. Empty lines are skipped; a line that is not a JSON
 * object is reported and reading continues.
 *
 * @returns the records that end in each chunk
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

export function contentRow(content: unknown, text: string, row: number): FileRow<IDataObject> {
	if (!isObject(content)) {
		const excerpt = text.trim().slice(0, 60);
		return { row, text, problem: `“${excerpt}” is not a JSON object such as { "name": "value" }.` };
	}
	// Each level takes a bracket at its beginning, and one at its end.
	const problem = text.length > 2 * maxLevels ? depthProblem(content) : undefined;
	return problem === undefined ? { row, content } : { row, text, problem: `The record: ${problem}` };
}
