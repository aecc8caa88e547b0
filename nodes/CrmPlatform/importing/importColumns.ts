import type { IExecuteFunctions } from 'n8n-workflow';

import { customFieldOf, customFieldsIfAny } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { oncePerConnection } from '../api/connection';
import { listed } from '../base/lists';
import { passedOn } from '../base/errorOf';
import { getOrCreate } from '../base/maps';
import { allCustomFields, type Field } from '../fields/field';
import { fieldErrorOr } from '../fields/fieldError';
import { inApiNotation } from '../fields/notations';
import { UnreadableFile } from '../files/fileRow';
import type { FileRecords } from '../files/rows';
import { externalId, pagesOfSource } from '../lookUp/sourceIds';
import { chosenNotations, chosenSource } from '../mapping/chosenNotations';
import { addToColumns, columnNamed, matchColumns, unknownName, type Column, type ColumnMatch, type MatchedFields } from '../mapping/columnMatch';
import { wordsOf } from '../mapping/fieldNames';
import { valueToSend } from '../mapping/itemValues';
import type { Execution } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import { chosenToCreate, type MissingRecords } from '../writing/missingRecords';

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
export const fieldTypes = [
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
export interface ColumnValues {
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
export const valueReading = (n8n: IExecuteFunctions) => ({ notations: chosenNotations(n8n) ?? {}, zone: n8n.getTimezone() });

export type ValueReading = ReturnType<typeof valueReading>;

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
		? columns.map((column) => mappedMatch(column, only))
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

/** Where a column goes if the user has mapped each field. */
function mappedMatch(column: Column, only: ReadonlyMap<string, string>): ColumnMatch {
	const [field] = [...only].find(([, name]) => name === column.name) ?? [];
	return field === undefined ? { ...column, why: 'Not mapped' } : { ...column, meaning: field, why: 'Chosen' };
}

export const columnsIn = ({ exceptions, only }: MappedColumns): string[] => [...new Set(only ? only.values() : exceptions.keys())];

export const hasUnknownName = ({ why, filled }: ColumnMatch): boolean => why.startsWith(unknownName) && filled > 0;

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
