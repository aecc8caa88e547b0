import type { IDataObject } from 'n8n-workflow';

import { readableError } from '../api/connection';
import type { Query } from '../api/http/path';
import { jsonText } from '../base/numbers';
import { isPlainObject, memberAtPath } from '../base/ownMembers';
import { exactBody } from '../fields/exactBody';
import { allCustomFields, type Field } from '../fields/field';
import type { JobDescription } from '../api/openapi/writing';
import { whyRefused } from '../fields/checks';
import type { FileRow } from '../files/fileRow';
import { UnreadableFile } from '../files/unreadableFile';
import { isBlank } from '../values/blank';
import { valueIn } from '../fields/keys';
import { customFieldsOnce } from '../mapping/acceptedFields';
import { NotationAdvice } from '../mapping/chosenNotations';
import type { RefusedValue } from '../mapping/prepareValues';
import type { Execution } from '../model';
import { withFieldNames, type ColumnPlan, type ImportTarget } from './importColumns';
import { LinkedRecordCheck } from './importLinks';
import type { RowKeys } from './importKeys';
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
	/** Whether values that do not fit their fields are left out; otherwise their row is refused. */
	leavesOut: boolean;
	/** Whether a row with the key of an earlier one is refused; otherwise the later one wins. */
	refusesRepeated: boolean;
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
	keys: RowKeys,
): AsyncGenerator<PlannedRow[], void> {
	let slice: PlannedRow[] = [];
	let characters = 0;
	const { namesLength } = plan;
	let failure: UnreadableFile | undefined;
	const context = {
		textOf,
		keys,
		links: plan.isPreview ? new LinkedRecordCheck(execution, await allFields(execution, plan)) : undefined,
		advice: plan.isPreview ? new NotationAdvice(execution.n8n.getTimezone()) : undefined,
	};
	const iterator = rows[Symbol.asyncIterator]();
	for (;;) {
		const next = await iterator.next().catch((error: unknown) => {
			// The rows read so far are planned and yielded first.
			if (!(error instanceof UnreadableFile)) throw error;
			failure = error;
			return undefined;
		});
		if (!next || next.done) break;
		for (const planned of await planRows(execution, plan, next.value, context)) {
			slice.push(planned);
			characters += planned.text.length + namesLength + (planned.refusal?.text?.length ?? 0);
			if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
			yield slice;
			slice = [];
			characters = 0;
		}
	}
	if (slice.length > 0) yield slice;
	for (const advice of context.advice?.all() ?? []) execution.api.notices.add(advice);
	if (failure) throw failure;
}

/** Reads rows as the lines of a job. An unreadable row is refused on its own. */
async function planRows(
	execution: Execution,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	{ textOf, keys, links, advice }: RowContext,
): Promise<PlannedRow[]> {
	const items = rows.flatMap(({ content }) => (content ? [{ json: withFieldNames(content, plan.columns) }] : []));
	let refused: RefusedValue[] = [];
	const read = await readJobLines({ ...execution, rows: items }, plan.path, plan.operation, plan.clearsEmpty ? 'clear' : 'leave', {
		saw: (field, value) => advice?.add(field, value),
		leftOut: (value) => refused.push(value),
	});
	// The description of another service may know other fields and choices.
	const isChecked = plan.isPreview || plan.leavesOut || execution.api.isSelfDescribed();
	const checked = isChecked ? await allFields(execution, plan) : plan.fields;
	const required = requiredFields(plan, checked);
	let index = 0;
	const planned = rows.map(({ row, content, problem, text }): PlannedRow => {
		const plannedRow: PlannedRow = { row, text: textOf(content), line: undefined, done: undefined, refusal: undefined };
		if (problem !== undefined) return { ...plannedRow, refusal: { code: 'unreadable_row', message: problem, text } };
		refused = [];
		const line = errorOr(() => read(index++));
		if (line instanceof Error && refused.length === 0) return { ...plannedRow, refusal: invalid([{ message: line.message }]) };
		const body = line instanceof Error ? {} : line;
		if (isChecked) refused.push(...refusedValues(body, checked));
		for (const { field, value } of refused) advice?.refused(field.name, value);
		if (plan.leavesOut) for (const { field } of refused) removeValue(body, field);
		const names = new Set(plan.leavesOut ? [] : refused.map(({ field }) => field.name));
		const problems = [
			...(plan.leavesOut ? [] : refused.map(({ field, message }) => ({ field: field.name, message }))),
			...missingValues(body, required.filter(({ name }) => !names.has(name)), names.has(plan.matchOn ?? '') ? undefined : plan.matchOn),
		];
		if (problems.length > 0) return { ...plannedRow, refusal: invalid(problems) };
		if (Object.keys(body).length === 0) return { ...plannedRow, refusal: invalid([{ message: 'None of the row’s values can be written.' }]) };
		const json = jsonText(exactBody(plan.fields, body));
		const refusal = lineTooLarge(json) ?? keys.refusalOf(row, body);
		if (refusal) return { ...plannedRow, refusal };
		links?.add(body);
		return { ...plannedRow, line: json, ...(refused.length > 0 && { leftOut: refused }) };
	});
	await links?.read();
	for (const plannedRow of planned) {
		if (plannedRow.line === undefined) continue;
		const problems = links?.problemsOf(JSON.parse(plannedRow.line) as IDataObject) ?? [];
		if (problems.length > 0) Object.assign(plannedRow, { line: undefined, refusal: invalid(problems) });
	}
	return planned;
}

/** What the rows of a file share. */
interface RowContext {
	/** Returns the text of a row in the report. */
	textOf: (content?: IDataObject) => string;
	keys: RowKeys;
	/** Only in a preview: the service itself refuses links that lead nowhere. */
	links: LinkedRecordCheck | undefined;
	/** Only in a preview. */
	advice: NotationAdvice | undefined;
}

interface RowProblem {
	field?: string;
	message: string;
	isMissing?: true;
}

const errorOr = <Value>(read: () => Value): Value | Error => {
	try {
		return read();
	} catch (error) {
		return readableError(error);
	}
};

/** The refusal for all problems of a row. */
function invalid(problems: RowProblem[]): Refusal {
	const fields = [...new Set(problems.flatMap(({ field }) => field ?? []))];
	return {
		code: problems.every(({ isMissing }) => isMissing) ? 'required' : 'invalid_value',
		message: problems.map(({ message }) => message).join('\n'),
		reasons: problems,
		...(fields.length > 0 && { field: fields.join(', ') }),
	};
}

function removeValue(body: IDataObject, { name }: Pick<Field, 'name'>): void {
	const path = name.split('.');
	const parent = memberAtPath(body, path.slice(0, -1));
	if (isPlainObject(parent)) delete (parent as IDataObject)[path.at(-1)!];
	if (path.length > 1 && isPlainObject(parent) && Object.keys(parent).length === 0) removeValue(body, { name: path.slice(0, -1).join('.') });
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

/** The values of the line that the service would refuse, according to its description. */
const refusedValues = (line: IDataObject, checked: Field[]): RefusedValue[] =>
	checked.flatMap((field) => {
		const value = valueIn(line, field);
		const message = whyRefused(field, value);
		return message === undefined ? [] : [{ field, value, message }];
	});

/** The required values that a line lacks, and the value to match on. */
function missingValues(line: IDataObject, required: Field[], matchOn: string | undefined): RowProblem[] {
	const empty = required.filter((field) => (valueIn(line, field) ?? null) === null);
	const matched = matchOn === undefined ? '' : errorOr(() => matchValue(matchOn, line));
	return [
		...(matched instanceof Error ? [{ field: matchOn!, message: matched.message }] : []),
		...(matchOn !== undefined && isBlank(matched) ? [{ field: matchOn, message: noMatchValue(matchOn), isMissing: true as const }] : []),
		...empty.map(({ name, label }) => ({ field: name, message: `${label} is empty, but a new record needs it.`, isMissing: true as const })),
	];
}

function lineTooLarge(text: string): Refusal | undefined {
	// No UTF-16 code unit takes more than three bytes.
	if (text.length * 3 <= maxLineLength || Buffer.byteLength(text) <= maxLineLength) return undefined;
	return { code: 'too_large', message: 'The record is larger than 1 MB. Shorten its values.' };
}
