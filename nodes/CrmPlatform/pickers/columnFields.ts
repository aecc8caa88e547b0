import type { ILoadOptionsFunctions, INodePropertyOptions, ResourceMapperFields } from 'n8n-workflow';

import type { ResourceDescription } from '../api/openapi/description';
import { idField, type Field } from '../fields/field';
import { editorContext, type EditorContext } from './editorContext';
import { fieldsOfWrite, fieldsToWrite, orNotice, withFirst } from './mapperFields';
import { mapperField } from './mapperField';

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
	const write = ({ create, update, upsert }: ResourceDescription) =>
		importAs === 'update' ? update : importAs === 'upsert' ? upsert : create;
	const operation = context.operation && { ...context.operation, write };
	return { ...context, ...(operation && { operation }) };
}

/** The user enters the name of a column, not a value of the field. */
function asColumn({ name, path, label, description, required, important }: Field): Field {
	return { name, path, label, description, required, kind: 'text', ...(important && { important }) };
}
