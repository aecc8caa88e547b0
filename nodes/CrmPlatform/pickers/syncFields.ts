import type { ILoadOptionsFunctions, INodePropertyOptions, ResourceMapperFields } from 'n8n-workflow';

import { idField } from '../fields/field';
import { editorContext } from './editorContext';
import { fieldsToWrite, getFields, getMatchFields, orNotice, withFirst } from './mapperFields';
import { mapperField } from './mapperField';

const byId = { name: 'ID', value: 'id', description: 'The ID that the CRM assigned to the record' };

/** The fields a sync can find records by. */
export async function getSyncMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await matchFieldsAfter.call(this, 'Choose a Field');
}

/** The alternative fields to find records by. */
export async function getSyncOtherMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return await matchFieldsAfter.call(this, 'None');
}

/** @param unset label of the empty choice: a sync guesses no field to match on */
async function matchFieldsAfter(this: ILoadOptionsFunctions, unset: string): Promise<INodePropertyOptions[]> {
	const named = (await getMatchFields.call(this)).filter(({ value }) => value !== '');
	return [{ name: unset, value: '' }, ...named, byId];
}

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
	return {
		...offered,
		fields: offered.fields.map((field) => ({ ...field, required: false, removed: true })),
	};
}
