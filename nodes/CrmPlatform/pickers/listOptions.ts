import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { currentFields } from '../api/customFields';
import { customFieldsOf } from './customFieldsOf';
import { allCustomFields, labelFor } from '../fields/field';
import { editorContext } from './editorContext';

/** The fields of a record that can be output, with each custom field as one of them. */
export async function getOutputFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { api, description, collection } = await editorContext(this);
	const options = description.fields.map(({ name, label }) => ({ name: label, value: name }));
	if (!options.some(({ value }) => value === allCustomFields)) return options;
	const custom = currentFields(await customFieldsOf(api, collection));
	return [...options, ...custom.map(({ name, label }) => ({ name: label, value: name }))];
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
