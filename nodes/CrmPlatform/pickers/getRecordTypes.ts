import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { isAnsweredWith } from '../api/record';
import { notReadable, unauthorized } from '../api/http/statuses';
import { resources } from '../resources';
import { editorConnection } from './editorContext';
import { firstRecords } from '../lookUp/lookUp';

const customObjects = '/custom-objects';

/** The record types that an agent can be given: all resources that can be listed and read, and each custom object. */
export async function getRecordTypes(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const readableResources = resources.filter(({ operations, parents }) => {
		const values = operations.map(({ option }) => option.value);
		return values.includes('getMany') && values.includes('get') && parents === undefined;
	});
	const api = await editorConnection(this);
	// Without a credential or the permission to read custom objects, none are offered.
	const objects = await firstRecords(api, customObjects).catch((error: Error) => {
		if (api.account === '' || isAnsweredWith(error, unauthorized, ...notReadable)) return [];
		throw error;
	});
	const custom = objects.flatMap(({ key, label_plural: label }) =>
		typeof key === 'string' ? [{ name: typeof label === 'string' ? label : key, value: `customObjectRecord:${key}` }] : [],
	);
	return [...readableResources.map(({ name, value }) => ({ name, value })), ...custom].sort((a, b) => a.name.localeCompare(b.name));
}
