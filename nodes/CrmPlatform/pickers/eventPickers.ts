import type { IDataObject, ILoadOptionsFunctions, INodePropertyOptions } from 'n8n-workflow';

import type { EventType } from '../api/openapi/eventTypes';
import type { Collection } from '../api/http/path';
import { getOrCreate } from '../base/maps';
import { labelFor } from '../fields/field';
import { firstRecords } from '../lookUp/recordList';
import { editorConnection } from './editorContext';
import { listedOptions } from './fieldChoices';

/**
 * The events to choose from: all events, then all of each resource and each by itself. The records of the account's custom
 * objects have events of their own.
 */
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

/** The users, who can own records. */
export const getOwners = listAt('/users');
export const getPipelines = listAt('/pipelines');
/** The stages of all pipelines. */
export const getStages = listAt('/pipelines', 'stages');
