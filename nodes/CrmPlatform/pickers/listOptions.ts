import type { IDataObject, ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { notReadable, unauthorized } from '../api/http/statuses';
import type { EventType } from '../api/openapi/eventTypes';
import { linksOf } from '../api/openapi/linkFields';
import { isAnsweredWith } from '../api/refusals';
import { getOrCreate } from '../base/maps';
import { allCustomFields, labelFor, type Field } from '../fields/field';
import { isNumeric, isTimeField, valueType, type ValueType } from '../fields/fieldKinds';
import { firstRecords } from '../lookUp/lookUp';
import { operationOf } from '../model';
import { countableFields, periods } from '../reading/counting';
import { resources } from '../resources';
import { nameFieldsToMatchOn } from '../writing/requireWrite';
import { editorConnection, editorContext, fieldsOfWrite, importedFields, listedOptions, optionsOf, recordFields } from './editorContext';

const recordFieldsWhere = (isOffered: (field: Field & { isReadOnly?: boolean }) => boolean) =>
	async (n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> => optionsOf((await recordFields(n8n)).all.filter(isOffered));

export const getOutputFields = recordFieldsWhere(() => true);

/** Fields that the service sets with every change, so filtering by them is useless. */
const alwaysChanged = ['id', 'object', 'version', 'created_at', 'updated_at', 'deleted_at'];

/** The fields whose changes can start a trigger, by the names that events use. */
export const getChangedFields = recordFieldsWhere(({ name }) => !alwaysChanged.includes(name));

export const getMergedFields = recordFieldsWhere(({ name, isReadOnly }) => isReadOnly !== true && name !== allCustomFields);

/** The fields whose values may identify a record, by type: all, the account's own, or none, since many records share a day or a choice. */
const identifying: Record<ValueType, 'all' | 'own' | 'none'> = {
	text: 'all', number: 'own', boolean: 'none', day: 'none', instant: 'none', varied: 'none',
};

/** The fields that duplicates may have in common. Many records share an owner, and a name alone is seldom enough. */
export async function getDuplicateFields(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const fields = (await recordFields(n8n)).all;
	const mayIdentify = (field: Field) => {
		if (field.target !== undefined || ['id', 'object'].includes(field.name)) return false;
		const which = identifying[valueType(field)];
		return which === 'all' || (which === 'own' && field.customType !== undefined);
	};
	const offered = fields.filter(mayIdentify);
	const canJoin = offered.some(({ name }) => name === 'name') && fields.some(({ name }) => name === 'company_id');
	return [...(canJoin ? [{ name: 'Name and Company', value: 'name+company_id' }] : []), ...optionsOf(offered)];
}

/** The fields by which records can be counted; a time by each period. */
export async function getGroupFields(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description, custom } = await recordFields(n8n);
	return optionsOf(countableFields(description, custom).flatMap((field) => {
		if (!isTimeField(field)) return [field];
		return periods.map((period) => ({ name: `${field.name}:${period}`, label: `${field.label} (by ${labelFor(period)})` }));
	}));
}

export async function getSumFields(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description, custom } = await recordFields(n8n);
	return optionsOf(countableFields(description, custom).filter(isNumeric));
}

/** The orders of a list, the default first: n8n marks a value that is not listed as wrong. */
export async function getSortOrders(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { description } = await editorContext(n8n);
	const orders = description.list?.sort?.values ?? [];
	// A minus sign marks a descending order (JSON:API).
	const label = (order: string) => (order.startsWith('-') ? `${labelFor(order.slice(1))} (Descending)` : labelFor(order));
	return [{ name: 'Default Order', value: '' }, ...orders.map((order) => ({ name: label(order), value: order }))];
}

/** The record types that an agent can be given: all resources that can be listed and read, and each custom object. */
export async function getRecordTypes(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const readable = resources.filter((resource) => !resource.parents && operationOf(resource, 'get') && operationOf(resource, 'getMany'));
	const api = await editorConnection(n8n);
	// Without a credential or the permission to read custom objects, the others are offered.
	const objects = await firstRecords(api, '/custom-objects').catch((error: Error) => {
		if (api.viewer === '' || isAnsweredWith(error, unauthorized, ...notReadable)) return [];
		throw error;
	});
	const custom = objects.flatMap(({ key, label_plural: label }) =>
		typeof key === 'string' ? [{ name: typeof label === 'string' ? label : key, value: `customObjectRecord:${key}` }] : [],
	);
	return [...readable.map(({ name, value }) => ({ name, value })), ...custom].sort((a, b) => a.name.localeCompare(b.name));
}

export async function getLinks(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { fields } = await fieldsOfWrite(await editorContext(n8n));
	return optionsOf(linksOf(fields));
}

/** The fields that an import fills, for the exceptions of automatic mapping. */
export async function getColumnOptions(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	return [{ name: 'Do Not Import', value: '' }, ...optionsOf((await importedFields(n8n)).fields)];
}

/** The fields an upsert can match on, after its default. */
export async function getMatchFields(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const options = await matchOptions(n8n);
	const [first] = options;
	// n8n marks a value that is not listed, such as an empty one, as wrong.
	return first ? [{ name: `Default (${first.name})`, value: '' }, ...options] : [];
}

const byId = { name: 'ID', value: 'id', description: 'The ID that the CRM assigned to the record' };

const syncMatchFields = (none: string) =>
	async (n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> => [{ name: none, value: '' }, ...(await matchOptions(n8n)), byId];

/** The fields a sync can find records by: it guesses none. */
export const getSyncMatchFields = syncMatchFields('Choose a Field');
export const getSyncOtherMatchFields = syncMatchFields('None');

async function matchOptions(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const context = await editorContext(n8n);
	const { fields, write, matchableNames } = await fieldsOfWrite(context);
	if (!write.match) return [];
	// By these names, records are looked up before they are written.
	const isUpsert = context.operation?.option.value === 'upsert';
	const byName = isUpsert ? nameFieldsToMatchOn.filter((name) => fields.some((field) => field.name === name)) : [];
	const labelOf = (name: string) => fields.find((field) => field.name === name)?.label ?? name;
	return [...new Set([...matchableNames, ...byName])].map((name) => ({ name: labelOf(name), value: name }));
}

/** All events, then all of each resource and each by itself; the account's custom objects have events of their own. */
export async function getEvents(n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const api = await editorConnection(n8n);
	const { types, patterns } = await api.describeEvents();
	const isTemplate = ({ type }: EventType) => type.includes('{');
	const templates = types.filter(isTemplate);
	const groups = new Map<string, INodePropertyOptions[]>();
	const typeOptions = types.filter((type) => !isTemplate(type)).map(typeOption);
	for (const option of [...patterns.map((pattern) => patternOption(pattern)), ...typeOptions]) {
		getOrCreate(groups, groupOf(String(option.value)), () => []).push(option);
	}
	// The other events can be chosen even if there are no custom objects, or the service does not answer.
	const objects = templates.length > 0 ? await firstRecords(api, '/custom-objects').catch(() => []) : [];
	return [...groups.values(), ...objects.map((object) => customOptions(object, templates))].flat();
}

/** The resource of an event: `deal.won` and `deal.*` belong together. */
const groupOf = (type: string): string => type.split('.').slice(0, -1).join('.');

function patternOption(pattern: string, label = labelFor(groupOf(pattern))): INodePropertyOptions {
	const group = labelFor(groupOf(pattern)).toLowerCase();
	return {
		name: label === '' ? 'Every Event' : `All ${label} Events`,
		value: pattern,
		description: `${group === '' ? 'All events' : `All ${group} events`}, including future ones`,
	};
}

const typeOption = ({ type, summary }: EventType): INodePropertyOptions => ({ name: labelFor(type), value: type, description: summary });

/** The events of a custom object, whose key stands in braces in the templates. */
function customOptions(object: IDataObject, templates: EventType[]): INodePropertyOptions[] {
	const key = String(object.key);
	const label = String(object.label_singular ?? labelFor(key));
	const filled = templates.map(({ type, summary }) => ({ type: type.replace(/\{\w+\}/, () => key), summary }));
	const options = filled.map((event) => ({ ...typeOption(event), name: `${label} ${labelFor(event.type.split('.').at(-1)!)}` }));
	return [patternOption(`${groupOf(filled[0]!.type)}.*`, label), ...options];
}

const listAt = (path: Collection, part?: string) =>
	async (n8n: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> => await listedOptions(await editorConnection(n8n), path, part);

export const getOwners = listAt('/users');
export const getPipelines = listAt('/pipelines');
export const getStages = listAt('/pipelines', 'stages');
