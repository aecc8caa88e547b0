import type { IDataObject } from 'n8n-workflow';

import { parseJson } from '../api/http/json';
import type { FileRow } from './csvReader';

/** Characters of one record. */
const longestRecord = 1024 * 1024;

const tooLong = 'The record is longer than 1 MB.';

/**
 * Reads newline-delimited JSON, one record a line. Empty lines are skipped; a line that is not a JSON
 * object is reported and reading continues.
 */
export async function* readNdjson(
	chunks: AsyncIterable<string>,
): AsyncGenerator<FileRow<IDataObject>, void> {
	let row = 0;
	for await (const line of linesOf(chunks)) {
		if (line?.trim() === '') continue;
		row += 1;
		yield line === undefined ? { row, problem: tooLong } : rowOf(line, row);
	}
}

/** The lines of a text; undefined for one that is too long to be held. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string | undefined, void> {
	let rest = '';
	let isTooLong = false;
	for await (const chunk of chunks) {
		const lines = (rest + chunk).split('\n');
		rest = lines.pop() ?? '';
		for (const line of lines) {
			yield isTooLong || line.length > longestRecord ? undefined : line;
			isTooLong = false;
		}
		if (rest.length <= longestRecord) continue;
		isTooLong = true;
		rest = '';
	}
	if (isTooLong || rest.length > 0) yield isTooLong ? undefined : rest;
}

/**
 * Reads a JSON array of records, one element at a time. An element that is not an object is reported
 * and reading continues.
 *
 * @throws Error in the user's words where the file is not one JSON array
 */
export async function* readJsonArray(
	chunks: AsyncIterable<string>,
): AsyncGenerator<FileRow<IDataObject>, void> {
	let row = 0;
	/** Brackets open around the current character; -1 before the array, -2 after it. */
	let depth = -1;
	let isInText = false;
	let isEscaped = false;
	let element = '';
	let isTooLong = false;
	let isExpected = false;

	for await (const chunk of chunks) {
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
				if (depth === -2 || character !== '[') throw notAnArray(row);
				depth = 0;
				from = at + 1;
				continue;
			}
			if (character === '"') isInText = true;
			else if (character === '{' || character === '[') depth += 1;
			else if (character === '}') depth -= 1;
			const isClosing = character === ']' && depth === 0;
			if (character === ']' && !isClosing) depth -= 1;
			if (depth < 0) throw notAnArray(row);
			if (!isClosing && !(character === ',' && depth === 0)) continue;

			element += chunk.slice(from, at);
			from = at + 1;
			const isNothing = element.trim() === '' && !isTooLong;
			if (isNothing && (character === ',' || isExpected)) throw notAnArray(row);
			if (!isNothing) {
				row += 1;
				yield isTooLong ? { row, problem: tooLong } : rowOf(element, row);
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
