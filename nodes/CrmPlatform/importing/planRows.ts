import type { IDataObject } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import { readableError } from '../api/connection';
import { resultOrError } from '../base/results';
import { withoutMembers } from '../base/ownMembers';
import { idField, type Field } from '../fields/field';
import { valueIn } from '../fields/keys';
import { normalizedUnique } from '../fields/sourceMistakes';
import { csvCells } from '../files/csvWriter';
import type { FileRow } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import { lookUpIds } from '../lookUp/byId';
import { lookUp } from '../lookUp/lookUp';
import { meaningsAmong } from '../mapping/fieldNames';
import { valuesOfItems, type ItemValues } from '../mapping/itemValues';
import { fieldsInObject } from '../mapping/objectFields';
import type { StoredFields } from '../mapping/storedFields';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { matchValue, noMatchValue } from '../writing/matchOn';
import { requireAnyValue } from '../writing/requireWrite';
import type { ExpectedRecords } from './expectedRecords';
import { cellConversion } from './fileSurvey';
import { withFieldNames } from './importColumns';
import { inFile, type ImportPlan, type PlannedRow, type Refusal } from './importPlan';
import { NotationAdvice } from './notationAdvice';
import type { RowKeys } from './rowKeys';

/** Maximum rows of one job, which limits the rows in memory and the rows that an interrupted service has to repeat. */
const rowsPerJob = 5_000;
/**
 * Maximum characters of the rows of one job, with the names of their columns; services accept some 50 MB. Counted in the
 * file, which is the same for a retry, and not in the lines, since a retry may send more of them.
 */
const charactersPerJob = 4 * 1024 * 1024;
/** Maximum bytes of one line. */
const maxLineLength = 1024 * 1024;

/**
 * Reads the rows of a file as the lines of jobs, in slices for one job each: row → values → problems → line.
 *
 * Rows are planned as soon as they are read: thousands of waiting objects would outlive V8's young generation, and n8n's
 * process would grow by all of them until its next full garbage collection.
 */
export async function* planSlices(
	run: NodeRun,
	plan: ImportPlan,
	file: FileRecords,
	{ keys, expected }: { keys: RowKeys; expected: ExpectedRecords | undefined },
): AsyncGenerator<PlannedRow[], void> {
	// The description of another service may know other fields and choices.
	const isChecked = plan.isPreview || plan.leavesOut || run.api.isSelfDescribed();
	const required = await requiredFields(run, plan, isChecked);
	const advice = plan.isPreview ? new NotationAdvice(cellConversion(run.n8n)) : undefined;
	const { columns } = file;
	// The names of the columns, which a line has and a row of CSV lacks. Around each: its quotes, a colon and a comma.
	const namesLength = (columns ?? []).reduce((sum, { length }) => sum + length + 6, 0);
	let slice: PlannedRow[] = [];
	let characters = 0;
	for await (const rows of file.rows) {
		const items = await valuesOfRows(run, plan, rows, isChecked);
		for (const item of items.values()) if (!(item instanceof Error)) advice?.add(item);
		const checked = rows.map((row) => checkedRow(plan, row, items.get(row.row)!, { required, keys }));
		const refusals = plan.isPreview ? await refusalsByRecords(run, plan, checked, required) : new Map<number, Refusal>();
		for (const [i, { row, item, line, refusal = refusals.get(row) }] of checked.entries()) {
			const text = rowText(columns, rows[i]!.content);
			if (refusal || !item) {
				slice.push({ row, text, line: undefined, refusal });
			} else {
				const leftOut = item.refused.map(({ field, value, error }) => ({ field: field.name, value, message: error.message }));
				slice.push({ row, text, line, ...(leftOut.length > 0 && { leftOut }) });
			}
			// A record is there without a late link that is refused.
			if (item && (!refusal || plan.writtenIds)) expected?.add(plan, row, item);
			characters += text.length + namesLength + (refusal?.text?.length ?? 0);
			if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
			yield slice;
			slice = [];
			characters = 0;
		}
	}
	if (slice.length > 0) yield slice;
	for (const sentence of advice?.all() ?? []) run.api.notices.add(inFile(plan, sentence));
}

/** A row as the files of the report have it. In CSV, a delimiter follows each cell. */
const rowText = (columns: FileRecords['columns'], content: IDataObject = {}): string =>
	(columns ? csvCells([...columns.map((name) => content[name]), null]) : JSON.stringify(content));

/** A row with its line and its values, or why it has none. */
interface CheckedRow {
	row: number;
	line?: string;
	item?: ItemValues;
	/** Whether an earlier row has its key, and so its record exists by then. */
	isRepeated?: boolean;
	refusal?: Refusal;
}

/** @param item the values of a readable row, or why it has none */
function checkedRow(
	plan: ImportPlan,
	{ row, problem, text }: FileRow<IDataObject>,
	item: ItemValues | Error,
	{ required, keys }: { required: Field[]; keys: RowKeys },
): CheckedRow {
	if (problem !== undefined) return { row, refusal: { code: 'unreadable_row', message: problem, text } };
	const problems = problemsOf(plan, item, plan.operation === 'create' ? required : []);
	if (item instanceof Error) return { row, refusal: invalid(problems) };
	if (problems.length > 0) return { row, item, refusal: invalid(problems) };
	const line = JSON.stringify(item.body);
	// No UTF-16 code unit takes more than three bytes.
	const isShort = line.length * 3 <= maxLineLength || Buffer.byteLength(line) <= maxLineLength;
	if (!isShort) return { row, refusal: { code: 'too_large', message: 'The record is larger than 1 MB. Shorten its values.' } };
	return { row, line, item, ...keys.add(row, item.body) };
}

/** The values of each readable row by its number, or why it has none. */
async function valuesOfRows(
	run: NodeRun,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	isChecked: boolean,
): Promise<Map<number, ItemValues | Error>> {
	const { operation, fields, path, creator, columns, writtenIds } = plan;
	const items = rows.flatMap(({ row, content }) => {
		const json = content && withFieldNames(content, columns);
		return json ? [{ row, json: writtenIds ? { ...json, id: writtenIds.get(row)! } : json }] : [];
	});
	const byRow = (all: Array<ItemValues | Error>) => new Map(items.map(({ row }, i) => [row, all[i]!]));
	if (operation === 'delete') {
		const meaningsOf = meaningsAmong(fields);
		const idIn = (json: IDataObject) => normalizedUnique(idField, fieldsInObject(meaningsOf, json).values[0]?.value);
		return byRow(items.map(({ json }) => resultOrError(() => ({ body: { id: idIn(json) } as IDataObject, refused: [], read: [] }))));
	}
	const forRows: NodeRun = {
		...run,
		resource: withoutMembers({ ...run.resource, path }, 'parents'),
		rows: items,
		missing: { ...run.missing, addRecord: creator.addRecord, addPart: creator.addPart },
		checks: { links: plan.isPreview || plan.leavesOut ? 'all' : 'none', values: isChecked },
	};
	const stored: StoredFields = { mode: 'automatic', emptyCells: plan.clearsEmpty ? 'clear' : 'leave', linked: [] };
	return byRow(await valuesOfItems(forRows, { stored, fields, whenCleared: operation === 'create' ? 'skip' : 'clear' }));
}

/** Why the CRM would refuse rows of a preview because of the records that it has, or lacks, by the number of the row. */
async function refusalsByRecords(run: NodeRun, plan: ImportPlan, checked: CheckedRow[], required: Field[]): Promise<Map<number, Refusal>> {
	const ready = checked.flatMap(({ row, item, refusal, isRepeated }) => (item && !refusal ? [{ row, item, isRepeated }] : []));
	if (needsId(plan) && !plan.writtenIds) {
		const ids = ready.map(({ row, item }) => ({ row, id: String(item.body.id) }));
		const idExists = await lookUpIds(run.api, plan.path, ids.map(({ id }) => id));
		const unknown = ids.filter(({ id }) => idExists.get(id) === false);
		const messageOf = (id: string) => `There is no record with the ID “${id}”, or the credential cannot read it.`;
		return new Map(unknown.map(({ row, id }) => [row, invalid([{ field: 'id', message: messageOf(id) }])]));
	}
	const { matchOn } = plan;
	if (matchOn === undefined) return new Map();
	const incomplete = ready.filter(({ isRepeated }) => !isRepeated)
		.map(({ row, item }) => ({ row, key: matchValue(matchOn.name, item.body), lacks: problemsOf(plan, item, required) }))
		.filter(({ lacks }) => lacks.length > 0);
	const isNew = await newKeys(run, plan, matchOn, incomplete.map(({ key }) => key));
	return new Map(incomplete.flatMap(({ row, key, lacks }) => (isNew(key) ? [[row, invalid(lacks)]] : [])));
}

/** Whether it is certain that no record has a key: otherwise, the row may change one. */
async function newKeys({ api }: NodeRun, { path }: ImportPlan, matchOn: Field, keys: Array<string | undefined>) {
	const list = keys.length > 0 ? (await api.describe(path))?.list : undefined;
	const resultOf = list && (await lookUp({ api, path, list, filters: list.filters, fields: [] }, matchOn, keys).catch(() => undefined));
	return (key: string | undefined): boolean => 'notFound' in (resultOf?.(key) ?? {});
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
	const { operation, matchOn, leavesOut } = plan;
	const { body, refused } = item;
	const refusals = new Map(refused.map(({ field: { name }, error }): [string, RowProblem] => [name, { field: name, message: error.message }]));
	const empty = needsId(plan) && isBlank(body.id) ? [noId] : emptyValues(body, matchOn, required);
	const problems = new Map([
		...(leavesOut ? [] : refusals),
		// A value that would be left out is why the row is refused.
		...empty.map((problem): [string, RowProblem] => [problem.field ?? '', refusals.get(problem.field ?? '') ?? problem]),
	]);
	if (problems.size > 0 || operation === 'delete') return [...problems.values()];
	const nothing = resultOrError(() => requireAnyValue(operation === 'update' ? withoutMembers(body, 'id') : body));
	if (!(nothing instanceof Error)) return [];
	return refusals.size > 0 ? [...refusals.values()] : [{ message: nothing.message }];
}

const noId: RowProblem = { message: 'The ID is missing, so the record to change is unknown. Fill in the ID.' };

const needsId = ({ operation }: ImportPlan): boolean => operation === 'update' || operation === 'delete';

/** The value to match on, and the required values, that are empty. */
function emptyValues(values: IDataObject, matchOn: Field | undefined, required: Field[]): RowProblem[] {
	const isUnmatchable = matchOn !== undefined && isBlank(matchValue(matchOn.name, values));
	const empty = required.filter((field) => (valueIn(values, field) ?? null) === null);
	return [
		...(isUnmatchable ? [{ field: matchOn.name, message: noMatchValue(matchOn.name), isEmpty: true as const }] : []),
		...empty.map(({ name, label }) => ({ field: name, message: `${label} is empty, but a new record needs it.`, isEmpty: true as const })),
	];
}
