import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { customFieldOf, customFieldsIfAny, type CustomFields, type Definition } from '../api/customFields';
import { collectionName, type Collection } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import { oncePerConnection } from '../api/connection';
import { listed } from '../base/lists';
import { passedOn } from '../base/errorOf';
import { getOrCreate } from '../base/maps';
import { valueToSend } from '../fields/convertValue';
import { allCustomFields, customFieldPrefix, externalId, type Field } from '../fields/field';
import { fieldErrorOr, FieldError } from '../fields/fieldError';
import { elementOf } from '../fields/fieldKinds';
import { inApiNotation } from '../fields/notations';
import { UnreadableFile } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import { pagesOfSource } from '../lookUp/sourceIds';
import { chosenNotations, chosenSource } from '../mapping/chosenNotations';
import { addToColumns, columnNamed, matchColumns, type Column, type ColumnMatch, type MatchedFields } from '../mapping/columnMatch';
import { meaningText, wordsOf } from '../mapping/fieldNames';
import type { NodeRun } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import { unaccentedText } from '../values/foldedText';
import { chosenToCreate, numbersOfCreation, type RecordCreator } from '../writing/recordCreator';
import { sendAlone } from '../writing/sendAlone';

/** What rows become. */
export interface ImportTarget {
	operation: 'create' | 'update' | 'upsert' | 'delete';
	/** The fields that a row may have, with the ID of the record to change. */
	fields: Field[];
	/** Path of the records, with the ids of the parents. */
	path: Collection;
	/** Whether to write nothing and to check each value against the description. */
	isPreview: boolean;
	/** The name of the file, if several are imported: hints begin with it. */
	name?: string;
	/** The collections whose records are imported with these. */
	related?: ReadonlySet<Collection>;
	/** What is created because columns or rows name it. */
	missing: RecordCreator;
}

/** A sentence about one of several files. */
export const inFile = ({ name }: Pick<ImportTarget, 'name'>, text: string): string => (name === undefined ? text : `${name}: ${text}`);

/** The number of rows of a file, its header, and its columns. */
export interface FileSurvey {
	rows: number;
	/** The names of the columns of CSV, and those that it has twice. */
	header: string[] | undefined;
	repeated: ReadonlySet<string>;
	columns: Column[];
	/** The values of columns, if fields or choices are created. */
	values: ReadonlyMap<string, ColumnValues>;
}

/** Reads a file once, and closes it. A file that cannot be read to its end is read up to there. */
export async function surveyFile(n8n: IExecuteFunctions, { columns: header, repeated, rows, close }: FileRecords): Promise<FileSurvey> {
	let count = 0;
	const columns = new Map<string, Column>();
	const values = new Map<string, ColumnValues>();
	try {
		const makesFields = chosenToCreate(n8n).some((kind) => kind === 'customFields' || kind === 'choices');
		const reading = valueReading(n8n);
		const note = makesFields ? (name: string, value: unknown) => addValue(values, name, value, reading) : undefined;
		header?.forEach((name) => columnNamed(columns, name));
		for await (const read of rows) {
			count += read.length;
			for (const { row, content = {} } of read) addToColumns(columns, row, content, note);
		}
	} catch (error) {
		if (!(error instanceof UnreadableFile)) throw passedOn(error);
	} finally {
		await close();
	}
	return { rows: count, header, repeated, columns: [...columns.values()], values };
}

/** The types of new custom fields, the narrowest first, and how their values look. */
const fieldTypes = [
	{ type: 'boolean', label: 'Boolean', values: /^(true|false)$/i },
	// Leading zeros, and more digits than a number has, are those of a key.
	{ type: 'number', label: 'Number', values: /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/ },
	{ type: 'date', label: 'Date', values: /^\d{4}-\d\d-\d\d$/ },
	{ type: 'datetime', label: 'Date and Time', values: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/ },
	{ type: 'text', label: 'Text', values: /^.{1,255}$/ },
	{ type: 'long_text', label: 'Long Text', values: /^/ },
];

type FieldType = (typeof fieldTypes)[number];

/** What new fields and choices are made from. */
interface ColumnValues {
	/** The types that take all values of the column. */
	types?: FieldType[];
	/** Its different values, as JSON. */
	texts: Set<string>;
}

/** Maximum number of values that become choices. */
const maxValues = 500;

/** Adds a value of a column. */
function addValue(columns: Map<string, ColumnValues>, name: string, value: unknown, reading: ValueReading): void {
	const column = getOrCreate(columns, name, (): ColumnValues => ({ texts: new Set() }));
	const fitting = (column.types ?? fieldTypes).filter((type) => isOfType(type, value, reading));
	// A value that no type takes is refused with its row, and says nothing about the others.
	if (fitting.length > 0) column.types = fitting;
	if (column.texts.size < maxValues) column.texts.add(JSON.stringify(value));
}

/** How the values of rows are read. */
const valueReading = (n8n: IExecuteFunctions) => ({ notations: chosenNotations(n8n) ?? {}, zone: n8n.getTimezone() });

type ValueReading = ReturnType<typeof valueReading>;

/** Whether a value looks like one of a type, and a field of that type takes it. */
function isOfType({ type, values }: FieldType, value: unknown, reading: ValueReading): boolean {
	const field = customFieldOf({ key: 'new', type });
	const isTaken = fieldErrorOr(() => {
		const plain = inApiNotation(field, value, reading.notations);
		return values.test(String(plain)) && valueToSend(field, plain, reading) !== undefined;
	});
	return isTaken === true;
}

/**
 * Finds the fields of the columns of a file, without creating any.
 *
 * @throws Error in the user's words if the file lacks a mapped column, has a needed one twice, or if no column fits a field
 */
export async function fieldsOfColumns(
	execution: NodeRun,
	target: ImportTarget,
	mapped: MappedColumns,
	{ header, repeated, columns }: FileSurvey,
): Promise<ColumnMatch[]> {
	const { exceptions, only } = mapped;
	const notInFile = header ? columnsIn(mapped).filter((column) => !header.includes(column)) : [];
	if (notInFile.length > 0) {
		throw new Error(
			`Columns: the file has no column ${notInFile.map((name) => `“${name}”`).join(', ')}. Its columns are ${header!.join(', ')}. Nothing was written.`,
		);
	}
	const matches = only
		? columns.map((column) => mappedMatch(column, only))
		: matchColumns(columns, await matchedFields(execution, target, chosenSource(execution.n8n)), exceptions);
	const custom = target.missing.creates('customFields') ? await customFieldsIfAny(execution.api, target.path, target.fields) : undefined;
	const imported = matches.filter((match) => match.meaning !== undefined || (custom && needsNewField(match)));
	const twice = imported.find(({ name, filled }) => filled > 0 && repeated.has(name))?.name;
	if (twice !== undefined) throw new Error(`The header has the column “${twice}” twice. Rename or remove one of them; nothing was written.`);
	if (!target.isPreview && columns.some(({ filled }) => filled > 0) && imported.length === 0) {
		throw new Error(
			`No column of the file has the name of a field, so nothing was written. The columns are ${listed(columns.map(({ name }) => name))}. Check Record Type, or map the columns.`,
		);
	}
	return matches;
}

/** Where a column goes if the user has mapped each field. */
function mappedMatch(column: Column, only: ReadonlyMap<string, string>): ColumnMatch {
	const [field] = [...only].find(([, name]) => name === column.name) ?? [];
	return field === undefined ? { ...column, nowhere: 'byChoice', why: 'Not mapped' } : { ...column, meaning: field, why: 'Chosen' };
}

const columnsIn = ({ exceptions, only }: MappedColumns): string[] => [...new Set(only ? only.values() : exceptions.keys())];

const needsNewField = ({ nowhere, filled }: ColumnMatch): boolean => nowhere === 'unknown' && filled > 0;

/** @param source the system that the columns come from */
export async function matchedFields(
	{ api, resource }: NodeRun,
	{ fields, path, related }: Pick<ImportTarget, 'fields' | 'path' | 'related'>,
	source: string | undefined,
): Promise<MatchedFields> {
	const described = (await api.describe(resource.path))?.fields ?? [];
	const custom = await customFieldsIfAny(api, path, fields);
	const standard = custom ? fields.filter(({ name }) => name !== allCustomFields) : fields;
	const sourceLinks = new Map<string, boolean>();
	for (const { name, collection, part } of source === undefined ? [] : [...fields, ...(custom?.fields ?? [])]) {
		if (collection === undefined || part !== undefined) continue;
		const hasRecords = await hasRecordsOf(api, collection, source!);
		if (hasRecords !== undefined) sourceLinks.set(name, hasRecords || related?.has(collection) === true);
	}
	return {
		...(source !== undefined && { source, sourceLinks }),
		collection: path,
		fields: [...standard, ...(custom?.fields ?? [])],
		recordFieldNames: new Set([...described.map(({ name }) => name), ...(custom?.unwritableNames ?? [])]),
		recordFieldWords: new Set(described.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)])),
	};
}

/** Whether records came from another system; undefined if the CRM does not find records by their external IDs. */
const hasRecordsOf = oncePerConnection(async (api, collection: Collection, source: string): Promise<boolean | undefined> => {
	const list = (await api.describe(collection))?.list;
	if (!list?.filters.some(({ name }) => name === externalId.name)) return undefined;
	for await (const { records } of pagesOfSource({ api, path: collection, list, fields: [externalId.name] }, source, 1) ?? []) return records.length > 0;
	return true;
});

/** Where the columns of a file go. */
export interface ColumnPlan {
	/** The columns that are renamed: field and column. */
	renamed: Array<[field: string, column: string]>;
	/** The columns that go nowhere; undefined if only the renamed ones are imported. */
	leftOut: ReadonlySet<string> | undefined;
	/** For the preview: filled columns that go nowhere come first. */
	table: IDataObject[];
}

/** Decides where the columns of a file go, and creates what is missing for that. @throws as `fieldsOfColumns` */
export async function planColumns(execution: NodeRun, target: ImportTarget, mapped: MappedColumns, survey: FileSurvey): Promise<ColumnPlan> {
	const { only } = mapped;
	const matches = await withMissingFields(execution, target, await fieldsOfColumns(execution, target, mapped, survey), survey);
	if (!only) noteColumns(execution, target, matches);
	const unseen = survey.header ? [] : columnsIn(mapped).filter((column) => !survey.columns.some(({ name }) => name === column));
	if (unseen.length > 0) {
		execution.api.notices.add(
			`Not imported because no row has this column: ${unseen.map((name) => `“${name}”`).join(', ')}. Correct the name in Columns, or in the file, and import it again with Create or Update.`,
		);
	}
	const renamed = matches.filter(({ meaning, isRenamed }) => isRenamed && meaning !== undefined);
	return {
		renamed: only ? [...only] : renamed.map(({ name, meaning }) => [meaningText(meaning!), name]),
		leftOut: only ? undefined : new Set(matches.filter(({ meaning }) => meaning === undefined).map(({ name }) => name)),
		table: tableOf(matches),
	};
}

/** The values of a row by field. */
export function withFieldNames(content: IDataObject, { renamed, leftOut }: ColumnPlan): IDataObject {
	const has = (name: string) => Object.hasOwn(content, name);
	const fields = renamed.flatMap(([field, column]) => (has(column) ? [[field, content[column]]] : []));
	if (!leftOut) return Object.fromEntries(fields) as IDataObject;
	if (fields.length === 0 && leftOut.size === 0) return content;
	const isKept = ([name]: [string, unknown]) => !leftOut.has(name) && !renamed.some(([, column]) => column === name);
	return Object.fromEntries([...Object.entries(content).filter(isKept), ...fields]) as IDataObject;
}

/**
 * Creates custom fields for the columns that no field fits, and the choices that columns have and their custom fields do
 * not; in a preview, only for the preview itself.
 */
async function withMissingFields(execution: NodeRun, target: ImportTarget, matches: ColumnMatch[], { values }: FileSurvey): Promise<ColumnMatch[]> {
	const makesFields = target.missing.creates('customFields');
	const makesChoices = target.missing.creates('choices');
	const custom = makesFields || makesChoices ? await customFieldsIfAny(execution.api, target.path, target.fields) : undefined;
	if (!custom) return matches;
	const all: ColumnMatch[] = [];
	for (const match of matches) {
		const ofColumn = values.get(match.name);
		const placed = makesFields && needsNewField(match) ? await createField(execution, target, match, ofColumn, custom) : match;
		const { meaning } = placed;
		const isOfChoices = typeof meaning === 'object' && ['select', 'multi_select'].includes(meaning.type ?? '');
		if (makesChoices && isOfChoices && ofColumn) await createChoices(execution, target, meaning, ofColumn);
		all.push(placed);
	}
	return all;
}

/** Creates the custom field of a column. @returns the column, which goes there */
async function createField(
	execution: NodeRun,
	target: ImportTarget,
	match: ColumnMatch,
	values: ColumnValues | undefined,
	custom: CustomFields,
): Promise<ColumnMatch> {
	const { type, label } = values?.types?.[0] ?? fieldTypes.at(-1)!;
	const names = new Set([...custom.fields.map(({ name }) => name), ...custom.unwritableNames]);
	const plainName = unaccentedText(match.name).replace(/[^a-z\d]+/g, '_').replace(/^[\d_]+|_+$/g, '').slice(0, 55) || 'field';
	const key = unusedName(plainName, '_', (name) => names.has(customFieldPrefix + name));
	const definition: Definition = { key, label: match.name.slice(0, 100), type };
	target.missing.add('custom fields', `${match.name}: ${label}`);
	if (!target.isPreview) await writeField(execution, 'create', '', { resource: collectionName(target.path), ...definition });
	const field = customFieldOf(definition);
	custom.fields.push(field);
	return { ...match, nowhere: undefined, meaning: field, isRenamed: true, why: `A new custom field: ${label}` };
}

/** A name, with the first number that makes it another than those in use. */
function unusedName(name: string, separator: string, isUsed: (name: string) => boolean): string {
	let unused = name;
	for (let number = 2; isUsed(unused); number += 1) unused = `${name}${separator}${number}`;
	return unused;
}

/** Maximum characters of a choice. A row with a longer one is refused. */
const maxChoiceLength = 100;

/** The choices that a column has and its field does not, as its rows will be read. */
function missingChoices(field: Field, { texts }: ColumnValues, reading: ValueReading): NonNullable<Field['choices']> {
	const read = (of: Field, value: unknown) => fieldErrorOr(() => valueToSend(of, inApiNotation(of, value, reading.notations), reading));
	const values = [...texts].flatMap((text) => read(field, JSON.parse(text)));
	const named = values.filter((value) => !(value instanceof FieldError)).map((value) => String(value).trim());
	const before = field.choices ?? [];
	const choices = [...before];
	const isChoice = (text: string) => choices.some(({ value }) => value === read({ ...elementOf(field), choices }, text));
	// Values have no commas, which separate them in lists: a choice without any is its own value, whatever the others become.
	for (const text of named.sort((a, b) => Number(a.includes(',')) - Number(b.includes(',')))) {
		if (isChoice(text) || text.length > maxChoiceLength) continue;
		choices.push({ label: text, value: unusedName(text.replaceAll(',', ' '), ' ', isChoice) });
	}
	return choices.slice(before.length);
}

async function createChoices(execution: NodeRun, target: ImportTarget, field: Field, values: ColumnValues): Promise<void> {
	const added = missingChoices(field, values, valueReading(execution.n8n));
	if (added.length === 0) return;
	for (const { label } of added) target.missing.add(`choices of ${field.label}`, label);
	field.choices = [...(field.choices ?? []), ...added];
	if (target.isPreview) return;
	const key = field.path.at(-1)!;
	const list = (await execution.api.describe('/custom-fields'))?.list;
	const page = list && (await readPage(execution.api.send, '/custom-fields', { list, query: { resource: collectionName(target.path), key } }));
	const [definition, ...others] = page?.records ?? [];
	if (!definition || others.length > 0) throw new Error(`The CRM does not find the definition of “${field.label}”, so nothing was written.`);
	await writeField(execution, 'update', `/${encodeURIComponent(String(definition.id))}`, { options: field.choices });
}

async function writeField(execution: NodeRun, operation: 'create' | 'update', at: string, body: IDataObject): Promise<void> {
	const description = (await execution.api.describe('/custom-fields'))?.[operation];
	if (!description) throw new Error('The CRM does not describe how custom fields are created. Create them first, or turn off Create What Is Missing.');
	await sendAlone(execution, description, { collection: '/custom-fields', path: `/custom-fields${at}`, body }, numbersOfCreation('field', JSON.stringify([at, body])));
}

const columnsNoted = 20;

/** Tells which filled columns are not imported. */
function noteColumns({ api }: NodeRun, target: ImportTarget, matches: ColumnMatch[]): void {
	const filled = matches
		.filter(({ filled: rows, nowhere }) => rows > 0 && nowhere !== undefined && nowhere !== 'readOnly' && nowhere !== 'byChoice')
		.sort((a, b) => b.filled - a.filled);
	if (filled.length === 0) return;
	api.requireDescription('Import File');
	const names = filled.map(({ name, filled: rows, why }) => `“${name}” (${rows} ${rows === 1 ? 'row' : 'rows'}. ${why})`);
	api.notices.add(inFile(target, `Not imported: ${listed(names, columnsNoted)}. Map them with Exceptions, or rename them in the file.`));
}

function tableOf(matches: ColumnMatch[]): IDataObject[] {
	const rank = ({ nowhere }: ColumnMatch) => (nowhere === undefined ? 1 : nowhere === 'readOnly' ? 2 : 0);
	const rows = matches
		.filter(({ filled }) => filled > 0)
		.sort((a, b) => rank(a) - rank(b))
		.map(({ name, meaning, why, samples, filled }): IDataObject => ({
			column: name,
			field: meaning === undefined ? null : meaningText(meaning),
			why,
			sample: samples[0] as string,
			filled,
		}));
	const empty = matches.length - rows.length;
	if (empty === 0) return rows;
	const column = empty === 1 ? '1 empty column' : `${empty} empty columns`;
	return [...rows, { column, field: null, why: 'No row has a value', sample: null, filled: 0 }];
}
