import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import type { Field } from '../api/openapi/fields';
import type { JobDescription } from '../api/openapi/jobs';
import type { FileRow } from '../files/csvReader';
import { valueAt } from '../mapping/expressions/template';
import { automaticMapping } from '../mapping/stored';
import type { Execution } from '../model';
import type { Refusal } from './importReport';
import { readJobLines } from './jobLines';

/** What is done with the rows of a file. */
export interface ImportPlan {
	/** Index of the input item that has the file. */
	item: number;
	operation: 'create' | 'update' | 'upsert' | 'delete';
	description: JobDescription;
	/** The fields the operation takes. */
	fields: Field[];
	/** Of the records, without version prefix, the ids of its parents filled in. */
	path: `/${string}`;
	/** The query that starts a job. */
	query: Query;
	/** Whether an empty cell clears the field. */
	clearsEmpty: boolean;
	/** The column of each field; automatic where absent. */
	columns?: ReadonlyMap<string, string>;
	/** Read that many rows and write nothing. */
	trialRows?: number;
}

/** Rows of one job: what is held in memory, and what a service that stops has to repeat at most. */
const rowsPerJob = 5_000;
/** Characters of the rows of one job; services take some 50 MB. */
const charactersPerJob = 4 * 1024 * 1024;
/** Bytes of one line that services take. */
const longestLine = 1024 * 1024;

/** A row of the file, and what is to be done with it. */
export interface PlannedRow {
	row: number;
	content?: IDataObject;
	/** The line of the job; absent where the row cannot be read. */
	line?: IDataObject;
	refusal?: Refusal;
}

/** Thrown by the reader of a file. */
export class UnreadableFile extends Error {}

/**
 * The rows in slices for one job each. What was read before the file proved unreadable comes first.
 *
 * @throws UnreadableFile
 */
export async function* slicesOf(
	rows: AsyncIterable<FileRow<IDataObject>>,
	limit = Infinity,
): AsyncGenerator<Array<FileRow<IDataObject>>, void> {
	let slice: Array<FileRow<IDataObject>> = [];
	let characters = 0;
	let count = 0;
	let failure: UnreadableFile | undefined;
	const iterator = rows[Symbol.asyncIterator]();
	while (count < limit) {
		const next = await iterator.next().catch((error: Error) => {
			failure = new UnreadableFile(error.message, { cause: error });
			return undefined;
		});
		if (!next || next.done) break;
		count += 1;
		slice.push(next.value);
		characters += sizeOf(next.value.content);
		if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
		yield slice;
		slice = [];
		characters = 0;
	}
	if (slice.length > 0) yield slice;
	if (failure) throw failure;
}

function sizeOf(content: IDataObject = {}): number {
	let size = 0;
	for (const [name, value] of Object.entries(content)) {
		size += name.length + (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).length;
	}
	return size;
}

/** Reads the lines of a job; a row that cannot be read is refused, and the others are not. */
export async function planRows(
	execution: Execution,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
): Promise<PlannedRow[]> {
	const readable = rows.flatMap(({ content }) => (content ? [renamed(content, plan.columns)] : []));
	const items = readable.map((json) => ({ json }));
	// The mapping reads the rows as if they were the node's input.
	const n8n = Object.create(execution.n8n, { getInputData: { value: () => items } }) as IExecuteFunctions;
	const mapping = automaticMapping((item) => readable[item] ?? {}, plan.clearsEmpty ? 'clear' : 'leave');
	const read = await readJobLines({ ...execution, n8n }, plan.path, plan.operation, mapping);
	let index = 0;
	return rows.map(({ row, content, problem }) => {
		if (problem !== undefined) return { row, refusal: { code: 'unreadable_row', message: problem } };
		try {
			const line = read(index++);
			return { row, content, ...checked(line, plan) };
		} catch (error) {
			return { row, content, refusal: { code: 'invalid_value', message: (error as Error).message } };
		}
	});
}

function renamed(content: IDataObject, columns: ReadonlyMap<string, string> | undefined): IDataObject {
	if (!columns) return content;
	const entries = [...columns].flatMap(([field, column]) =>
		Object.hasOwn(content, column) ? [[field, content[column]]] : [],
	);
	return Object.fromEntries(entries) as IDataObject;
}

/** What would be refused by any service: a line that is too long or, when creating, lacks a value. */
function checked(line: IDataObject, { operation, fields }: ImportPlan): Pick<PlannedRow, 'line' | 'refusal'> {
	const missing =
		operation === 'create' &&
		fields.find(({ required, path }) => {
			const value = valueAt(line, path)[0];
			return required && path.length === 1 && (value === undefined || value === null);
		});
	if (missing) {
		const message = `${missing.label}: it is empty, and a new record needs it.`;
		return { refusal: { field: missing.name, code: 'required', message } };
	}
	if (Buffer.byteLength(JSON.stringify(line)) <= longestLine) return { line };
	return { refusal: { code: 'too_large', message: 'The record is larger than 1 MB.' } };
}
