import type { IDataObject } from 'n8n-workflow';

import { readableError } from '../api/connection';
import type { Query } from '../api/http/path';
import { withMembers } from '../base/withMembers';
import { allCustomFields, type Field } from '../fields/field';
import type { JobDescription } from '../api/openapi/jobs';
import { whyRefused } from '../fields/checks';
import { FieldError } from '../fields/fieldError';
import type { FileRow } from '../files/fileRow';
import { UnreadableFile } from '../files/unreadableFile';
import { isBlank } from '../values/blank';
import { valueIn } from '../fields/keys';
import { customFieldsOnce } from '../mapping/acceptedFields';
import type { Execution } from '../model';
import { withFieldNames, type ColumnPlan, type ImportTarget } from './importColumns';
import type { Refusal, ReportedRow } from './importReport';
import { readJobLines } from './jobLines';
import { matchValue, noMatchValue } from './matchOn';

/** How the rows of a file are imported. */
export interface ImportPlan extends ImportTarget {
	/** Index of the input item with the file. */
	item: number;
	description: JobDescription;
	/** The query that starts a job. */
	query: Query;
	/** The field by which records are found, if the query names one. */
	matchOn?: string;
	/** Whether an empty cell clears the field. */
	clearsEmpty: boolean;
	columns: ColumnPlan;
	/** Maximum characters by which a line exceeds its row: the length of the file’s column names. */
	namesLength: number;
}

/** Maximum rows of one job, which limits the rows in memory and the rows that an interrupted service has to repeat. */
const rowsPerJob = 5_000;
/**
 * Maximum characters of the rows of one job, with the names of their columns; services accept some 50 MB. Counted in the
 * file, which is the same for a retry, and not in the lines, since a retry may send more of them.
 */
const charactersPerJob = 4 * 1024 * 1024;
/** Maximum bytes of one line. */
const maxLineLength = 1024 * 1024;

/** A row of the file with its line. Thousands wait for their job, as texts, which need a fraction of the memory of objects. */
export interface PlannedRow extends ReportedRow {
	/** The line of the job, as JSON; undefined if the row is not sent, and once it was sent. */
	line: string | undefined;
}

/**
 * Reads the rows of a file as the lines of jobs, in slices for one job each. If the file proves unreadable, the rows read
 * before are yielded first.
 *
 * Rows are planned as soon as they are read: thousands of waiting objects would outlive V8's young generation, and n8n's
 * process would grow by all of them until its next full garbage collection.
 *
 * @param textOf returns the text of a row in the report
 * @throws UnreadableFile; any other error of reading immediately
 */
export async function* plannedSlices(
	execution: Execution,
	plan: ImportPlan,
	rows: AsyncIterable<Array<FileRow<IDataObject>>>,
	textOf: (content?: IDataObject) => string,
): AsyncGenerator<PlannedRow[], void> {
	let slice: PlannedRow[] = [];
	let characters = 0;
	const { namesLength } = plan;
	let failure: UnreadableFile | undefined;
	const iterator = rows[Symbol.asyncIterator]();
	for (;;) {
		const next = await iterator.next().catch((error: unknown) => {
			// The rows read so far are planned and yielded first.
			if (!(error instanceof UnreadableFile)) throw error;
			failure = error;
			return undefined;
		});
		if (!next || next.done) break;
		for (const planned of await planRows(execution, plan, next.value, textOf)) {
			slice.push(planned);
			characters += planned.text.length + namesLength + (planned.refusal?.text?.length ?? 0);
			if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
			yield slice;
			slice = [];
			characters = 0;
		}
	}
	if (slice.length > 0) yield slice;
	if (failure) throw failure;
}

/** Reads rows as the lines of a job. An unreadable row is refused on its own. */
async function planRows(
	execution: Execution,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	textOf: (content?: IDataObject) => string,
): Promise<PlannedRow[]> {
	const items = rows.flatMap(({ content }) => (content ? [{ json: withFieldNames(content, plan.columns) }] : []));
	// The mapping reads the rows as if they were the node's input.
	const n8n = withMembers(execution.n8n, { getInputData: () => items });
	const read = await readJobLines({ ...execution, n8n }, plan.path, plan.operation, plan.clearsEmpty ? 'clear' : 'leave');
	const checked = plan.isPreview ? await allFields(execution, plan) : [];
	const required = requiredFields(plan, checked);
	let index = 0;
	return rows.map(({ row, content, problem, text }) => {
		const planned: PlannedRow = { row, text: textOf(content), line: undefined, done: undefined, refusal: undefined };
		if (problem !== undefined) {
			planned.refusal = { code: 'unreadable_row', message: problem, text };
			return planned;
		}
		try {
			const line = read(index++);
			planned.line = JSON.stringify(line);
			planned.refusal = refusalBefore(line, planned.line, required, plan.matchOn) ?? refusedValue(line, checked);
		} catch (error) {
			planned.refusal = { code: 'invalid_value', message: readableError(error).message, ...(error instanceof FieldError && { field: error.field }) };
		}
		if (planned.refusal) planned.line = undefined;
		return planned;
	});
}

/** The fields of the operation, with the account's custom fields. */
async function allFields({ api }: Execution, { fields, path }: ImportPlan): Promise<Field[]> {
	if (!fields.some(({ name }) => name === allCustomFields)) return fields;
	return [...fields, ...((await customFieldsOnce(api, `/v1${path}`))?.fields ?? [])];
}

/** The fields that need a value in each line of a job; custom fields only in a preview, which reads them. */
function requiredFields({ operation, fields }: ImportPlan, checked: Field[]): Field[] {
	if (operation !== 'create') return [];
	const isRequired = ({ required, path, type }: Field) => required && (path.length === 1 || type !== undefined);
	return [...new Set([...fields, ...checked])].filter(isRequired);
}

/** Why the service would refuse a value of the line, according to its description. */
function refusedValue(line: IDataObject, checked: Field[]): Refusal | undefined {
	for (const field of checked) {
		const message = whyRefused(field, valueIn(line, field));
		if (message !== undefined) return { field: field.name, code: 'invalid_value', message };
	}
	return undefined;
}

/** Why a line is not sent: it is too long, or lacks a required value or the value to match on. */
function refusalBefore(line: IDataObject, text: string, required: Field[], matchOn?: string): Refusal | undefined {
	if (matchOn !== undefined && isBlank(matchValue(matchOn, line))) {
		return { field: matchOn, code: 'required', message: noMatchValue(matchOn) };
	}
	for (const field of required) {
		const { name, label } = field;
		const value = valueIn(line, field);
		if (value !== undefined && value !== null) continue;
		return { field: name, code: 'required', message: `${label} is empty, but a new record needs it.` };
	}
	// No UTF-16 code unit takes more than three bytes.
	if (text.length * 3 <= maxLineLength || Buffer.byteLength(text) <= maxLineLength) return undefined;
	return { code: 'too_large', message: 'The record is larger than 1 MB. Shorten its values.' };
}
