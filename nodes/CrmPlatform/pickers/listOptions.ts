import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { currentFields } from '../api/customFields';
import { notReadable, unauthorized } from '../api/http/statuses';
import { isAnsweredWith } from '../api/record';
import { allCustomFields, labelFor, type Field } from '../fields/field';
import { isNumeric, isPlainText, isTimeField } from '../fields/fieldKinds';
import { firstRecords } from '../lookUp/lookUp';
import { countableFields, periods } from '../reading/counting';
import { resources } from '../resources';
import { customFieldsOf, editorConnection, editorContext } from './editorContext';

/** The fields of the chosen records, each custom field as one of them. */
async function recordFields(n8n: ILoadOptionsFunctions) {
	const { api, description, collection } = await editorContext(n8n);
	const hasCustom = description.fields.some(({ name }) => name === allCustomFields);
	const custom = hasCustom ? await customFieldsOf(api, collection) : undefined;
	return { description, custom, all: [...description.fields, ...currentFields(custom)] };
}

type Named = Pick<Field, 'name' | 'label'>;

const optionsOf = (fields: Named[]): INodePropertyOptions[] => fields.map(({ name, label }) => ({ name: label, value: name }));

function fieldList(offered: (fields: Field[]) => Named[]) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		return optionsOf(offered((await recordFields(this)).all));
	};
}

export const getOutputFields = fieldList((fields) => fields);

/** Fields that the service sets with every change, so filtering by them is useless. */
const alwaysChanged = ['id', 'object', 'version', 'created_at', 'updated_at', 'deleted_at'];

/** The fields whose changes can start a trigger, by the names that events use. */
export const getChangedFields = fieldList((fields) => fields.filter(({ name }) => !alwaysChanged.includes(name)));

export const getMergedFields = fieldList((fields) =>
	fields.filter((field: Field & { isReadOnly?: boolean }) => field.isReadOnly !== true && field.name !== allCustomFields));

/**
 * The fields that duplicates may have in common: texts and numbers of the account's own, since many records share a choice, a
 * day or an owner. A name alone is seldom enough.
 */
export const getDuplicateFields = fieldList((fields) => {
	const mayIdentify = (field: Field) =>
		field.collection === undefined &&
		!['id', 'object'].includes(field.name) &&
		(isPlainText(field) || (isNumeric(field) && field.type !== undefined));
	const offered = fields.filter(mayIdentify);
	const canJoin = offered.some(({ name }) => name === 'name') && fields.some(({ name }) => name === 'company_id');
	return [...(canJoin ? [{ name: 'name+company_id', label: 'Name and Company' }] : []), ...offered];
});

/** The fields by which records can be counted; a time by each period. */
export async function getGroupFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description, custom } = await recordFields(this);
	return optionsOf(countableFields(description, custom).flatMap((field) => {
		if (!isTimeField(field)) return [field];
		return periods.map((period) => ({ name: `${field.name}:${period}`, label: `${field.label} (by ${labelFor(period)})` }));
	}));
}

export async function getSumFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description, custom } = await recordFields(this);
	return optionsOf(countableFields(description, custom).filter(isNumeric));
}

/** The orders of a list, the default first: n8n marks a value that is not listed as wrong. */
export async function getSortOrders(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description } = await editorContext(this);
	const orders = description.list?.sort?.values ?? [];
	// A minus sign marks a descending order (JSON:API).
	const label = (order: string) => (order.startsWith('-') ? `${labelFor(order.slice(1))} (Descending)` : labelFor(order));
	return [{ name: 'Default Order', value: '' }, ...orders.map((order) => ({ name: label(order), value: order }))];
}

/** The record types that an agent can be given: all resources that can be listed and read, and each custom object. */
export async function getRecordTypes(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const readableResources = resources.filter(({ operations, parents }) => {
		const values = operations.map(({ option }) => option.value);
		return values.includes('getMany') && values.includes('get') && parents === undefined;
	});
	const api = await editorConnection(this);
	// Without a credential or the permission to read custom objects, the others are offered.
	const objects = await firstRecords(api, '/custom-objects').catch((error: Error) => {
		if (api.viewer === '' || isAnsweredWith(error, unauthorized, ...notReadable)) return [];
		throw error;
	});
	const custom = objects.flatMap(({ key, label_plural: label }) =>
		typeof key === 'string' ? [{ name: typeof label === 'string' ? label : key, value: `customObjectRecord:${key}` }] : [],
	);
	return [...readableResources.map(({ name, value }) => ({ name, value })), ...custom].sort((a, b) => a.name.localeCompare(b.name));
}
