import type { INodeProperties } from 'n8n-workflow';

import { authentication, maxWait } from '../actionProperties';
import { maxAnswerLength } from '../parameters/maxAnswerLength';

/** Seconds: people wait for an answer, and n8n's MCP trigger for 120 (n8n 2.41). */
export const maxToolWait = 60;

/** The parameters of CRM Platform Tools: what the author lets a model do. */
export const toolProperties: INodeProperties[] = [
	authentication,
	{
		displayName: 'Record Type Names or IDs',
		name: 'kinds',
		type: 'multiOptions',
		typeOptions: { loadOptionsMethod: 'getRecordTypes' },
		default: ['contact', 'company', 'deal', 'ticket', 'task', 'note', 'activity', 'message'],
		description:
			'The record types that the model can see, custom objects included. Choose from the list, or specify IDs using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
	},
	{
		displayName: 'May Write',
		name: 'writes',
		type: 'multiOptions',
		options: [
			{ name: 'Create', value: 'create', description: 'New records' },
			{
				name: 'Create or Update',
				value: 'upsert',
				description: 'Create a new record, or update the current one if it already exists (upsert)',
			},
			{ name: 'Delete', value: 'delete', description: 'Only records that the model names individually' },
			{ name: 'Send', value: 'send', description: 'Messages to people' },
			{ name: 'Tag', value: 'tag', description: 'Adding and removing tags' },
			{ name: 'Take Actions', value: 'act', description: 'Actions such as moving a deal, solving a ticket or completing a task' },
			{ name: 'Update', value: 'update', description: 'Fields of records' },
		],
		default: [],
		description: 'The kinds of changes that the model may make. If none is selected, it can only read.',
	},
	{
		displayName: 'Ask Before Writing',
		name: 'askBeforeWriting',
		type: 'boolean',
		default: true,
		description: 'Whether the model must preview each write, and then confirm it with the token from the preview',
	},
	{
		displayName: 'Tools',
		name: 'tools',
		type: 'multiOptions',
		options: [
			{ name: 'Change', value: 'change' },
			{ name: 'Count', value: 'count' },
			{ name: 'Describe', value: 'describe' },
			{ name: 'Get', value: 'get' },
			{ name: 'Search', value: 'search' },
			{ name: 'Take Actions', value: 'act' },
		],
		default: ['search', 'get', 'describe', 'count', 'change', 'act'],
		description: 'The tools to offer. Those that write are offered only if May Write allows it.',
	},
	{ ...maxAnswerLength, displayOptions: {} },
	{
		displayName: 'Options',
		name: 'options',
		type: 'collection',
		placeholder: 'Add option',
		default: {},
		options: [
			{ ...maxWait, default: maxToolWait, description: 'How long a request may wait for the rate limit or the CRM' },
			{
				displayName: 'Tool Name Prefix',
				name: 'prefix',
				type: 'string',
				default: 'crm',
				description: 'The beginning of each tool’s name. If an agent uses two of these nodes, give them different prefixes.',
			},
		],
	},
];
