import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { oncePerConnection } from '../api/oncePerConnection';
import { allCustomFields, type Field } from '../fields/field';
import type { FileRecords } from '../files/rows';
import { UnreadableFile } from '../files/fileRow';
import { customFieldsIfAny } from '../api/customFields';
import { externalId, pagesOfSource } from '../lookUp/sourceIds';
import { chosenNotations, chosenSource } from '../mapping/chosenNotations';
import { addToColumns, columnNamed, matchColumns, type Column, type ColumnMatch, type MatchedFields } from '../mapping/columnMatch';
import { meaningText, wordsOf } from '../mapping/fieldNames';
import type { Execution } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import { listed } from '../base/lists';
import { addMissingFields, fittingTypes } from './missingFields';
import { chosenToCreate, type MissingRecords } from './missingRecords';

/** What rows become. */
export interface ImportTarget {
	operation: 'create' | 'update' | 'upsert' | 'delete';
	/** The fields that a row may have, with the ID of the record to change. */
	fields: Field[];
	/** Path of the records, without version prefix and with the ids of the parents. */
	path: `/${string}`;
	/** Whether to write nothing and to check each value against the description. */
	isPreview: boolean;
	/** The name of the file, if several are imported: hints begin with it. */
	name?: string;
	/** The collections whose records are imported with these. */
	related?: ReadonlySet<string>;
}

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
 * Reads a file once to see which columns are filled, and decides where they go.
 *
 * @throws Error in the user's words if the file lacks a mapped column, has a needed one twice, or if no column fits a field
 */
export async function planColumns(
	execution: Execution,
	plan: ImportTarget & { missing: MissingRecords },
	{ exceptions, only }: MappedColumns,
	file: FileRecords,
	survey?: FileSurvey,
): Promise<ColumnPlan> {
	const { columns: header, repeated } = file;
	const mapped = new Set(only ? only.values() : exceptions.keys());
	const missing = header ? [...mapped].filter((column) => !header.includes(column)) : [];
	if (missing.length > 0) {
		throw new Error(
			`Columns: the file has no column ${missing.map((name) => `“${name}”`).join(', ')}. Its columns are ${header!.join(', ')}. Nothing was written.`,
		);
	}
	const { columns } = survey ?? (await surveyed(execution.n8n, file));
	const matches = only
		? columns.map(({ name, filled, samples }): ColumnMatch => {
				const [meaning] = [...only].find(([, column]) => column === name) ?? [];
				return { name, filled, samples, why: meaning === undefined ? 'Not mapped' : 'Chosen', ...(meaning !== undefined && { meaning }) };
			})
		: matchColumns(columns, await matchedFields(execution, plan, chosenSource(execution.n8n)), exceptions);
	await addMissingFields(execution, plan, columns, matches);
	const twice = matches.find(({ name, meaning, filled }) => repeated.has(name) && meaning !== undefined && filled > 0)?.name;
	if (twice !== undefined) throw new Error(`The header has the column “${twice}” twice. Rename or remove one of them; nothing was written.`);
	const isAnyFilled = columns.some(({ filled }) => filled > 0);
	if (!plan.isPreview && isAnyFilled && !matches.some(({ meaning }) => meaning !== undefined)) {
		throw new Error(
			`No column of the file has the name of a field, so nothing was written. The columns are ${listed(columns.map(({ name }) => name))}. Check Record Type, or map the columns.`,
		);
	}
	if (!only) noteColumns(execution, matches, plan.name);
	const unseen = header ? [] : [...mapped].filter((column) => !columns.some(({ name }) => name === column));
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

/** The number of rows of a file, and its columns with some of their values. */
export interface FileSurvey {
	rows: number;
	columns: Column[];
}

/** Reads a file once. A file that cannot be read to its end is read up to there. */
export async function surveyed(n8n: IExecuteFunctions, { columns: header, rows }: FileRecords): Promise<FileSurvey> {
	const makesFields = chosenToCreate(n8n).some((kind) => kind === 'customFields' || kind === 'choices');
	const notations = chosenNotations(n8n) ?? {};
	let count = 0;
	const columns = new Map<string, Column>();
	header?.forEach((name) => columnNamed(columns, name));
	const addTypes = (column: Column, value: unknown): void => {
		const fitting = fittingTypes(value, notations);
		column.types = new Set(column.types ? fitting.filter((type) => column.types?.has(type)) : fitting);
		column.values ??= new Set();
		if (column.values.size < maxValues) column.values.add(typeof value === 'string' ? value : JSON.stringify(value));
	};
	try {
		for await (const read of rows) {
			count += read.length;
			for (const { row, content = {} } of read) addToColumns(columns, row, content, makesFields ? addTypes : undefined);
		}
	} catch (error) {
		if (!(error instanceof UnreadableFile)) throw passedOn(error);
	}
	return { rows: count, columns: [...columns.values()] };
}

const passedOn = (error: unknown): Error => error as Error;

/** @param source the system that the columns come from */
export async function matchedFields(
	{ api, resource }: Execution,
	{ fields, path, related }: Pick<ImportTarget, 'fields' | 'path' | 'related'>,
	source: string | undefined,
): Promise<MatchedFields> {
	const described = (await api.describe(resource.path))?.fields ?? [];
	const custom = await customFieldsIfAny(api, `/v1${path}`, fields);
	const standard = custom ? fields.filter(({ name }) => name !== allCustomFields) : fields;
	const sourceLinks = new Map<string, boolean>();
	for (const { name, collection, part } of source === undefined ? [] : [...fields, ...(custom?.fields ?? [])]) {
		const isFound = collection === undefined || part !== undefined ? undefined : await hasRecordsOf(api, collection, source!);
		if (isFound !== undefined) sourceLinks.set(name, isFound || related?.has(collection!) === true);
	}
	return {
		...(source !== undefined && { source, sourceLinks }),
		collection: path.slice(1),
		fields: [...standard, ...(custom?.fields ?? [])],
		recordFieldNames: new Set([...described.map(({ name }) => name), ...(custom?.unwritableNames ?? [])]),
		recordFieldWords: new Set(described.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)])),
	};
}

/** Whether records came from another system; undefined if the CRM does not find records by their external IDs. */
const hasRecordsOf = oncePerConnection(async (api, collection, source): Promise<boolean | undefined> => {
	const list = (await api.describe(`/${collection}`))?.list;
	if (!list?.filters.some(({ name }) => name === externalId.name)) return undefined;
	for await (const { records } of pagesOfSource({ api, path: `/v1/${collection}`, list, fields: [externalId.name] }, source, 1) ?? []) return records.length > 0;
	return true;
});

const columnsNoted = 20;

/** Tells which filled columns are not imported; empty ones are only counted. */
function noteColumns({ api }: Execution, matches: ColumnMatch[], file?: string): void {
	const unmatched = matches.filter(({ meaning, isReadOnly, isChosen }) => meaning === undefined && !isReadOnly && !isChosen);
	const filled = unmatched.filter((match) => match.filled > 0).sort((a, b) => b.filled - a.filled);
	if (filled.length === 0) return;
	api.requireDescription('Import File');
	const empty = unmatched.length - filled.length;
	const names = filled.map(({ name, filled: rows, why }) => `“${name}” (${rows} ${rows === 1 ? 'row' : 'rows'}. ${why})`);
	api.notices.add(
		`${file === undefined ? '' : `${file}: `}Not imported: ${listed(names, columnsNoted)}.${empty > 0 ? ` Empty columns: ${empty}.` : ''} Map them with Exceptions, or rename them in the file.`,
	);
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
