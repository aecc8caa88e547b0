import type { ILoadOptionsFunctions, ResourceMapperField, ResourceMapperFields } from 'n8n-workflow';

import type { ResourceDescription } from '../api/openapi/description';
import { editorContext } from './editorContext';
import { fieldsToWrite, orNotice } from './fields';
import { mapperField } from './mapperField';

const id = mapperField(
	{ name: 'id', path: ['id'], label: 'ID', description: '', kind: 'text', required: true },
	undefined,
);

/**
 * The fields an import fills, each of which takes the name of a column as text. n8n 2.41 tells an opened
 * node its parameters and nothing of its input (LoadOptionsContext), so the columns of the file are
 * not known here.
 */
export async function getColumnFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => {
		const importAs = this.getCurrentNodeParameter('importAs') as keyof ResourceDescription | undefined;
		if (importAs === 'delete') return { fields: [id] };
		const context = await editorContext(this);
		const write = ({ create, update, upsert }: ResourceDescription) =>
			importAs === 'update' ? update : importAs === 'upsert' ? upsert : create;
		const operation = context.operation && { ...context.operation, write };
		const offered = await fieldsToWrite(this, { ...context, ...(operation && { operation }) }, 'columns');
		const fields = offered.fields.map(asColumn);
		return { ...offered, fields: importAs === 'update' ? [id, ...fields] : fields };
	});
}

/** Without its choices: what is entered is not a value of the field. */
function asColumn({ options, ...field }: ResourceMapperField): ResourceMapperField {
	return field.readOnly ? { ...field, ...(options && { options }) } : { ...field, type: 'string' };
}
