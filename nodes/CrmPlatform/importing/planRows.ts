import type { IDataObject } from 'n8n-workflow';

import { readableError } from '../api/connection';
import { listed } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { withoutMembers } from '../base/ownMembers';
import { resultOrError } from '../base/results';
import { whyRefused } from '../fields/checks';
import { apiValue } from '../fields/convertValue';
import { isCountry } from '../fields/countries';
import { idField, type Field, FieldError, fieldErrorOr } from '../fields/field';
import { isBooleanField, isNumeric, isPhoneField, isTimeField, valueShape, normalizedUnique } from '../fields/fieldKinds';
import { inApiNotation, isUnclearNumber, type Notations } from '../fields/notations';
import { csvCells } from '../files/csvWriter';
import type { FileRow } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import { meaningsAmong } from '../mapping/fieldNames';
import { RefusedWithOther, valuesOfItems, type ItemValues } from '../mapping/itemValues';
import { fieldsInObject } from '../mapping/readObject';
import type { Mapping } from '../mapping/readItems';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import type { ExpectedRecords } from './expectedRecords';
import { cellConversion, type CellConversion } from './fileSurvey';
import { withFieldNames } from './importColumns';
import { inFile, type ImportPlan, type PlannedRow, type RowFailure } from './importPlan';
import { failuresByRecords, invalid, refusalOfRow, requiredFields, type RowKeys } from './rowProblems';

/** Maximum rows of one job, which limits the rows in memory and the rows that an interrupted service has to repeat. */
const rowsPerJob = 5_000;
/**
 * Maximum characters of the rows of one job, with the names of their columns; services accept some 50 MB. Counted in the
 * file, which is the same for a retry, and not in the lines, since a retry may send more of them.
 */
const charactersPerJob = 4 * 1024 * 1024;
/** Maximum bytes of one line. */
const maxLineLength = 1024 * 1024;

interface RowNotes {
	keys: RowKeys;
	expected: ExpectedRecords | undefined;
}

/** Reads the rows of a file as the lines of jobs, in slices for one job each. */
export async function* planSlices(run: NodeRun, plan: ImportPlan, file: FileRecords, notes: RowNotes): AsyncGenerator<PlannedRow[], void> {
	// The names of the columns, which a line has and a row of CSV lacks. Around each: its quotes, a colon and a comma.
	const namesLength = (file.columns ?? []).reduce((sum, { length }) => sum + length + 6, 0);
	let slice: PlannedRow[] = [];
	let characters = 0;
	for await (const rows of planRows(run, plan, file, notes)) {
		for (const planned of rows) {
			slice.push(planned);
			characters += planned.text.length + namesLength + (planned.failure?.text?.length ?? 0);
			if (slice.length < rowsPerJob && characters < charactersPerJob) continue;
			yield slice;
			slice = [];
			characters = 0;
		}
	}
	if (slice.length > 0) yield slice;
}

/**
 * Plans rows as they are read: row → values → problems → line. A preview ends with the notations that would read the refused values.
 * Thousands of waiting objects would outlive V8's young generation, and n8n's process would grow by them until a full garbage collection.
 */
async function* planRows(
	run: NodeRun,
	plan: ImportPlan,
	{ columns, rows: readRows }: FileRecords,
	{ keys, expected }: RowNotes,
): AsyncGenerator<PlannedRow[], void> {
	// The description of another service may know other fields and choices.
	const isChecked = plan.isPreview || plan.leavesOut || run.api.isSelfDescribed();
	const required = await requiredFields(run, plan, isChecked);
	const ofCreation = plan.operation === 'create' ? required : [];
	const advice = plan.isPreview ? new NotationAdvice(cellConversion(run.n8n)) : undefined;
	for await (const rows of readRows) {
		const items = await valuesOfRows(run, plan, rows, { required: ofCreation, isChecked });
		for (const item of items.values()) if (!(item instanceof Error)) advice?.add(item);
		const checked = rows.map((row) => checkedRow(row, items.get(row.row)!, { plan, required: ofCreation, columns, keys }));
		const failures = plan.isPreview ? await failuresByRecords(run, plan, checked.flatMap(readyRow), required) : new Map<number, RowFailure>();
		yield checked.map(({ planned, item }): PlannedRow => {
			const failure = planned.failure ?? failures.get(planned.row);
			// A record is there without a late link that is refused.
			if (item && (!failure || plan.writtenIds)) expected?.add(plan, planned.row, item);
			return failure ? { ...planned, line: undefined, failure } : planned;
		});
	}
	for (const sentence of advice?.all() ?? []) run.api.notices.add(inFile(plan, sentence));
}

/** A row with its values, if it has any, and whether an earlier one has its key. */
interface CheckedRow {
	planned: PlannedRow;
	item?: ItemValues;
	isRepeated?: boolean;
}

const readyRow = ({ planned: { row, failure }, item, isRepeated = false }: CheckedRow) =>
	(item && !failure ? [{ row, item, isRepeated }] : []);

/** @param item the values of a readable row, or why it has none */
function checkedRow(
	{ row, content = {}, problem, text: unreadableText }: FileRow<IDataObject>,
	item: ItemValues | Error,
	{ plan, required, columns, keys }: Pick<FileRecords, 'columns'> & { plan: ImportPlan; required: Field[]; keys: RowKeys },
): CheckedRow {
	// As the files of the report have it. In CSV, a delimiter follows each cell.
	const text = columns ? csvCells([...columns.map((name) => content[name]), null]) : JSON.stringify(content);
	const failed = (failure: RowFailure): PlannedRow => ({ row, text, line: undefined, failure });
	if (problem !== undefined) return { planned: failed({ code: 'unreadable_row', message: problem, text: unreadableText }) };
	if (item instanceof Error) return { planned: failed(invalid([{ message: readableError(item).message }])) };
	const refusal = refusalOfRow(plan, item, required);
	if (refusal) return { planned: failed(refusal), item };
	const line = JSON.stringify(item.body);
	// No UTF-16 code unit takes more than three bytes.
	const isShort = line.length * 3 <= maxLineLength || Buffer.byteLength(line) <= maxLineLength;
	if (!isShort) return { planned: failed({ code: 'too_large', message: 'The record is larger than 1 MB. Shorten its values.' }) };
	const { isRepeated, failure } = keys.add(row, item.body);
	if (failure) return { planned: failed(failure), item, isRepeated };
	const leftOut = item.refusedValues.map(({ field, value, error }) => ({ field: field.name, value, message: error.message }));
	return { planned: { row, text, line, ...(leftOut.length > 0 && { leftOut }) }, item, isRepeated };
}

/** The values of each readable row by its number, or why it has none. */
async function valuesOfRows(
	run: NodeRun,
	plan: ImportPlan,
	rows: Array<FileRow<IDataObject>>,
	{ required, isChecked }: { required: Field[]; isChecked: boolean },
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
		return byRow(items.map(({ json }) => resultOrError(() => ({ body: { id: idIn(json) } as IDataObject, refusedValues: [], read: [] }))));
	}
	const forRows: NodeRun = {
		...run,
		resource: withoutMembers({ ...run.resource, path }, 'parents'),
		onMissingLink: { ...run.onMissingLink, addRecord: creator.addRecord, ...(creator.creates('pipelines') && { addPart: creator.addPart }) },
		checks: { links: plan.isPreview || plan.leavesOut ? 'all' : 'none', values: isChecked },
	};
	const stored = { mode: 'automatic' as const, emptyCells: plan.clearsEmpty ? 'clear' : 'leave', linked: [] };
	const whenCleared = operation === 'create' ? 'skip' : 'clear';
	const mapping: Mapping = { stored, items, areRows: true, fields, whenCleared, leavesOut: plan.leavesOut };
	const { values, add } = await valuesOfItems(forRows, mapping);
	return byRow(add ? await add(values.map((item) => !(item instanceof Error || refusalOfRow(plan, item, required)))) : values);
}

/** What the option *Values In* could be, and in which fields it matters. */
const candidates: Array<{ isFor: (field: Field) => boolean; words: string; advice: string; notations: Notations }> = [
	{ isFor: isTimeField, words: 'day/month/year', advice: 'Dates Are → day/month/year', notations: { dates: 'dayMonth' } },
	{ isFor: isTimeField, words: 'month/day/year', advice: 'Dates Are → month/day/year', notations: { dates: 'monthDay' } },
	{ isFor: isTimeField, words: 'Excel’s day numbers', advice: 'Dates Are → Excel’s day numbers', notations: { dates: 'excel' } },
	{ isFor: isNumeric, words: 'numbers such as 1,234.56', advice: 'Numbers Are → 1,234.56', notations: { numbers: 'point' } },
	{ isFor: isNumeric, words: 'numbers such as 1.234,56', advice: 'Numbers Are → 1.234,56', notations: { numbers: 'comma' } },
	{ isFor: isBooleanField, words: 'words such as yes and no', advice: 'Yes and No Are → Words', notations: { booleans: 'words' } },
	{ isFor: isBooleanField, words: 'marks such as x', advice: 'Yes and No Are → x', notations: { booleans: 'mark' } },
	...([['semicolons', 'Semicolon', ';'], ['pipes', 'Pipe', '|'], ['line breaks', 'Line Break', '\n'], [':::', ':::', ':::']] as const).map(
		([words, choice, separator]) => ({
			isFor: (field: Field) => valueShape(field) === 'list',
			words: `lists with ${words}`,
			advice: `Lists Are Separated By → ${choice}`,
			notations: { separator },
		}),
	),
	{ isFor: isCountry, words: 'names of countries', advice: 'Countries Are → Names', notations: { countries: 'names' } },
];

const beforeValues = (field: Field) =>
	({ field, fitting: candidates.filter(({ isFor }) => isFor(field)), values: 0, refusedCount: 0, unclear: 0, sample: '', unknownChoices: new Set<string>() });

/** Finds out which notation would read all values of a field that refuses some. */
class NotationAdvice {
	private readonly conversion: CellConversion;
	private readonly fields = new Map<string, ReturnType<typeof beforeValues>>();

	constructor(conversion: CellConversion) {
		this.conversion = conversion;
	}

	add({ read, refusedValues }: Pick<ItemValues, 'read' | 'refusedValues'>): void {
		for (const { field, value } of read) {
			if (isBlank(value)) continue;
			const found = getOrCreate(this.fields, field.name, () => beforeValues(field));
			found.values += 1;
			if (isNumeric(field) && typeof value === 'string' && isUnclearNumber(value)) {
				found.unclear += 1;
				found.sample = value;
			}
			found.fitting = found.fitting.filter(({ notations }) => this.isRead(field, value, notations));
		}
		for (const { field: { name }, value, error } of refusedValues) {
			const found = this.fields.get(name);
			if (!found || error instanceof RefusedWithOther) continue;
			found.refusedCount += 1;
			found.fitting = found.fitting.filter(({ notations: { separator = '' } }) => String(value).includes(separator));
			if (found.field.choices && found.unknownChoices.size < maxUnknown) found.unknownChoices.add(String(value));
		}
	}

	/** @returns a sentence for each field that an option would help */
	all(): string[] {
		return [...this.fields.values()].flatMap((found) => (found.refusedCount > 0 ? (this.sentenceOn(found) ?? []) : []));
	}

	private sentenceOn({ field, fitting, values, refusedCount, unclear, sample, unknownChoices }: ReturnType<typeof beforeValues>): string | undefined {
		if (fitting.length > 0 && !fitting.some(({ notations }) => this.isChosen(notations))) {
			const words = fitting.map((candidate) => candidate.words).join(', and could be ');
			const advice = fitting.map((candidate) => candidate.advice).join(', or ');
			// Values that could be either are no evidence for one of them.
			const others = fitting.length > 1 ? 0 : unclear;
			const condition = others === 0 ? '' : ` if the others, such as “${sample}”, are as well`;
			return `${values - others} of ${values} values of “${field.label}” are ${words}: choose Values In → ${advice}${condition}.`;
		}
		if (unknownChoices.size > 0) {
			const texts = listed([...unknownChoices].map((text) => `“${text}”`));
			const choices = listed((field.choices ?? []).map(({ label }) => label), maxChoices);
			return `“${field.label}” does not have the choices ${texts}: say what each means in Values In → Value Map. The choices are ${choices}.`;
		}
		if (!isPhoneField(field) || this.conversion.notations.phoneCountry !== undefined) return undefined;
		return `${refusedCount} of ${values} values of “${field.label}” have no country code: choose Values In → Default Country for Phones if they are of one country.`;
	}

	/** Whether values are read in a notation already: those that fit it are refused for another reason. */
	private isChosen(notations: Notations): boolean {
		return Object.entries(notations).every(([name, value]) => this.conversion.notations[name as keyof Notations] === value);
	}

	private isRead(field: Field, value: unknown, notations: Notations): boolean {
		const written = fieldErrorOr(() => apiValue(field, inApiNotation(field, value, notations), this.conversion.zone));
		return !(written instanceof FieldError) && whyRefused(field, written) === undefined;
	}
}

const maxUnknown = 10;
const maxChoices = 20;
