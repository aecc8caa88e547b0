import type { INodeProperties } from 'n8n-workflow';

import { authentication, maxWait } from '../actionProperties';
import { maxAnswerLength } from '../parameters/outputParameters';
import { booleanProperty, choicesProperty, listedChoice, optionsCollection, textProperty } from '../parameters/properties';
import { toolNames } from './toolSettings';

/** Seconds: people wait for an answer, and n8n's MCP trigger for 120 (n8n 2.41). */
export const maxToolWait = 60;

/** The parameters of CRM Platform AI Toolkit: what the author lets a model do. */
export const toolProperties: INodeProperties[] = [
	authentication,
	listedChoice(
		{
			displayName: 'Record Type Names or IDs',
			name: 'kinds',
			default: ['contact', 'company', 'deal', 'ticket', 'task', 'note', 'activity', 'message'],
			description: 'The record types that the model can see, custom objects included.',
		},
		'getRecordTypes',
	),
	// Without noDataExpression, n8n would offer to let the model decide.
	choicesProperty('May Write', 'writes', [], [
		['Create', 'create', 'New records'],
		['Create or Update', 'upsert', 'Create a new record, or update the current one if it already exists (upsert)'],
		['Delete', 'delete', 'Only records that the model names individually'],
		['Send', 'send', 'Messages to people'],
		['Tag', 'tag', 'Adding and removing tags'],
		['Take Actions', 'act', 'Actions such as moving a deal, solving a ticket or completing a task'],
		['Update', 'update', 'Fields of records'],
	], { description: 'The kinds of changes that the model may make. If none is selected, it can only read.' }),
	booleanProperty(
		'Preview Before Writing',
		'previewBeforeWriting',
		true,
		'Whether the model must preview each write, and then confirm it with the token from the preview',
		{ noDataExpression: true },
	),
	choicesProperty('Tools', 'tools', [...toolNames], [
		['Change', 'change'],
		['Count', 'count'],
		['Describe', 'describe'],
		['Get', 'get'],
		['Search', 'search'],
		['Take Actions', 'act'],
	], { description: 'The tools to offer. Those that write are offered only if May Write allows it.' }),
	{ ...maxAnswerLength, displayOptions: {} },
	optionsCollection([
		{ ...maxWait, default: maxToolWait, description: 'How long a request may wait for the rate limit or the CRM' },
		textProperty('Tool Name Prefix', 'prefix', {
			default: 'crm',
			description: 'The beginning of each tool’s name. If an agent uses two of these nodes, give them different prefixes.',
		}),
	]),
];
