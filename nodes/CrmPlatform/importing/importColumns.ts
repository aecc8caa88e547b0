import type { IDataObject } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import { listed } from '../base/lists';
import { allCustomFields } from '../fields/field';
import { hasRecordsOf } from '../lookUp/sourceIds';
import { withCustomFields } from '../mapping/acceptedFields';
import { chosenSource } from '../mapping/chosenNotations';
import { assignColumns, type AssignedColumn, type AssignableFields } from '../mapping/assignColumns';
import type { Column } from '../mapping/columns';
import { meaningText } from '../mapping/fieldNames';
import type { NodeRun } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import type { FileSurvey } from './fileSurvey';
import { inFile, type ColumnPlan, type ImportSettings } from './importPlan';
import { needsNewField, withNewFields } from './newFields';

/**
 * Finds the fields of the columns of a file, without creating any.
 *
 * @throws Error in the user's words if the file lacks a mapped column, has a needed one twice, or if no column fits a field
 */
export async function assignedColumns(
	run: NodeRun,
	settings: ImportSettings,
	mapped: MappedColumns,
	{ header, repeated = new Map(), columns }: FileSurvey,
): Promise<AssignedColumn[]> {
	const { path, fields, isPreview, creator } = settings;
	const { exceptions, only } = mapped;
	const notInFile = header ? columnsIn(mapped).filter((column) => !header.includes(column)) : [];
	if (notInFile.length > 0) {
		throw new Error(`Columns: the file has no column ${notInFile.map((name) => `“${name}”`).join(', ')}. Its columns are ${header!.join(', ')}. Nothing was written.`);
	}
	const assigned = only
		? columns.map((column) => mappedColumn(column, only))
		: assignColumns(columns, await assignableFields(run, settings, chosenSource(run.n8n)), exceptions);
	const custom = creator.creates('customFields') ? await customFieldsIfAny(run.api, path, fields) : undefined;
	const imported = assigned.filter((column) => column.meaning !== undefined || (custom && needsNewField(column)));
	const filled = columns.filter((column) => column.filled > 0);
	const twice = [...repeated].find((names) => [imported, filled].every((some) => some.some(({ name }) => names.includes(name))));
	if (twice) throw new Error(`The header has the column “${twice[1]}” twice. Rename or remove one of them; nothing was written.`);
	if (!isPreview && filled.length > 0 && imported.length === 0) {
		throw new Error(`No column of the file has the name of a field, so nothing was written. The columns are ${listed(columns.map(({ name }) => name))}. Check Record Type, or map the columns.`);
	}
	return assigned;
}

/** Where a column goes if the user has mapped each field. */
function mappedColumn(column: Column, only: ReadonlyMap<string, string>): AssignedColumn {
	const [field] = [...only].find(([, name]) => name === column.name) ?? [];
	return field === undefined ? { ...column, nowhere: 'byChoice', why: 'Not mapped' } : { ...column, meaning: field, why: 'Chosen' };
}

const columnsIn = ({ exceptions, only }: MappedColumns): string[] => [...new Set(only ? only.values() : exceptions.keys())];

/** @param source the system that the columns come from */
export async function assignableFields(
	run: NodeRun,
	{ fields, path, related }: Pick<ImportSettings, 'fields' | 'path' | 'related'>,
	source: string | undefined,
): Promise<AssignableFields> {
	const custom = await customFieldsIfAny(run.api, path, fields);
	const standard = custom ? fields.filter(({ name }) => name !== allCustomFields) : fields;
	const sourceLinks = new Map<string, boolean>();
	for (const { name, collection, part } of source === undefined ? [] : [...fields, ...(custom?.fields ?? [])]) {
		if (collection === undefined || part !== undefined) continue;
		const hasRecords = await hasRecordsOf(run.api, collection, source!);
		if (hasRecords !== undefined) sourceLinks.set(name, hasRecords || related?.has(collection) === true);
	}
	return {
		...(await withCustomFields(run, standard, custom)),
		...(source !== undefined && { source, sourceLinks }),
		collection: path,
	};
}

/** Decides where the columns of a file go, and creates what is missing for that. @throws as `assignedColumns` */
export async function planColumns(run: NodeRun, settings: ImportSettings, mapped: MappedColumns, survey: FileSurvey): Promise<ColumnPlan> {
	const { only } = mapped;
	const columns = await withNewFields(run, settings, await assignedColumns(run, settings, mapped, survey), survey);
	if (!only) noteColumns(run, settings, columns);
	const unseen = survey.header ? [] : columnsIn(mapped).filter((column) => !survey.columns.some(({ name }) => name === column));
	if (unseen.length > 0) {
		run.api.notices.add(
			`Not imported because no row has this column: ${unseen.map((name) => `“${name}”`).join(', ')}. Correct the name in Columns, or in the file, and import it again with Create or Update.`,
		);
	}
	const renamed = columns.filter(({ meaning, isRenamed }) => isRenamed && meaning !== undefined);
	return {
		renamed: only ? [...only] : renamed.map(({ name, meaning }) => [meaningText(meaning!), name]),
		unassigned: only ? undefined : new Set(columns.filter(({ meaning }) => meaning === undefined).map(({ name }) => name)),
		all: columns,
	};
}

/** The values of a row by field. */
export function withFieldNames(content: IDataObject, { renamed, unassigned }: ColumnPlan): IDataObject {
	const has = (name: string) => Object.hasOwn(content, name);
	const fields = renamed.flatMap(([field, column]) => (has(column) ? [[field, content[column]]] : []));
	if (!unassigned) return Object.fromEntries(fields) as IDataObject;
	if (fields.length === 0 && unassigned.size === 0) return content;
	const isKept = ([name]: [string, unknown]) => !unassigned.has(name) && !renamed.some(([, column]) => column === name);
	return Object.fromEntries([...Object.entries(content).filter(isKept), ...fields]) as IDataObject;
}

const columnsNoted = 20;

function noteColumns({ api }: NodeRun, settings: ImportSettings, columns: AssignedColumn[]): void {
	const filled = columns
		.filter(({ filled: rows, nowhere }) => rows > 0 && nowhere !== undefined && nowhere !== 'readOnly' && nowhere !== 'byChoice')
		.sort((a, b) => b.filled - a.filled);
	if (filled.length === 0) return;
	api.requireDescription('Import File');
	const names = filled.map(({ name, filled: rows, why }) => `“${name}” (${rows} ${rows === 1 ? 'row' : 'rows'}. ${why})`);
	api.notices.add(inFile(settings, `Not imported: ${listed(names, columnsNoted)}. Map them with Exceptions, or rename them in the file.`));
}

/** The columns of a preview: filled ones that go nowhere come first. Empty ones are shown if they clear fields. */
export function shownColumns(columns: AssignedColumn[], clearsEmpty: boolean): IDataObject[] {
	const rank = ({ nowhere }: AssignedColumn) => (nowhere === undefined ? 1 : nowhere === 'readOnly' ? 2 : 0);
	const rows = columns
		.filter(({ filled, meaning }) => filled > 0 || (clearsEmpty && meaning !== undefined))
		.sort((a, b) => rank(a) - rank(b))
		.map(({ name, meaning, why, samples, filled }): IDataObject => ({
			column: name,
			field: meaning === undefined ? null : meaningText(meaning),
			why,
			sample: samples[0] as string | undefined ?? null,
			filled,
		}));
	const empty = columns.length - rows.length;
	if (empty === 0) return rows;
	const column = empty === 1 ? '1 empty column' : `${empty} empty columns`;
	return [...rows, { column, field: null, why: 'No row has a value', sample: null, filled: 0 }];
}
