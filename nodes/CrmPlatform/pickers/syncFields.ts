import type { ILoadOptionsFunctions, INodePropertyOptions, ResourceMapperFields } from 'n8n-workflow';

import { getFields, getMatchFields } from './fields';
import { mapperField } from './mapperField';

const byId = { name: 'ID', value: 'id', description: 'The ID the CRM gave the record' };

/** The fields a sync can find records by. */
export async function getSyncMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return [...(await getMatchFields.call(this)), byId];
}

/** The fields a sync writes; among them the id, if records are found by it. */
export async function getSyncFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const offered = await getFields.call(this);
	const chosen = ['matchOn', 'alsoMatchOn'].map((name) => this.getCurrentNodeParameter(name));
	if (!chosen.includes(byId.value)) return offered;
	const id = { name: byId.value, path: [byId.value], label: byId.name, description: '' };
	const field = mapperField({ ...id, kind: 'text', required: false }, undefined);
	return { ...offered, fields: [field, ...offered.fields] };
}

/** The fields to set in records that the source does not have; none is required. */
export async function getFieldsToSet(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const offered = await getFields.call(this);
	return {
		...offered,
		fields: offered.fields.map((field) => ({ ...field, required: false, removed: true })),
	};
}
