import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { inWords } from '../api/connection';
import type { Query } from '../api/http/path';
import { allCustomFields, type Field } from '../fields/field';
import type { JobDescription } from '../api/openapi/jobs';
import { whyRefused } from '../fields/checks';
import type { FileRow } from '../files/fileRow';
import { UnreadableFile } from '../files/unreadableFile';
import { isBlank } from '../values/blank';
import { valueIn } from '../fields/keys';
import { customFieldsOnce } from '../mapping/acceptedFields';
import type { Execution } from '../model';
import type { Refusal, ReportedRow } from './importReport';
import { readJobLines } from './jobLines';
import { matchValue, noMatchValue } from './matchOn';

/** What is done with the rows of a file. */
export interface ImportPlan {
	/** Index of the input item that has the file. */
	item: number;
	operation: 'create' | 'update' | 'upsert' | 'delete';
	description: JobDescription;
	/** The fields the operation takes. */
	fields: Field[];
	/** Path of the records, without version prefix and with the ids of the parents. */
	path: `/${string}`;
	/** The query that starts a job. */
	query: Query;
	/** The field that records are found by, where the query names one. */
	matchOn?: string;
	/** Whether an empty cell clears the field. */
	clearsEmpty: boolean;
	/** The column of each field; automatic where absent. */
	columns?: ReadonlyMap<string, string>;
	/** Mapped columns that no row has had so far. */
	unseen?: Set<string>;
	/** By how much a job's line can exceed its row: the length of the file's column names. */
	namesPerLine: number;
	/** Whether to write nothing and to check each value against the description. */
	isPreview: boolean;
}

/** Maximum rows of one job: the number held in memory, and the most that an interrupted service has to repeat. */
const rowsPerJob = 5_000;
/**
 * Characters of the rows of one job, with the names of their columns; services take some 50 MB. Counted in the
 * file, which is the same for a retry, and not in the lines, of which a retry may have more to send.
 */
const charactersPerJob = 4 * 1024 * 1024;
/** Maximum bytes of one line. */
const maxLineLength = 1024 * 1024;

/**
 * A row of the file with its line. Thousands wait for their job, so each is kept as texts, which take a
 * fraction of the memory of objects.
 */
export interface PlannedRow extends ReportedRow {
	/** The line of the job, as JSON; undefined where the row is not sent, and once it is sent. */
	line: string | undefined;
}

/**
 * Reads the rows of a file as the lines of jobs, in slices for one job each. Rows read before the file proved
 * unreadable are yielded first.
 *
 * Rows are planned as soon as they are read: waiting for their job, thousands of them would outlive V8's young
 * generation, and n8n's process would grow by all of them until its next full collection.
 *
 * @param textOf gives a row as the report has it
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
	const { namesPerLine } = plan;
	let failure: UnreadableFile | undefined;
	const iterator = rows[Symbol.asyncIterator]();
	for (;;) {
		const next = await iterator.next().catch((error: unknown) => {
			// Rows read before the file broke off are imported by a later attempt.
			if (!(error instanceof UnreadableFile)) throw error;
			failure = error;
			return undefined;
		});
		if (!next || next.done) break;
		for (const planned of await planRows(execution, plan, next.value, textOf)) {
			slice.push(planned);
			characters += planned.text.length + namesPerLine + (planned.refusal?.text?.length ?? 0);
			if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
			yield slice;
			slice = [];
			characters = 0;
		}
	}
	if (slice.length > 0) yield slice;
	if (failure) throw failure;
}

/** Reads rows as the lines of a job; one that cannot be read is refused, and the others are not. */
async function planRows(
	execution: Execution,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	textOf: (content?: IDataObject) => string,
): Promise<PlannedRow[]> {
	const items = rows.flatMap(({ content }) => (content ? [{ json: renamed(content, plan) }] : []));
	// The mapping reads the rows as if they were the node's input.
	const n8n = Object.create(execution.n8n, { getInputData: { value: () => items } }) as IExecuteFunctions;
	const read = await readJobLines({ ...execution, n8n }, plan.path, plan.operation, plan.clearsEmpty ? 'clear' : 'leave');
	const checked = plan.isPreview ? await allFields(execution, plan) : [];
	const required = requiredFields(plan, checked);
	let index = 0;
	const all = rows.map(({ row, content, problem, text }) => {
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
			planned.refusal = { code: 'invalid_value', message: inWords(error).message };
		}
		if (planned.refusal) planned.line = undefined;
		return planned;
	});
	const unnamed = all.flatMap(({ refusal }) => (refusal?.code === 'invalid_value' && refusal.field === undefined ? [refusal] : []));
	// If the mapping knows that a value does not fit a custom field, it has already read the custom fields.
	const fields = unnamed.length > 0 ? await allFields(execution, plan) : [];
	for (const refusal of unnamed) Object.assign(refusal, fieldIn(refusal.message, fields));
	return all;
}

/** The fields of the operation and the account's custom ones. */
async function allFields({ api }: Execution, { fields, path }: ImportPlan): Promise<Field[]> {
	if (!fields.some(({ name }) => name === allCustomFields)) return fields;
	return [...fields, ...((await customFieldsOnce(api, `/v1${path}`))?.fields ?? [])];
}

function renamed(content: IDataObject, { columns, unseen }: ImportPlan): IDataObject {
	if (!columns) return content;
	for (const column of unseen ?? []) if (Object.hasOwn(content, column)) unseen?.delete(column);
	const entries = [...columns].flatMap(([field, column]) =>
		Object.hasOwn(content, column) ? [[field, content[column]]] : [],
	);
	return Object.fromEntries(entries) as IDataObject;
}

/** The fields that a line of a job has to have a value for; the custom ones in a preview, where they are read. */
function requiredFields({ operation, fields }: ImportPlan, checked: Field[]): Field[] {
	if (operation !== 'create') return [];
	const isAsked = ({ required, path, type }: Field) => required && (path.length === 1 || type !== undefined);
	return [...new Set([...fields, ...checked])].filter(isAsked);
}

/** The field of an error, whose message begins with the field's label. */
function fieldIn(message: string, fields: Field[]): Pick<Refusal, 'field'> {
	const about = fields.filter(({ label, name }) => [label, name].some((called) => message.startsWith(`${called}: `)));
	const [field] = about.sort((a, b) => b.label.length - a.label.length);
	return field ? { field: field.name } : {};
}

/** Why the service would refuse a value of the line, as far as its description says. */
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
	return { code: 'too_large', message: 'The record is larger than 1 MB.' };
}
