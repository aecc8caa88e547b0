import type { ILoadOptionsFunctions, ResourceMapperFields } from 'n8n-workflow';

import type { ResourceDescription } from '../api/openapi/description';
import { idField, type Field } from '../fields/field';
import { editorContext } from './editorContext';
import { fieldsToWrite, orNotice, withFirst } from './mapperFields';
import { mapperField } from './mapperField';

const id = mapperField({ ...idField, required: true }, undefined);

/**
 * The fields that an import fills. Each takes the name of a column as text, since the columns of the file are unknown
 * here: n8n 2.41 gives an opened node its parameters but not its input (LoadOptionsContext).
 */
export async function getColumnFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => {
		const importAs = this.getCurrentNodeParameter('importAs') as keyof ResourceDescription | undefined;
		if (importAs === 'delete') return { fields: [id] };
		const context = await editorContext(this);
		const write = ({ create, update, upsert }: ResourceDescription) =>
			importAs === 'update' ? update : importAs === 'upsert' ? upsert : create;
		const operation = context.operation && { ...context.operation, write };
		const opened = { ...context, ...(operation && { operation }) };
		const offered = await fieldsToWrite(this, opened, 'columns', asColumn);
		return { ...offered, fields: importAs === 'update' ? withFirst(id, offered.fields) : offered.fields };
	});
}

/** The user enters the name of a column, not a value of the field. */
function asColumn({ name, path, label, description, required, important }: Field): Field {
	return { name, path, label, description, required, kind: 'text', ...(important && { important }) };
}
