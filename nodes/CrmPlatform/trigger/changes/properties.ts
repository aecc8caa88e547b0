import type { INodeProperties } from 'n8n-workflow';

import { mapperProperty } from '../../parameters/fields';
import { outputFieldsOption, simplifyProperty } from '../../parameters/output';
import { resources } from '../../resources';
import { eventProperties, ignoreProperties } from '../eventProperties';

const forEvents = { show: { source: ['events'] } };
const forRecords = { show: { source: ['records'] } };

/** Resources whose records can be listed without choosing anything before. */
const listable = resources
	.filter(({ path, operations }) => !path.includes('{') && operations.some(({ option }) => option.value === 'getMany'))
	// Events are what tells of changes, and have none of their own.
	.filter(({ value }) => !['event', 'webhookDelivery', 'job', 'webhook'].includes(value));

/** The parameters of the Poll Trigger. */
export const changeProperties: INodeProperties[] = [
	{
		displayName: 'Start With',
		name: 'source',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'Events', value: 'events', description: 'What happens in the CRM, each event once' },
			{
				name: 'Records',
				value: 'records',
				description: 'All records of a kind first, then each one again whenever it changes',
			},
		],
		default: 'events',
	},
	...eventProperties.map((property): INodeProperties => ({ ...property, displayOptions: forEvents })),
	{
		displayName: 'Resource',
		name: 'resource',
		type: 'options',
		noDataExpression: true,
		options: listable.map(({ name, value }) => ({ name, value })),
		default: 'contact',
		displayOptions: forRecords,
	},
	{
		...mapperProperty(
			{
				displayName: 'Records in Scope',
				name: 'recordFilters',
				description: 'Only records that meet all of these filters; no filter means every record',
			},
			{
				mode: 'add',
				resourceMapperMethod: 'getFilters',
				valuesLabel: 'Filters',
				fieldWords: { singular: 'filter', plural: 'filters' },
				addAllFields: false,
				supportAutoMap: false,
			},
		),
		displayOptions: forRecords,
	},
	{ ...simplifyProperty, displayOptions: forRecords },
	{
		displayName: 'Begin',
		name: 'start',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'From Now On',
				value: 'now',
				description: 'With what happens after the workflow is published for the first time',
			},
			{
				name: 'Since a Date',
				value: 'date',
				description: 'With what has happened since then, as far as the service still knows it',
			},
		],
		default: 'now',
		description: 'Where to begin. Changed later, the trigger begins there anew.',
		displayOptions: forEvents,
	},
	{
		displayName: 'Since',
		name: 'since',
		type: 'dateTime',
		// An expression such as {{ $now }} would give another beginning with every publish.
		noDataExpression: true,
		required: true,
		default: '',
		displayOptions: { show: { source: ['events'], start: ['date'] } },
		description: 'The date to begin at, in the time zone of the workflow',
	},
	{
		displayName: 'Executions',
		name: 'grouping',
		type: 'options',
		noDataExpression: true,
		options: [
			{ name: 'One for Each', value: 'each', description: 'Each event or record starts an execution of its own' },
			{
				name: 'One for a Group',
				value: 'group',
				description: 'Whatever is new starts one execution, up to the size of a group',
			},
		],
		default: 'each',
	},
	{
		displayName: 'Group Size',
		name: 'groupSize',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 500 },
		default: 100,
		description: 'The most events or records that one execution gets',
		displayOptions: { show: { grouping: ['group'] } },
	},
	{
		displayName: 'Move On',
		name: 'moveOn',
		type: 'options',
		noDataExpression: true,
		options: [
			{
				name: 'When Started',
				value: 'started',
				description: 'Start several executions at a time, whatever comes of them',
			},
			{
				name: 'When Ended',
				value: 'ended',
				description: 'Start one execution after the other, in sequence, whatever comes of them',
			},
			{
				name: 'When Succeeded',
				value: 'succeeded',
				description: 'Start an execution again that has failed, then set its event aside and report it',
			},
		],
		default: 'started',
		description: 'When an event or record counts as done',
	},
	{
		displayName: 'Attempts',
		name: 'attempts',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 20 },
		default: 3,
		description: 'How often the workflow is started before the event is set aside, the first time included',
		displayOptions: { show: { moveOn: ['succeeded'] } },
	},
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [
			{
				displayName: 'Executions at Once',
				name: 'atOnce',
				type: 'number',
				typeOptions: { minValue: 1, maxValue: 100 },
				default: 5,
				description:
					'The most executions under way; with Move On When Ended it is one. Those about the same record run one after the other.',
			},
			...ignoreProperties.map((property) => ({ ...property, displayOptions: { show: { '/source': ['records'] } } })),
			{
				displayName: 'Interval (Seconds)',
				name: 'interval',
				type: 'number',
				typeOptions: { minValue: 1, maxValue: 86_400 },
				default: 15,
				description: 'How often the service is asked for news',
			},
			{ ...outputFieldsOption, displayOptions: { show: { '/source': ['records'] } } },
		],
	},
];
