import type { IDataObject } from 'n8n-workflow';

import { customFieldOf, customFieldsIfAny, type CustomFields, type Definition } from '../api/customFields';
import { collectionName, encodedPath, type Collection } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import { customFieldPrefix, type Field } from '../fields/field';
import { mayBeUnnamed } from '../files/rows';
import type { AssignedColumn } from '../mapping/assignColumns';
import { customKeyFor, maxLabelLength } from '../mapping/fieldNames';
import type { NodeRun, Write } from '../model';
import { numbersOfCreation } from '../writing/recordCreator';
import { sendAlone } from '../writing/sendAlone';
import { protectVersions, versionOf } from '../writing/versions';
import { cellConversion, longText, newChoices, type ColumnValues } from './columnValues';
import type { FileSurvey } from './fileSurvey';
import type { ImportSettings } from './importPlan';

/**
 * Creates custom fields for the columns that no field fits, and the choices that columns have and their custom fields do
 * not; in a preview, only for the preview itself.
 */
export async function withNewFields(
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
export const needsNewField = ({ name, nowhere, filled }: AssignedColumn): boolean => nowhere === 'unknown' && filled > 0 && !mayBeUnnamed(name);

/** Creates the custom field of a column. @returns the column, which goes there */
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
	if (!isPreview) await writeDefinition(run, 'create', { path: '/custom-fields', body: { resource: collectionName(path), ...definition } });
	const field = customFieldOf(definition);
	custom.fields.push(field);
	return { ...column, nowhere: undefined, meaning: field, isRenamed: true, why: `A new custom field: ${label}` };
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
	await writeDefinition(run, 'update', { id, path: encodedPath`/custom-fields/${id}`, body, version: versionOf(definition) });
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

async function writeDefinition(run: NodeRun, operation: 'create' | 'update', write: Omit<Write, 'collection'>): Promise<void> {
	const description = (await run.api.describe('/custom-fields'))?.[operation];
	if (!description) throw new Error('The CRM does not describe how custom fields are created. Create them first, or turn off Create What Is Missing.');
	if (operation === 'update') protectVersions(run, description, [{ version: write.version }]);
	const numbers = numbersOfCreation('field', JSON.stringify([write.path, write.body]));
	await sendAlone(run, description, { ...write, collection: '/custom-fields' }, numbers);
}
