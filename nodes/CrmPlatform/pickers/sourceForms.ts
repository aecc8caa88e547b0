import type { ILoadOptionsFunctions, INodePropertyOptions, ResourceMapperFields } from 'n8n-workflow';

import type { ResourceDescription } from '../api/openapi/description';
import { idField, type Field } from '../fields/field';
import type { Operation } from '../model';
import { editorContext, type EditorContext } from './editorContext';
import { fieldsOfWrite, fieldsToWrite, getFields, getMatchFields, mapperField, orNotice, withFirst } from './mapperFields';

const id = mapperField({ ...idField, required: true }, undefined);

/**
 * The fields that an import fills. Each takes the name of a column as text, since the columns of the file are unknown
 * here: n8n 2.41 gives an opened node its parameters but not its input (LoadOptionsContext).
 */
export async function getColumnFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => {
		const importAs = importAsOf(this);
		if (importAs === 'delete') return { fields: [id] };
		const offered = await fieldsToWrite(this, await importContext(this), 'columns', asColumn);
		return { ...offered, fields: importAs === 'update' ? withFirst(id, offered.fields) : offered.fields };
	});
}

/** The same fields, for the exceptions of automatic mapping. */
export async function getColumnOptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const importAs = importAsOf(this);
	const { fields } = importAs === 'delete' ? { fields: [] } : await fieldsOfWrite(await importContext(this));
	const all = importAs === 'update' || importAs === 'delete' ? [idField, ...fields] : fields;
	return [{ name: 'Do Not Import', value: '' }, ...all.map(({ name, label }) => ({ name: label, value: name }))];
}

const importAsOf = (n8n: ILoadOptionsFunctions) => n8n.getCurrentNodeParameter('importAs') as keyof ResourceDescription | undefined;

async function importContext(n8n: ILoadOptionsFunctions): Promise<EditorContext> {
	const importAs = importAsOf(n8n);
	const context = await editorContext(n8n);
	const ofImport: Pick<Operation, 'describedWrite'> = {
		describedWrite: ({ create, update, upsert }) => (importAs === 'update' ? update : importAs === 'upsert' ? upsert : create),
	};
	return { ...context, ...(context.operation && { operation: { ...context.operation, ...ofImport } }) };
}

/** The user enters the name of a column, not a value of the field. */
function asColumn({ name, path, label, description, required, important }: Field): Field {
	return { name, path, label, description, required, kind: 'text', ...(important && { important }) };
}

const byId = { name: 'ID', value: 'id', description: 'The ID that the CRM assigned to the record' };

/** The fields a sync can find records by. @param unset label of the empty choice: a sync guesses no field to match on */
function syncMatchFields(unset: string) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		const named = (await getMatchFields.call(this)).filter(({ value }) => value !== '');
		return [{ name: unset, value: '' }, ...named, byId];
	};
}

export const getSyncMatchFields = syncMatchFields('Choose a Field');
export const getSyncOtherMatchFields = syncMatchFields('None');

/**
 * The fields that a sync writes, and the id to find records by. The id is always offered, but shown only if it is
 * matched on: when Match On changes, n8n cannot request the fields again without emptying the form.
 */
export async function getSyncFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const offered = await getFields.call(this);
	const chosen = ['matchOn', 'alsoMatchOn'].map((name) => this.getCurrentNodeParameter(name));
	const isChosen = chosen.includes(byId.value);
	const field = mapperField({ ...idField, label: 'ID (to match on)' }, undefined, { required: isChosen, removed: !isChosen });
	return { ...offered, fields: field.removed ? [...offered.fields, field] : withFirst(field, offered.fields) };
}

/** The fields to set in records that are missing in the source; all are optional. */
export async function getFieldsToSet(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const offered = await orNotice(async () => await fieldsToWrite(this, await editorContext(this), 'missingValues'));
	return { ...offered, fields: offered.fields.map((field) => ({ ...field, required: false, removed: true })) };
}
