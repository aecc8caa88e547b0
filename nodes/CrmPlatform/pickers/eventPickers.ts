import type { IDataObject, ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import type { EventCatalog, EventType } from '../api/openapi/eventTypes';
import { labelFor } from '../fields/field';
import { firstRecords } from '../lookUp/lookUp';
import { editorConnection } from './editorContext';
import { filterPickers } from './filterPickers';
import { recordOptions } from './fieldChoices';
import { getChangedFields } from './listOptions';

/** The events to choose from: all events, then all of each resource and each by itself. */
async function getEvents(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const api = await editorConnection(this);
	const catalog = await api.describeEvents();
	const hasTemplates = catalog.types.some(isTemplate);
	// The other events can be chosen even if there are no custom objects, or the service does not answer.
	const objects = hasTemplates ? await firstRecords(api, '/custom-objects').catch(() => []) : [];
	return eventOptions(catalog, objects);
}

/** @param objects the account's custom objects, whose records have events of their own */
function eventOptions({ types, patterns }: EventCatalog, objects: IDataObject[]): INodePropertyOptions[] {
	const [templates, plain] = [types.filter(isTemplate), types.filter((type) => !isTemplate(type))];
	const custom = objects.flatMap((object) => customOptions(object, templates));
	const groups = [...new Set([...patterns.map(groupOf), ...plain.map(({ type }) => groupOf(type))])];
	const options = groups.flatMap((group) => [
		...patterns.filter((pattern) => groupOf(pattern) === group).map(patternOption),
		...plain.filter(({ type }) => groupOf(type) === group).map(typeOption),
	]);
	return [...options, ...custom];
}

const isTemplate = ({ type }: EventType): boolean => type.includes('{');

/** The resource of an event: `deal.won` and `deal.*` belong together. */
const groupOf = (type: string): string => type.split('.').slice(0, -1).join('.');

function patternOption(pattern: string): INodePropertyOptions {
	const group = groupOf(pattern);
	const about = group === '' ? 'Every Event' : `All ${labelFor(group)} Events`;
	const scope = group === '' ? 'All events' : `All ${labelFor(group).toLowerCase()} events`;
	return { name: about, value: pattern, description: `${scope}, including future ones` };
}

const typeOption = ({ type, summary }: EventType): INodePropertyOptions => ({
	name: labelFor(type),
	value: type,
	description: summary,
});

function customOptions(object: IDataObject, templates: EventType[]): INodePropertyOptions[] {
	const key = String(object.key);
	const label = String(object.label_singular ?? labelFor(key));
	const [first] = templates;
	if (!first) return [];
	const filled = (type: string) => type.replace(/\{\w+\}/, () => key);
	const options = templates.map(({ type, summary }) => ({
		name: `${label} ${labelFor(type.split('.').at(-1) ?? type)}`,
		value: filled(type),
		description: summary,
	}));
	const pattern = `${groupOf(filled(first.type))}.*`;
	return [{ ...patternOption(pattern), name: `All ${label} Events` }, ...options];
}

/** All records of a short list, or their parts. */
function recordsAt(path: string, part?: string) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		return (await firstRecords(await editorConnection(this), path)).flatMap((record) => recordOptions(record, part));
	};
}

/** The lists of both triggers: users can own records, and the stages are those of all pipelines. */
export const eventPickers = {
	...filterPickers,
	getChangedFields,
	getEvents,
	getOwners: recordsAt('/users'),
	getPipelines: recordsAt('/pipelines'),
	getStages: recordsAt('/pipelines', 'stages'),
};
