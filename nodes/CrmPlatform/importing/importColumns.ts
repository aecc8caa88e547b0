import type { IDataObject } from 'n8n-workflow';

import { addField, customFieldsIfAny, customFieldOf, type CustomFields, type Definition } from '../api/customFields';
import { collectionName, encodedPath, type Collection } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import { listed } from '../base/lists';
import { allCustomFields, customFieldPrefix, type Field } from '../fields/field';
import { mayBeUnnamed } from '../files/rows';
import { hasRecordsOf } from '../lookUp/sourceIds';
import { assignColumns, type AssignedColumn, type AssignableFields } from '../mapping/assignColumns';
import { chosenSource } from '../mapping/chosenNotations';
import type { Column } from '../mapping/columns';
import { meaningText, customKeyFor, maxLabelLength, withCustomFields } from '../mapping/fieldNames';
import type { NodeRun, Write } from '../model';
import type { MappedColumns } from '../parameters/fileParameters';
import { forSeveral, sendAlone } from '../writing/sendAlone';
import { protectVersions, versionOf } from '../writing/versions';
import { type FileSurvey, cellConversion, longText, newChoices, type ColumnValues } from './fileSurvey';
import { inFile, type ColumnPlan, type ImportSettings } from './importPlan';

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
	for (const { name, target, part } of source === undefined ? [] : [...fields, ...(custom?.fields ?? [])]) {
		if (target === undefined || part !== undefined) continue;
		const hasRecords = await hasRecordsOf(run.api, target, source!);
		if (hasRecords !== undefined) sourceLinks.set(name, hasRecords || related?.has(target) === true);
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
	// In the order of an object's members: an attempt that renames none of them sends the same text.
	const inOrder = Object.values(Object.fromEntries(columns.map((column) => [column.name, column])));
	const assigned = inOrder.flatMap(({ name, meaning, isRenamed }): ColumnPlan['fields'] =>
		(meaning === undefined ? [] : [[isRenamed ? meaningText(meaning) : name, name]]));
	return { fields: only ? [...only] : assigned, all: columns };
}

/** The values of a row by field. */
export function withFieldNames(content: IDataObject, { fields }: ColumnPlan): IDataObject {
	const imported = fields.filter(([, column]) => Object.hasOwn(content, column));
	return Object.fromEntries(imported.map(([field, column]) => [field, content[column]] as const));
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

/** Creates custom fields for columns that no field fits, and choices that custom fields lack; in a preview, only for the preview itself. */
async function withNewFields(
	run: NodeRun,
	settings: ImportSettings,
	columns: AssignedColumn[],
	{ values }: FileSurvey,
): Promise<AssignedColumn[]> {
	const { creator, path, fields } = settings;
	const [makesFields, makesChoices] = [creator.creates('customFields'), creator.creates('choices')];
	const custom = makesFields || makesChoices ? await customFieldsIfAny(run.api, path, fields) : undefined;
	if (!custom) return columns;
	const all: AssignedColumn[] = [];
	for (const column of columns) {
		const ofColumn = values.get(column.name);
		const assigned = makesFields && needsNewField(column) ? await createField(run, settings, column, ofColumn, custom) : column;
		const { meaning } = assigned;
		const isOfChoices = typeof meaning === 'object' && ['select', 'multi_select'].includes(meaning.customType ?? '');
		if (makesChoices && isOfChoices && ofColumn) await createChoices(run, settings, meaning, ofColumn);
		all.push(assigned);
	}
	return all;
}

/** A column that the header does not name would make a field that nobody needs, such as one for the numbers of the rows. */
const needsNewField = ({ name, nowhere, filled }: AssignedColumn): boolean => nowhere === 'unknown' && filled > 0 && !mayBeUnnamed(name);

/** @returns the column, which goes to the new field */
async function createField(
	run: NodeRun,
	{ creator, isPreview, path }: ImportSettings,
	column: AssignedColumn,
	values: ColumnValues | undefined,
	custom: CustomFields,
): Promise<AssignedColumn> {
	const { type, label } = values?.types?.[0] ?? longText;
	const names = new Set([...custom.fields, ...custom.unwritable].map(({ name }) => name));
	let key = customKeyFor(column.name);
	for (let number = 2; names.has(customFieldPrefix + key); number += 1) key = `${customKeyFor(column.name)}_${number}`;
	const definition: Definition = { key, label: column.name.slice(0, maxLabelLength), type };
	creator.add('custom fields', `${column.name}: ${label}`);
	if (!isPreview) await writeDefinition(run, 'create', { collection: '/custom-fields', path: '/custom-fields', body: { resource: collectionName(path), ...definition } });
	return { ...column, nowhere: undefined, meaning: addField(custom, definition), isRenamed: true, why: `A new custom field: ${label}` };
}

async function createChoices(run: NodeRun, { creator, isPreview, path }: ImportSettings, field: Field, values: ColumnValues): Promise<void> {
	const conversion = cellConversion(run.n8n);
	if (newChoices(field, values, conversion).length === 0) return;
	const definition = isPreview ? undefined : await readDefinition(run, path, field);
	// Others may have added choices since the fields were read.
	if (definition) field.choices = customFieldOf(definition).choices ?? [];
	const added = newChoices(field, values, conversion);
	if (added.length === 0) return;
	for (const { label } of added) creator.add(`choices of ${field.label}`, label);
	field.choices = [...(field.choices ?? []), ...added];
	if (!definition) return;
	const id = String(definition.id);
	const body = { options: [...(definition.options ?? []), ...added] };
	await writeDefinition(run, 'update', { id, collection: '/custom-fields', path: encodedPath`/custom-fields/${id}`, body, version: versionOf(definition) });
}

/** The definition of a custom field as it is now. @throws Error in the user's words if there is none or several */
async function readDefinition({ api }: NodeRun, path: Collection, { path: names, label }: Field): Promise<Definition & IDataObject> {
	const list = (await api.describe('/custom-fields'))?.list;
	const query = { resource: collectionName(path), key: names.at(-1)! };
	const page = list && (await readPage(api.send, '/custom-fields', { list, query }));
	const [definition, ...others] = page?.records ?? [];
	if (!Array.isArray(definition?.options) || others.length > 0) throw new Error(`The CRM does not return the definition of “${label}” with its choices, so nothing was written.`);
	return definition as Definition & IDataObject;
}

async function writeDefinition(run: NodeRun, operation: 'create' | 'update', write: Write): Promise<void> {
	const description = (await run.api.describe('/custom-fields'))?.[operation];
	if (!description) throw new Error('The CRM does not describe how custom fields are created. Create them first, or turn off Create What Is Missing.');
	if (operation === 'update') protectVersions(run, description, [{ version: write.version }]);
	await sendAlone(run, description, write, forSeveral('field', JSON.stringify([write.path, write.body])));
}
