import type { IDataObject } from 'n8n-workflow';

import { readableError } from '../api/connection';
import type { Query } from '../api/http/path';
import { keyDigest } from '../base/digest';
import { passedOn, resultOrError } from '../base/errorOf';
import { withoutMembers } from '../base/ownMembers';
import { uniqueValue } from '../fields/checks';
import { fieldNamed, idField, type Field } from '../fields/field';
import type { JobDescription } from '../api/openapi/writing';
import { csvCells } from '../files/csvWriter';
import { type FileRow, UnreadableFile } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import { isBlank } from '../values/blank';
import { matchKey, valueIn } from '../fields/keys';
import { lookUp, lookUpIds } from '../lookUp/lookUp';
import { customFieldsIfAny } from '../api/customFields';
import { NotationAdvice } from './notationAdvice';
import { meaningsAmong } from '../mapping/fieldNames';
import { fieldsInObject } from '../mapping/objectFields';
import { valuesOfItems, type ItemValues } from '../mapping/itemValues';
import type { StoredFields } from '../mapping/storedFields';
import type { NodeRun } from '../model';
import { inFile, withFieldNames, type ColumnPlan, type ImportTarget } from './importColumns';
import { matchValue, noMatchValue } from '../writing/matchOn';
import { requireAnyValue } from '../writing/requireWrite';

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
	/** The name of the file, which begins the names of its reports. */
	fileName?: string;
	/** Whether values that do not fit their fields are left out; otherwise their row is refused. */
	leavesOut: boolean;
	/** Distinguishes the jobs of one file from those of others of the run; the index of the item if absent. */
	place?: number[];
	/** Takes the values of a row that is ready. */
	noteReady?: ((row: number, values: IDataObject) => void) | undefined;
	/** Takes rows with their outcome, in the order of the file. */
	noteOutcomes?: ((rows: PlannedRow[]) => void) | undefined;
	/** Whether it only adds links to records that were written before. */
	isLinking?: true;
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

/** Why a row was not written. */
export interface Refusal {
	field?: string;
	code: string;
	message: string;
	/** Each of several reasons. */
	reasons?: Array<{ field?: string; message: string }>;
	/** The text of a row that cannot be read. */
	text?: string;
	/** Whether the row may have been written anyway. */
	isUnknown?: true;
}

/** A row of the file with its line and outcome. Thousands wait for their job, as texts, which need a fraction of the memory of objects. */
export interface PlannedRow {
	row: number;
	/** Its cells or members, as the file has them. An unreadable row has none. */
	text: string;
	/** The line of the job, as JSON; undefined if the row is not sent, and once it was sent. */
	line: string | undefined;
	/** What was done to the record of this ID. */
	done: { action: 'created' | 'updated' | 'deleted'; id: string } | undefined;
	refusal: Refusal | undefined;
	/** The values that the row is written without, as it has them, with the names of their fields. */
	leftOut?: Array<{ field: string; value: unknown; message: string }>;
}

/** Keeps a row from being sent. */
export function refuse(planned: PlannedRow, refusal: Refusal): void {
	planned.line = undefined;
	planned.refusal = refusal;
}

/**
 * Reads the rows of a file as the lines of jobs, in slices for one job each: row → values → problems → line. A file that
 * cannot be read to its end ends there, and has a problem.
 *
 * Rows are planned as soon as they are read: thousands of waiting objects would outlive V8's young generation, and n8n's
 * process would grow by all of them until its next full garbage collection.
 *
 * @throws UnreadableFile if no row can be read
 */
export async function* planSlices(
	execution: NodeRun,
	plan: ImportPlan,
	file: FileRecords,
	keys: RowKeys,
): AsyncGenerator<PlannedRow[], void> {
	const { columns } = file;
	const textOf = (content: IDataObject = {}): string =>
		// A delimiter follows each cell.
		(columns ? csvCells([...columns.map((name) => content[name]), null]) : JSON.stringify(content));
	let slice: PlannedRow[] = [];
	let characters = 0;
	let hasRows = plan.isLinking ?? false;
	// The names of the columns, which a line has and a row of CSV lacks. Around each: its quotes, a colon and a comma.
	const namesLength = (columns ?? []).reduce((sum, { length }) => sum + length + 6, 0);
	const advice = plan.isPreview ? new NotationAdvice(execution.n8n) : undefined;
	try {
		for await (const read of file.rows) {
			for (const planned of await planRows(execution, plan, read, textOf, keys, advice)) {
				hasRows = true;
				slice.push(planned);
				characters += planned.text.length + namesLength + (planned.refusal?.text?.length ?? 0);
				if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
				yield slice;
				slice = [];
				characters = 0;
			}
		}
	} catch (error) {
		// What was read before is imported.
		if (!(error instanceof UnreadableFile) || !hasRows) throw passedOn(error);
		file.problem = error.message;
	}
	if (slice.length > 0) yield slice;
	for (const sentence of advice?.all() ?? []) execution.api.notices.add(inFile(plan, sentence));
}

/** A row that can be sent, and what a new record would lack with its values. */
interface ReadyRow {
	planned: PlannedRow;
	values: IDataObject;
	lacks: RowProblem[];
}

/** Reads rows as the lines of a job. An unreadable row is refused on its own. */
async function planRows(
	execution: NodeRun,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	textOf: (content?: IDataObject) => string,
	keys: RowKeys,
	advice: NotationAdvice | undefined,
): Promise<PlannedRow[]> {
	// The description of another service may know other fields and choices.
	const isChecked = plan.isPreview || plan.leavesOut || execution.api.isSelfDescribed();
	const read = await readRows(execution, plan, rows, isChecked, advice);
	const required = await requiredFields(execution, plan, isChecked);
	const ready: ReadyRow[] = [];
	const allPlanned = rows.map(({ row, content, problem, text }): PlannedRow => {
		const unsent: PlannedRow = { row, text: textOf(content), line: undefined, done: undefined, refusal: undefined };
		if (problem !== undefined) return { ...unsent, refusal: { code: 'unreadable_row', message: problem, text } };
		const outcome = lineOf(plan, read.shift()!, required);
		if ('refusal' in outcome) return { ...unsent, ...outcome };
		const { line, item } = outcome;
		const { refusal, isRepeated } = keys.add(row, item.body);
		if (refusal) return { ...unsent, refusal };
		plan.noteReady?.(row, item.body);
		const leftOut = item.refused.map(({ field, value, error }) => ({ field: field.name, value, message: error.message }));
		const planned: PlannedRow = { ...unsent, line, ...(leftOut.length > 0 && { leftOut }) };
		const mayBeNew = plan.matchOn !== undefined && !isRepeated;
		if (plan.isPreview) ready.push({ planned, values: item.body, lacks: mayBeNew ? problemsOfEmpty(plan, item, required) : [] });
		return planned;
	});
	await refuseByRecords(execution, plan, ready);
	return allPlanned;
}

/** The line of a row with its values, or why it has none. */
function lineOf(plan: ImportPlan, item: ItemValues | Error, required: Field[]): { line: string; item: ItemValues } | { refusal: Refusal } {
	const problems = problemsOf(plan, item, plan.operation === 'create' ? required : []);
	if (problems.length > 0 || item instanceof Error) return { refusal: invalid(problems) };
	const line = JSON.stringify(item.body);
	// No UTF-16 code unit takes more than three bytes.
	if (line.length * 3 <= maxLineLength || Buffer.byteLength(line) <= maxLineLength) return { line, item };
	return { refusal: { code: 'too_large', message: 'The record is larger than 1 MB. Shorten its values.' } };
}

/** The values of each readable row, or why it has none. */
async function readRows(
	execution: NodeRun,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	isChecked: boolean,
	advice: NotationAdvice | undefined,
): Promise<Array<ItemValues | Error>> {
	const { operation, fields, path, missing } = plan;
	const items = rows.flatMap(({ content }) => (content ? [{ json: withFieldNames(content, plan.columns) }] : []));
	if (operation === 'delete') {
		const meaningsOf = meaningsAmong(fields);
		const idIn = (json: IDataObject) => uniqueValue(idField, fieldsInObject(meaningsOf, json).values[0]?.value);
		return items.map(({ json }) => resultOrError(() => ({ body: { id: idIn(json) } as IDataObject, refused: [], read: [] })));
	}
	const resource = withoutMembers({ ...execution.resource, path }, 'parents');
	const forRows: NodeRun = {
		...execution,
		resource,
		rows: items,
		missing: { ...execution.missing, idFor: missing.idFor, partFor: missing.partFor },
		checks: { links: plan.isPreview || plan.leavesOut ? 'all' : 'none', values: isChecked },
	};
	const stored: StoredFields = { mode: 'automatic', emptyCells: plan.clearsEmpty ? 'clear' : 'leave', linked: [] };
	const read = await valuesOfItems(forRows, { stored, fields, whenCleared: operation === 'create' ? 'skip' : 'clear' });
	if (!advice) return read;
	for (const item of read) {
		if (item instanceof Error) continue;
		for (const { field, value } of item.read) if (!isBlank(value)) advice.add(field, value);
		for (const { field, value } of item.refused) advice.addRefused(field.name, value);
	}
	return read;
}

/** Refuses rows of a preview that the CRM would refuse because of the records that it has, or lacks. */
async function refuseByRecords({ api }: NodeRun, plan: ImportPlan, ready: ReadyRow[]): Promise<void> {
	const { path, fields, matchOn, isLinking } = plan;
	if (needsId(plan) && !isLinking) {
		const idExists = await lookUpIds(api, path, ready.map(({ values }) => String(values.id)));
		for (const { planned, values } of ready) {
			const id = String(values.id);
			const message = `There is no record with the ID “${id}”, or the credential cannot read it.`;
			if (idExists.get(id) === false) refuse(planned, invalid([{ field: 'id', message }]));
		}
	}
	const incomplete = ready.filter(({ lacks }) => lacks.length > 0);
	const list = incomplete.length > 0 ? (await api.describe(path))?.list : undefined;
	if (matchOn === undefined || !list) return;
	const field = fields.find(({ name }) => name === matchOn) ?? fieldNamed(matchOn);
	const keys = incomplete.map(({ values }) => matchValue(matchOn, values));
	const outcomeOf = await lookUp({ api, path, list, filters: list.filters, fields: [] }, field, keys).catch(() => undefined);
	// Unless it is certain that no record has the value, the row may change one.
	for (const [i, { planned, lacks }] of incomplete.entries()) if ('notFound' in (outcomeOf?.(keys[i]) ?? {})) refuse(planned, invalid(lacks));
}

interface RowProblem {
	field?: string;
	message: string;
	isEmpty?: true;
}

/** The refusal for all problems of a row. */
function invalid(problems: RowProblem[]): Refusal {
	const fields = [...new Set(problems.flatMap(({ field }) => field ?? []))];
	return {
		code: problems.every(({ isEmpty }) => isEmpty) ? 'required' : 'invalid_value',
		message: problems.map(({ message }) => message).join('\n'),
		reasons: problems,
		...(fields.length > 0 && { field: fields.join(', ') }),
	};
}

/** The fields that need a value in each new record; of rows that may find one, only in a preview. */
async function requiredFields({ api }: NodeRun, { operation, fields, path, isPreview }: ImportPlan, hasCustom: boolean): Promise<Field[]> {
	if (operation !== 'create' && !(operation === 'upsert' && isPreview)) return [];
	const custom = hasCustom ? await customFieldsIfAny(api, path, fields) : undefined;
	const ofNew = operation === 'create' ? fields : ((await api.describe(path))?.create?.fields ?? []);
	return [...ofNew, ...(custom?.fields ?? [])].filter((field) => field.required && (field.path.length === 1 || field.type !== undefined));
}

/** Why a row cannot be sent. @param required the fields that need a value */
function problemsOf(plan: ImportPlan, item: ItemValues | Error, required: Field[]): RowProblem[] {
	if (item instanceof Error) return [{ message: readableError(item).message }];
	const ofValues = plan.leavesOut ? [] : item.refused.map(({ field, error }) => ({ field: field.name, message: error.message }));
	const noId = { message: 'The ID is missing, so the record to change is unknown. Fill in the ID.' };
	return [...ofValues, ...(needsId(plan) && isBlank(item.body.id) ? [noId] : problemsOfEmpty(plan, item, required))];
}

const needsId = ({ operation }: ImportPlan): boolean => operation === 'update' || operation === 'delete';

/** The required values that are empty, and the value to match on, unless they were refused. */
function problemsOfEmpty({ operation, matchOn, leavesOut }: ImportPlan, { body: values, refused }: ItemValues, required: Field[]): RowProblem[] {
	// A value that would be left out is why the row is refused; otherwise, it is among the problems already.
	const problemOfEmpty = (field: string, message: string): RowProblem[] => {
		const refusal = refused.find(({ field: { name } }) => name === field);
		return refusal ? (leavesOut ? [{ field, message: refusal.error.message }] : []) : [{ field, message, isEmpty: true }];
	};
	const empty = required.filter((field) => (valueIn(values, field) ?? null) === null);
	const problems = empty.flatMap(({ name, label }) => problemOfEmpty(name, `${label} is empty, but a new record needs it.`));
	if (matchOn !== undefined && isBlank(matchValue(matchOn, values))) problems.unshift(...problemOfEmpty(matchOn, noMatchValue(matchOn)));
	if (problems.length > 0 || (refused.length > 0 && !leavesOut)) return problems;
	const nothing = operation !== 'delete' && resultOrError(() => requireAnyValue(operation === 'update' ? withoutMembers(values, 'id') : values));
	return nothing instanceof Error ? [{ message: nothing.message }] : [];
}

/** How many rows with the key of an earlier one a notice shows. */
const examplesShown = 3;

/**
 * The keys by which the rows of a file find their records, to notice rows that overwrite each other; in a preview of new
 * records, their unique values.
 */
export class RowKeys {
	/** The number of rows with the key of an earlier one. */
	repeated = 0;
	private readonly fields: Field[];
	private readonly isRefused: boolean;
	private readonly rows = new Map<number, number>();
	private readonly examples: string[] = [];

	constructor({ operation, fields, matchOn, isPreview, refusesRepeated }: ImportPlan) {
		this.isRefused = refusesRepeated || operation === 'create';
		if (matchOn !== undefined) this.fields = [fields.find(({ name }) => name === matchOn) ?? fieldNamed(matchOn)];
		else if (operation === 'create') this.fields = isPreview ? fields.filter(({ unique }) => unique) : [];
		else this.fields = [idField];
	}

	/** Adds a row. @returns whether it has the key of an earlier one, and why it is refused if such rows are */
	add(row: number, line: IDataObject): { isRepeated: boolean; refusal?: Refusal } {
		const { rows, examples, isRefused } = this;
		const keys = this.fields.flatMap((field) => {
			const value = matchValue(field.name, line);
			const key = matchKey(field, value);
			// Numbers take a fraction of the memory of texts.
			return key === undefined ? [] : [{ field, value, digest: keyDigest(`${field.name} ${key}`) }];
		});
		const repeated = keys.find(({ digest }) => rows.has(digest));
		const earlier = repeated && rows.get(repeated.digest);
		// A row that is refused takes its other values from no later row.
		if (!repeated || !isRefused) for (const { digest } of keys) rows.set(digest, row);
		if (!repeated) return { isRepeated: false };
		const { field, value } = repeated;
		this.repeated += 1;
		if (examples.length < examplesShown) examples.push(`row ${row} and row ${earlier} (“${value}”)`);
		const message = `${field.label}: row ${earlier} has “${value}”, too.`;
		return { isRepeated: true, ...(isRefused && { refusal: { field: field.name, code: 'repeated_key', message } }) };
	}

	/** What the user should know of rows that overwrite each other. */
	get notice(): string | undefined {
		if (this.repeated === 0 || this.isRefused) return undefined;
		return `${this.repeated} rows have the same ${this.fields[0]!.label} as an earlier row: of these, the last one wins. For example ${this.examples.join(', ')}. To refuse them, set Rows of One Record in the options.`;
	}
}
