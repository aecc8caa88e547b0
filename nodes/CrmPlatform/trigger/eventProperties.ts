import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { originOf, type KeyOrigin } from '../api/http/idempotency';
import { listIn } from '../values/blank';
import { parseOption } from '../values/parsers';
import { choiceProperty, choicesProperty, listedChoice } from '../parameters/properties';
import { ownOrigin, ownOriginChoices, type IgnoredOrigins } from '../log/cause';
import { meaningsOfPatterns } from '../log/crmEvent';
import { type EventChoice, onlyIfProperties } from './eventFilter';
import { returnedContents, type EventOutput } from './eventOutput';
import { asExecution, type TriggerContext } from './triggerContext';
import { namesToAdd } from '../reading/simplify';

export const ignoreProperties: INodeProperties[] = [
	choicesProperty('Ignore Changes Made By', 'ignore', [], [
		['Any Workflow of This Instance', 'instance', 'Ignore changes made by CRM Platform nodes in this n8n instance'],
		['This Workflow', 'workflow', 'Ignore changes made by CRM Platform nodes in this workflow'],
		['Undo', 'undo', 'Ignore what Undo restores, in any workflow of this n8n instance'],
	], { description: 'Changes to ignore, so that workflows do not trigger each other endlessly', noDataExpression: false }),
	listedChoice({ displayName: 'Ignored User Names or IDs', name: 'ignoreUsers', description: 'Users whose changes do not start the workflow.' }, 'getOwners'),
];

/** The parameters of both triggers: the events, and their output. */
export const eventProperties: INodeProperties[] = [
	listedChoice({ displayName: 'Event Names or IDs', name: 'events', required: true }, 'getEvents'),
	choiceProperty('Return', 'output', 'record', [
		['Record', 'record', 'The record as it was at the time of the event, with the event in "event"'],
		['Record as It Is Now', 'current', 'The record, read from the CRM when the workflow starts, with the event in "event"'],
		['Full Event', 'event', 'The event as the CRM sends it, with the record in "data.object"'],
	], { noDataExpression: false }),
	{
		displayName: 'Filters',
		name: 'filters',
		type: 'collection',
		placeholder: 'Add filter',
		default: {},
		description: 'Only start the workflow for events that match all filters',
		options: [
			listedChoice(
				{
					displayName: 'Changed Field Names or IDs',
					name: 'changedFields',
					description: 'Only include changes to at least one of these fields, and events that are not changes, such as new records.',
				},
				'getChangedFields',
				['events'],
			),
			...ignoreProperties,
			...onlyIfProperties,
			listedChoice({ displayName: 'Owner Names or IDs', name: 'owners' }, 'getOwners'),
			listedChoice({ displayName: 'Pipeline Names or IDs', name: 'pipelines' }, 'getPipelines'),
			listedChoice({ displayName: 'Stage Names or IDs', name: 'stages' }, 'getStages'),
		],
	},
];

/** The parameters of a trigger about its events. */
export interface EventParameters extends EventChoice {
	output: EventOutput;
}

/** @throws Error in the user's words if no event is chosen, or a parameter has a value that it does not offer */
export function readEventParameters(n8n: TriggerContext): EventParameters {
	const events = texts(n8n.getNodeParameter('events', []));
	if (events.length === 0) throw new Error('Choose at least one event that starts the workflow.');
	const filters = n8n.getNodeParameter('filters', {}) as IDataObject;
	const content = parseOption('Return', n8n.getNodeParameter('output', 'record'), returnedContents);
	return {
		events: [...new Set(events)].sort(),
		output: { content, receiver: readOrigin(n8n), names: content === 'event' ? 'none' : namesToAdd(asExecution(n8n)) },
		filter: {
			changedFields: texts(filters.changedFields),
			equal: { owner_id: texts(filters.owners), pipeline_id: texts(filters.pipelines), stage_id: texts(filters.stages) },
			ignored: ignoredOrigins(n8n, filters),
		},
	};
}

/** @throws Error in the user's words for a changed field that no record of the events has: the workflow would never start */
export async function refuseUnknownFields(api: Connection, events: string[], changedFields: string[]): Promise<void> {
	if (changedFields.length === 0) return;
	const names = new Set<string>();
	for (const meaning of meaningsOfPatterns(events, await api.describeEvents())) {
		const { fields = [] } = (meaning && (await api.describe(meaning.template))) ?? {};
		if (fields.length === 0 || !api.isSelfDescribed()) return;
		for (const { name } of fields) names.add(name);
	}
	const unknownFields = changedFields.filter((field) => !names.has(field.split('.')[0]!));
	if (unknownFields.length > 0) throw new Error(`Changed Fields: the records of these events do not have ${unknownFields.join(', ')}, so the workflow would never start. Choose the fields again.`);
}

/** The origin that the writes of this workflow carry. */
export const readOrigin = (n8n: TriggerContext): KeyOrigin => originOf(n8n.getInstanceId(), String(n8n.getWorkflow().id));

/** @param filters the values of `ignoreProperties` */
export function ignoredOrigins(n8n: TriggerContext, { ignore, ignoreUsers }: IDataObject): IgnoredOrigins | undefined {
	const workflowOrigin = readOrigin(n8n);
	const chosen = texts(ignore).map((origin) => parseOption('Ignore Changes Made By', origin, ownOriginChoices));
	const ignored = { origins: chosen.map((origin) => ownOrigin(origin, workflowOrigin)), users: texts(ignoreUsers) };
	return ignored.origins.length + ignored.users.length > 0 ? ignored : undefined;
}

/** Reads a list, or a text that stands for one, which an expression may return. */
const texts = (value: unknown): string[] => listIn(value).map((item) => String(item).trim()).filter((text) => text !== '');
