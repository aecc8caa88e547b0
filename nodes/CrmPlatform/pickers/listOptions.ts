import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { currentFields } from '../api/customFields';
import { allCustomFields, labelFor, type Field } from '../fields/field';
import { countableFields, isNumeric, isTimeField, periods } from '../reading/counting';
import { customFieldsOf, editorContext } from './editorContext';

/** The fields of a record that can be output, with each custom field as one of them. */
export async function getOutputFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return optionsOf(await recordFields(this));
}

/** The fields whose changes can start a trigger, by the names that events use. */
export async function getChangedFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return optionsOf((await recordFields(this)).filter(({ name }) => !alwaysChanged.includes(name)));
}

/** Fields that the service sets with every change, so filtering by them is useless. */
const alwaysChanged = ['id', 'object', 'version', 'created_at', 'updated_at', 'deleted_at'];

const optionsOf = (fields: Array<Pick<Field, 'name' | 'label'>>): INodePropertyOptions[] => fields.map(({ name, label }) => ({ name: label, value: name }));

async function recordFields(n8n: ILoadOptionsFunctions): Promise<Field[]> {
	const { api, description: { fields }, collection } = await editorContext(n8n);
	const hasCustom = fields.some(({ name }) => name === allCustomFields);
	return hasCustom ? [...fields, ...currentFields(await customFieldsOf(api, collection))] : fields;
}

/** The fields by which records can be counted; a time by each period. */
export async function getGroupFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await countable(this)).flatMap((field) => {
		if (!isTimeField(field)) return [{ name: field.label, value: field.name }];
		return periods.map((period) => ({ name: `${field.label} (by ${labelFor(period)})`, value: `${field.name}:${period}` }));
	});
}

/** The fields that can be added up. */
export async function getSumFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return (await countable(this)).filter(isNumeric).map(({ name, label }) => ({ name: label, value: name }));
}

async function countable(n8n: ILoadOptionsFunctions): Promise<Field[]> {
	const { api, description, collection } = await editorContext(n8n);
	const hasCustom = description.fields.some(({ name }) => name === allCustomFields);
	return countableFields(description, hasCustom ? await customFieldsOf(api, collection) : undefined);
}

/**
 * The fields that duplicates may have in common: texts and numbers of the account's own, since many records share a choice, a
 * day or an owner. A name alone is seldom enough.
 */
export async function getDuplicateFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const mayIdentify = ({ name, kind, type, collection }: Field) =>
		collection === undefined && !['id', 'object'].includes(name) && (kind === 'text' || (kind === 'number' && type !== undefined));
	const fields = await recordFields(this);
	const options = optionsOf(fields.filter(mayIdentify));
	const has = (name: string) => options.some(({ value }) => value === name);
	const joined = has('name') && fields.some(({ name }) => name === 'company_id') ? [{ name: 'Name and Company', value: 'name+company_id' }] : [];
	return [...joined, ...options];
}

/** The fields that a merge writes. */
export async function getMergedFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const isWritten = (field: Field & { isReadOnly?: boolean }) => field.isReadOnly !== true && field.name !== allCustomFields;
	return optionsOf((await recordFields(this)).filter(isWritten));
}

/** The orders of a list, the default first: n8n marks a value that is not listed as wrong. */
export async function getSortOrders(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description } = await editorContext(this);
	const orders = description.list?.sort?.values ?? [];
	return [{ name: 'Default Order', value: '' }, ...orders.map((value) => ({ name: orderLabel(value), value }))];
}

/** Labels an order: many services mark descending by a minus sign (JSON:API). Other notations are shown as they are. */
function orderLabel(value: string): string {
	return value.startsWith('-') ? `${labelFor(value.slice(1))} (Descending)` : labelFor(value);
}
