import type { IDataObject } from 'n8n-workflow';

import { parseJson } from '../api/http/json';
import type { FileRow } from './csvReader';

/** Characters of one record. */
const longestRecord = 1024 * 1024;

const tooLong = 'The record is longer than 1 MB.';

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
			.filter((line) => line?.trim() !== '')
			.map((line): FileRow<IDataObject> => {
				row += 1;
				return line === undefined ? { row, problem: tooLong } : rowOf(line, row);
			});
		if (rows.length > 0) yield rows;
	}
}

/** The lines of a text that end in each chunk; undefined for one that is too long to be held. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<Array<string | undefined>, void> {
	let rest = '';
	let isTooLong = false;
	for await (const chunk of chunks) {
		const lines = (rest + chunk).split('\n');
		rest = lines.pop() ?? '';
		yield lines.map((line) => {
			const isLost = isTooLong || line.length > longestRecord;
			isTooLong = false;
			return isLost ? undefined : line;
		});
		if (rest.length <= longestRecord) continue;
		isTooLong = true;
		rest = '';
	}
	if (isTooLong || rest.length > 0) yield [isTooLong ? undefined : rest];
}

/**
 * Reads a JSON array of records. An element that is not an object is reported and reading continues.
 *
 * @returns the records that end in each chunk
 * @throws Error in the user's words where the file is not one JSON array
 */
export async function* readJsonArray(
	chunks: AsyncIterable<string>,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let row = 0;
	/** Brackets open around the current character; -1 before the array, -2 after it. */
	let depth = -1;
	let isInText = false;
	let isEscaped = false;
	let element = '';
	let isTooLong = false;
	let isExpected = false;

	/** @returns false where the text is not a JSON array */
	const readChunk = (chunk: string, rows: Array<FileRow<IDataObject>>): boolean => {
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
			if (character === '"') isInText = true;
			else if (character === '{' || character === '[') depth += 1;
			else if (character === '}') depth -= 1;
			const isClosing = character === ']' && depth === 0;
			if (character === ']' && !isClosing) depth -= 1;
			if (depth < 0) return false;
			if (!isClosing && !(character === ',' && depth === 0)) continue;

			element += chunk.slice(from, at);
			from = at + 1;
			const isNothing = element.trim() === '' && !isTooLong;
			if (isNothing && (character === ',' || isExpected)) return false;
			if (!isNothing) {
				row += 1;
				rows.push(isTooLong ? { row, problem: tooLong } : rowOf(element, row));
			}
			isExpected = character === ',';
			element = '';
			isTooLong = false;
			if (isClosing) depth = -2;
		}
		if (depth >= 0 && !isTooLong) element += chunk.slice(from);
		if (element.length > longestRecord) {
			isTooLong = true;
			element = '';
		}
		return true;
	};

	for await (const chunk of chunks) {
		const rows: Array<FileRow<IDataObject>> = [];
		const isArray = readChunk(chunk, rows);
		if (rows.length > 0) yield rows;
		if (!isArray) throw notAnArray(row);
	}
	if (depth !== -2) throw notAnArray(row);
}

function rowOf(text: string, row: number): FileRow<IDataObject> {
	const value = parseJson(text);
	if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
		return { row, content: value as IDataObject };
	}
	const excerpt = text.trim().slice(0, 60);
	return { row, problem: `'${excerpt}' is not a JSON object such as { "name": "value" }.` };
}

const notAnArray = (row: number): Error =>
	new Error(
		row === 0
			? 'The file is not a JSON array of records, such as [{ "name": "value" }]. For one record a line, choose NDJSON.'
			: `The JSON array is broken after record ${row}. The records before it were read.`,
	);
