import type { ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { matchesEventPattern } from '../log/crmEvent';
import type { Connection } from '../api/connection';
import { currentFields, readCustomFieldsIfAllowed } from '../api/customFields';
import { allCustomFields, labelFor } from '../fields/field';
import { editorConnection } from './editorContext';

/** Fields of the records that the chosen events are about, by the names that events use. */
export async function getChangedFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const api = await editorConnection(this);
	const chosen = [this.getCurrentNodeParameter('events') ?? []].flat().map(String);
	const { types } = await api.describeEvents();
	const isChosen = (type: string) => chosen.some((pattern) => matchesEventPattern(pattern, type) || isOfTemplate(type, pattern));
	const collections = types.flatMap(({ type, collection }) =>
		collection !== undefined && isChosen(type) ? [collection] : [],
	);
	const options = new Map<string, Set<string>>();
	for (const collection of new Set(collections)) {
		for (const { name, label } of await fieldOptions(api, collection)) {
			getOrCreate(options, name, () => new Set<string>()).add(label);
		}
	}
	return [...options]
		.map(([value, labels]) => ({ name: [...labels].join(' / '), value }))
		.sort((a, b) => a.name.localeCompare(b.name));
}

/** Fields that the service sets with every change, so filtering by them is useless. */
const alwaysChanged = ['id', 'object', 'version', 'created_at', 'updated_at', 'deleted_at'];

async function fieldOptions(api: Connection, collection: string): Promise<Array<{ name: string; label: string }>> {
	const fields = (await api.describe(collection))?.fields ?? [];
	const relevantFields = fields.filter(({ name }) => !alwaysChanged.includes(name));
	// Custom fields of custom objects belong to one object each, which the collection does not name.
	if (collection.includes('{')) return relevantFields;
	const hasCustom = relevantFields.some(({ name }) => name === allCustomFields);
	const custom = hasCustom ? currentFields(await readCustomFieldsIfAllowed(api, `/v1${collection}`)) : [];
	const all = { name: allCustomFields, label: `All ${labelFor(allCustomFields)}` };
	return [...relevantFields.filter(({ name }) => name !== allCustomFields), ...(hasCustom ? [all] : []), ...custom];
}

/** `custom.{key}.created` stands for `custom.machine.created`. */
const isOfTemplate = (template: string, type: string): boolean =>
	template.includes('{') && template.split('{')[0] === `${type.split('.')[0]}.` && template.endsWith(type.split('.').at(-1) ?? '');
