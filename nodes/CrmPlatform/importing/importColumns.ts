import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { customFieldOf, customFieldsIfAny, type Definition } from '../api/customFields';
import { collectionName, type Collection } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import { oncePerConnection } from '../api/connection';
import { keyDigest } from '../base/digest';
import { listed } from '../base/lists';
import { passedOn } from '../base/errorOf';
import { allCustomFields, customFieldPrefix, fieldNamed, type Field } from '../fields/field';
import { fieldErrorOr, FieldError } from '../fields/fieldError';
import { kindOfCustomType } from '../fields/fieldKinds';
import { inApiNotation, type Notations } from '../fields/notations';
import { UnreadableFile } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import { externalId, pagesOfSource } from '../lookUp/sourceIds';
import { chosenNotations, chosenSource } from '../mapping/chosenNotations';
import { addToColumns, columnNamed, matchColumns, unknownName, type Column, type ColumnMatch, type MatchedFields } from '../mapping/columnMatch';
import { meaningText, wordsOf } from '../mapping/fieldNames';
import type { Execution } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import { foldedText, unaccentedText } from '../values/foldedText';
import { chosenToCreate, type MissingRecords } from '../writing/missingRecords';
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
	missing: MissingRecords;
}

/** A sentence about one of several files. */
export const inFile = ({ name }: Pick<ImportTarget, 'name'>, text: string): string => (name === undefined ? text : `${name}: ${text}`);

/** Where the columns of a file go. */
export interface ColumnPlan {
	/** The columns that are renamed: field and column. */
	renamed: Array<[field: string, column: string]>;
	/** The columns that go nowhere; undefined if only the renamed ones are imported. */
	leftOut: ReadonlySet<string> | undefined;
	/** For the preview: filled columns that go nowhere come first. */
	table: IDataObject[];
}

/**
 * Finds the fields of the columns of a file, without creating any.
 *
 * @throws Error in the user's words if the file lacks a mapped column, has a needed one twice, or if no column fits a field
 */
export async function fieldsOfColumns(
	execution: Execution,
	target: ImportTarget,
	mapped: MappedColumns,
	{ header, repeated, columns }: FileSurvey,
): Promise<ColumnMatch[]> {
	const { exceptions, only } = mapped;
	const missing = header ? columnsIn(mapped).filter((column) => !header.includes(column)) : [];
	if (missing.length > 0) {
		throw new Error(
			`Columns: the file has no column ${missing.map((name) => `“${name}”`).join(', ')}. Its columns are ${header!.join(', ')}. Nothing was written.`,
		);
	}
	const matches = only
		? columns.map((column): ColumnMatch => {
				const [meaning] = [...only].find(([, name]) => name === column.name) ?? [];
				return { ...column, why: meaning === undefined ? 'Not mapped' : 'Chosen', ...(meaning !== undefined && { meaning }) };
			})
		: matchColumns(columns, await matchedFields(execution, target, chosenSource(execution.n8n)), exceptions);
	const custom = target.missing.creates('customFields') ? await customFieldsIfAny(execution.api, target.path, target.fields) : undefined;
	const imported = matches.filter((match) => match.meaning !== undefined || (custom && hasUnknownName(match)));
	const twice = imported.find(({ name, filled }) => filled > 0 && repeated.has(name))?.name;
	if (twice !== undefined) throw new Error(`The header has the column “${twice}” twice. Rename or remove one of them; nothing was written.`);
	if (!target.isPreview && columns.some(({ filled }) => filled > 0) && imported.length === 0) {
		throw new Error(
			`No column of the file has the name of a field, so nothing was written. The columns are ${listed(columns.map(({ name }) => name))}. Check Record Type, or map the columns.`,
		);
	}
	return matches;
}

const columnsIn = ({ exceptions, only }: MappedColumns): string[] => [...new Set(only ? only.values() : exceptions.keys())];

const hasUnknownName = ({ why, filled }: ColumnMatch): boolean => why.startsWith(unknownName) && filled > 0;

/** Decides where the columns of a file go, and creates what is missing for that. @throws Error as above */
export async function planColumns(execution: Execution, target: ImportTarget, mapped: MappedColumns, survey: FileSurvey): Promise<ColumnPlan> {
	const { only } = mapped;
	const matches = await fieldsOfColumns(execution, target, mapped, survey);
	await addMissingFields(execution, target, matches);
	if (!only) noteColumns(execution, target, matches);
	const unseen = survey.header ? [] : columnsIn(mapped).filter((column) => !survey.columns.some(({ name }) => name === column));
	if (unseen.length > 0) {
		execution.api.notices.add(
			`Not imported because no row has this column: ${unseen.map((name) => `“${name}”`).join(', ')}. Correct the name in Columns, or in the file, and import it again with Create or Update.`,
		);
	}
	return {
		renamed: only
			? [...only]
			: matches.flatMap(({ name, meaning, isRenamed }) => (isRenamed && meaning !== undefined ? [[meaningText(meaning), name]] : [])),
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

/** Maximum number of values that become choices. */
const maxValues = 500;

/** The number of rows of a file, its header, and its columns with some of their values. */
export interface FileSurvey {
	rows: number;
	/** The names of the columns of CSV, and those that it has twice. */
	header: string[] | undefined;
	repeated: ReadonlySet<string>;
	columns: Column[];
}

/** Reads a file once, and closes it. A file that cannot be read to its end is read up to there. */
export async function surveyed(n8n: IExecuteFunctions, { columns: header, repeated, rows, close }: FileRecords): Promise<FileSurvey> {
	let count = 0;
	const columns = new Map<string, Column>();
	try {
		const makesFields = chosenToCreate(n8n).some((kind) => kind === 'customFields' || kind === 'choices');
		const notations = chosenNotations(n8n) ?? {};
		header?.forEach((name) => columnNamed(columns, name));
		const addTypes = (column: Column, value: unknown): void => {
			const fitting = fittingTypes(value, notations);
			column.types = new Set(column.types ? fitting.filter((type) => column.types?.has(type)) : fitting);
			column.values ??= new Set();
			if (column.values.size < maxValues) column.values.add(typeof value === 'string' ? value : JSON.stringify(value));
		};
		for await (const read of rows) {
			count += read.length;
			for (const { row, content = {} } of read) addToColumns(columns, row, content, makesFields ? addTypes : undefined);
		}
	} catch (error) {
		if (!(error instanceof UnreadableFile)) throw passedOn(error);
	} finally {
		await close();
	}
	return { rows: count, header, repeated, columns: [...columns.values()] };
}

/** @param source the system that the columns come from */
export async function matchedFields(
	{ api, resource }: Execution,
	{ fields, path, related }: Pick<ImportTarget, 'fields' | 'path' | 'related'>,
	source: string | undefined,
): Promise<MatchedFields> {
	const described = (await api.describe(resource.path))?.fields ?? [];
	const custom = await customFieldsIfAny(api, path, fields);
	const standard = custom ? fields.filter(({ name }) => name !== allCustomFields) : fields;
	const sourceLinks = new Map<string, boolean>();
	for (const { name, collection, part } of source === undefined ? [] : [...fields, ...(custom?.fields ?? [])]) {
		const isFound = collection === undefined || part !== undefined ? undefined : await hasRecordsOf(api, collection, source!);
		if (isFound !== undefined) sourceLinks.set(name, isFound || related?.has(collection!) === true);
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

const columnsNoted = 20;

/** Tells which filled columns are not imported. */
function noteColumns({ api }: Execution, target: ImportTarget, matches: ColumnMatch[]): void {
	const filled = matches
		.filter((match) => match.filled > 0 && match.meaning === undefined && !match.isReadOnly && !match.isChosen)
		.sort((a, b) => b.filled - a.filled);
	if (filled.length === 0) return;
	api.requireDescription('Import File');
	const names = filled.map(({ name, filled: rows, why }) => `“${name}” (${rows} ${rows === 1 ? 'row' : 'rows'}. ${why})`);
	api.notices.add(inFile(target, `Not imported: ${listed(names, columnsNoted)}. Map them with Exceptions, or rename them in the file.`));
}

function tableOf(matches: ColumnMatch[]): IDataObject[] {
	const rank = ({ meaning, filled, isReadOnly }: ColumnMatch) => (filled === 0 ? 3 : meaning !== undefined ? 1 : isReadOnly ? 2 : 0);
	const sorted = [...matches].sort((a, b) => rank(a) - rank(b));
	const rows = sorted
		.filter(({ filled }) => filled > 0)
		.map(({ name, meaning, why, samples, filled }): IDataObject => ({
			column: name,
			field: meaning === undefined ? null : meaningText(meaning),
			why,
			sample: samples[0] as string,
			filled,
		}));
	const empty = matches.length - rows.length;
	return empty > 0 ? [...rows, { column: empty === 1 ? '1 empty column' : `${empty} empty columns`, field: null, why: 'No row has a value', sample: null, filled: 0 }] : rows;
}

/** The types of new custom fields, the narrowest first. */
const types: Array<{ type: string; label: string; values: RegExp }> = [
	{ type: 'boolean', label: 'Boolean', values: /^(true|false)$/i },
	// Leading zeros, and more digits than a number has, are those of a key.
	{ type: 'number', label: 'Number', values: /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$/ },
	{ type: 'date', label: 'Date', values: /^\d{4}-\d\d-\d\d$/ },
	{ type: 'datetime', label: 'Date and Time', values: /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/ },
	{ type: 'text', label: 'Text', values: /^.{1,255}$/ },
	{ type: 'long_text', label: 'Long Text', values: /^/ },
];

/** The types that a value fits. */
function fittingTypes(value: unknown, notations: Notations): string[] {
	const text = (type: string) => {
		const read = fieldErrorOr(() => inApiNotation(fieldNamed('new', { kind: kindOfCustomType(type) }), value, notations));
		return read instanceof FieldError ? '' : String(read);
	};
	return types.filter(({ type, values }) => values.test(text(type))).map(({ type }) => type);
}

/**
 * Creates custom fields for the columns that no field fits, and the choices that columns have and their custom fields do
 * not; in a preview, only for the preview itself.
 */
async function addMissingFields(execution: Execution, target: ImportTarget, matches: ColumnMatch[]): Promise<void> {
	if (!target.missing.creates('customFields') && !target.missing.creates('choices')) return;
	const custom = await customFieldsIfAny(execution.api, target.path, target.fields);
	if (!custom) return;
	for (const match of matches) {
		if (target.missing.creates('customFields') && hasUnknownName(match)) {
			const taken = new Set([...custom.fields.map(({ name }) => name), ...custom.unwritableNames]);
			const { field, label } = await newField(execution, target, match, taken);
			custom.fields.push(field);
			Object.assign(match, { meaning: field, isRenamed: true, why: `A new custom field: ${label}` });
		}
		const { meaning } = match;
		const isOfChoices = typeof meaning === 'object' && ['select', 'multi_select'].includes(meaning.type ?? '');
		if (target.missing.creates('choices') && isOfChoices) await addChoices(execution, target, meaning, match);
	}
}

async function newField(execution: Execution, target: ImportTarget, { name, types: fitting }: Column, taken: ReadonlySet<string>): Promise<{ field: Field; label: string }> {
	const { type, label } = types.find((candidate) => fitting?.has(candidate.type)) ?? types.at(-1)!;
	const plainName = unaccentedText(name).replace(/[^a-z\d]+/g, '_').replace(/^[\d_]+|_+$/g, '').slice(0, 55) || 'field';
	let key = plainName;
	for (let number = 2; taken.has(customFieldPrefix + key); number += 1) key = `${plainName}_${number}`;
	const definition: Definition = { key, label: name.slice(0, 100), type };
	target.missing.add('custom fields', `${name}: ${label}`);
	if (!target.isPreview) await writeField(execution, 'create', '', { resource: collectionName(target.path), ...definition });
	return { field: customFieldOf(definition), label };
}

async function addChoices(execution: Execution, target: ImportTarget, field: Field, { values = new Set() }: Column): Promise<void> {
	const notations = chosenNotations(execution.n8n) ?? {};
	const choices = (field.choices ??= []);
	const isChoice = (text: string) => choices.some(({ label, value }) => foldedText(label) === foldedText(text) || value === text);
	const texts = [...values].flatMap((value) => inApiNotation(field, value, notations)).map((text) => String(text).trim());
	const added = [...new Map(texts.filter((text) => !isChoice(text)).map((text) => [foldedText(text), text])).values()];
	if (added.length === 0) return;
	for (const text of added) {
		target.missing.add(`choices of ${field.label}`, text);
		choices.push({ label: text.slice(0, 100), value: text.replaceAll(',', ' ').slice(0, 100) });
	}
	if (target.isPreview) return;
	const key = field.path.at(-1)!;
	const list = (await execution.api.describe('/custom-fields'))?.list;
	const page = list && (await readPage(execution.api.send, '/custom-fields', { list, query: { resource: collectionName(target.path), key } }));
	const [definition, ...others] = page?.records ?? [];
	if (!definition || others.length > 0) throw new Error(`The CRM does not find the definition of “${field.label}”, so nothing was written.`);
	await writeField(execution, 'update', `/${encodeURIComponent(String(definition.id))}`, { options: choices });
}

async function writeField(execution: Execution, operation: 'create' | 'update', at: string, body: IDataObject): Promise<void> {
	const description = (await execution.api.describe('/custom-fields'))?.[operation];
	if (!description) throw new Error('The CRM does not describe how custom fields are created. Create them first, or turn off Create What Is Missing.');
	await sendAlone(execution, description, { collection: '/custom-fields', path: `/custom-fields${at}`, body }, [0, -2, keyDigest(JSON.stringify([at, body]))]);
}
