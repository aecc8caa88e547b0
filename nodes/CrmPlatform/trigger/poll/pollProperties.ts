import type { INodeProperties } from 'n8n-workflow';

import { filtersProperty } from '../../parameters/listParameters';
import { addNamesOption, outputFieldsOption, simplifyProperty } from '../../parameters/outputParameters';
import { resources } from '../../resources';
import { eventProperties, ignoreProperties } from '../eventProperties';
import { choiceProperty, dateProperty, numberProperty, optionsCollection } from '../../parameters/properties';

const forEvents = { show: { source: ['events'] } };
const forRecords = { show: { source: ['records'] } };

const polledResources = resources.filter(({ isPolled }) => isPolled);

export const pollDefaults = { atOnce: 5, attempts: 3, groupSize: 100, interval: 15 };

export const pollProperties: INodeProperties[] = [
	// Not “Trigger On”: under this label, n8n's node creator offers the options as separate triggers (2.41).
	choiceProperty('Start On', 'source', 'events', [
		['Events', 'events', 'Start for each event in the CRM, once'],
		['Records', 'records', 'Start for all existing records first, then for each record that changes'],
	]),
	...eventProperties.map((property): INodeProperties => ({ ...property, displayOptions: forEvents })),
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: polledResources.map(({ name, value }) => ({ name, value })),
		default: 'contact',
		displayOptions: forRecords,
	},
	...polledResources.flatMap(({ value, parents = [] }) =>
		parents.map((parent) => ({ ...parent, displayOptions: { show: { source: ['records'], resource: [value] } } })),
	),
	{
		...filtersProperty({
			displayName: 'Records in Scope',
			name: 'recordFilters',
			description: 'Only include records that match all filters. Without filters, all records are included.',
		}),
		displayOptions: forRecords,
	},
	{ ...simplifyProperty, displayOptions: forRecords },
	choiceProperty('Start From', 'start', 'now', [
		['First Publish', 'now', 'Start with events that occur after the workflow is first published'],
		['A Date', 'date', 'Start with events since a date, as far back as the CRM keeps them'],
	], {
		description: 'Where to start. If you change this later, the trigger starts over from there, but skips events that already have an execution.',
		displayOptions: forEvents,
	}),
	dateProperty('Since', 'since', {
		// An expression such as {{ $now }} would change the beginning with every publish.
		noDataExpression: true,
		required: true,
		displayOptions: { show: { source: ['events'], start: ['date'] } },
		description: 'The date to start from, in the workflow’s time zone',
	}),
	choiceProperty('Executions', 'grouping', 'each', [
		['One for Each', 'each', 'Start a separate execution for each event or record'],
		['One for a Group', 'group', 'Start one execution for all new events or records, up to the group size'],
	]),
	numberProperty('Group Size', 'groupSize', pollDefaults.groupSize, {
		typeOptions: { minValue: 1, maxValue: 500 },
		description: 'The maximum number of events or records per execution',
		displayOptions: { show: { grouping: ['group'] } },
	}),
	choiceProperty('Mark as Done When', 'doneWhen', 'started', [
		['The Execution Starts', 'started', 'Start several executions at a time, regardless of their outcome'],
		['The Execution Ends', 'ended', 'Start one execution after another, in order, regardless of their outcome'],
		['The Execution Succeeds', 'succeeded', 'Start failed events again. After the last attempt, set the event aside and report it.'],
	], { description: 'When an event or record counts as done. The trigger does not start it again afterwards.' }),
	numberProperty('Attempts', 'attempts', pollDefaults.attempts, {
		typeOptions: { minValue: 1, maxValue: 20 },
		description: 'How many times to start the workflow, including the first, before the event is set aside',
		displayOptions: { show: { doneWhen: ['succeeded'] } },
	}),
	optionsCollection([
		choiceProperty('After a Crash', 'afterCrash', 'startAgain', [
			['Set Aside', 'setAside', 'Report these events instead of starting them again, so that nothing is done twice'],
			['Start Again', 'startAgain', 'Start these events again, although some may have succeeded'],
		], {
			displayOptions: { show: { '/doneWhen': ['succeeded'] } },
			description: 'What to do with events whose executions were running when n8n was killed',
			noDataExpression: false,
		}),
		numberProperty('Executions at Once', 'atOnce', pollDefaults.atOnce, {
			typeOptions: { minValue: 1, maxValue: 100 },
			description: 'The maximum number of concurrent executions. It is always one with The Execution Ends. Executions for the same record run one after another.',
		}),
		...ignoreProperties.map((property) => ({ ...property, displayOptions: { show: { '/source': ['records'] } } })),
		numberProperty('Interval (Seconds)', 'interval', pollDefaults.interval, {
			typeOptions: { minValue: 1, maxValue: 86_400 },
			description: 'How often to poll the CRM',
		}),
		addNamesOption,
		{ ...outputFieldsOption, displayOptions: { show: { '/source': ['records'] } } },
	]),
];
