import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';

import { authentication, maxWait } from '../actionProperties';
import { filledPath, type Collection } from '../api/http/path';
import { operationOf, type Operation, type Resource } from '../model';
import { maxAnswerLength, maxAnswerLengthOf } from '../parameters/outputParameters';
import { booleanProperty, choicesProperty, listedChoice, optionsCollection, textProperty } from '../parameters/properties';
import { resourceNamed } from '../resources';
import { isBlank } from '../values/blank';
import { parseBoolean, parseOption } from '../values/parsers';

/** What the workflow’s author lets a model do beyond reading. */
const toolVerbs = ['create', 'update', 'upsert', 'delete', 'tag', 'act', 'send'] as const;

/** The tools, by their names without the prefix. */
const toolNames = ['search', 'get', 'describe', 'count', 'change', 'act'] as const;
export type ToolName = (typeof toolNames)[number];

/** Seconds: people wait for an answer, and n8n's MCP trigger for 120 (n8n 2.41). */
export const maxToolWait = 60;

export const toolkitProperties: INodeProperties[] = [
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

/** A record type as the tools offer it: a resource, or one custom object. Models call it `kind`. */
export interface ToolkitType {
	/** `contact`; for a custom object, its key: `cars`. */
	name: string;
	resource: Resource;
	objectKey?: string;
	collection: Collection;
	/** Whether an action sends its records out of the CRM, as it does with messages. */
	leavesTheCrm: boolean;
	/** What crm_change does with its records. */
	changeVerbs: ChangeVerb[];
	/** The actions that crm_act offers, such as winning a deal. */
	toolActions: Operation[];
}

export interface ToolkitSettings {
	toolkitTypes: ToolkitType[];
	/** What crm_change does with records of any type. */
	changeVerbs: ChangeVerb[];
	/** Whether a write needs a preview: the first call returns a token, and a call with the token writes. */
	asksFirst: boolean;
	/** Maximum characters of an answer. */
	maxLength: number;
	prefix: string;
	tools: readonly ToolName[];
}

/** @throws Error in the user's words */
export const toolkitSettings = (n8n: IExecuteFunctions, item = 0): ToolkitSettings =>
	settingsIn((name) => n8n.getNodeParameter(name, item, ''), maxAnswerLengthOf(n8n));

/** @param read reads a parameter of the node */
export const prefixIn = (read: (name: string) => unknown): string => String(read('options.prefix') ?? '').trim() || 'crm';

/**
 * @param read reads a parameter of the node
 * @throws Error in the user's words
 */
export function settingsIn(read: (name: string) => unknown, maxLength: number): ToolkitSettings {
	const chosen = (name: string): string[] => [read(name) ?? []].flat().map(String).filter((value) => !isBlank(value));
	const verbs = new Set<string>(chosen('writes').map((verb) => parseOption('May Write', verb, toolVerbs)));
	const changeVerbs = (Object.keys(toolkitChanges) as ChangeVerb[]).filter((verb) => verbs.has(verb === 'untag' ? 'tag' : verb));
	const toolkitTypes = chosen('kinds').map((value) => toolkitTypeNamed(value, changeVerbs, verbs));
	if (toolkitTypes.length === 0) throw new Error('Record Type Names or IDs: choose at least one.');
	const tools = usefulTools(chosen('tools').map((tool) => parseOption('Tools', tool, toolNames)), toolkitTypes);
	const prefix = prefixIn(read);
	if (!/^[a-zA-Z][\w-]{0,30}$/.test(prefix)) {
		throw new Error('Tool Name Prefix: begin with a letter, and use at most 31 letters, digits, underscores and hyphens, such as crm.');
	}
	const asksFirst = parseBoolean('Preview Before Writing', read('previewBeforeWriting'), { otherwise: true });
	return { toolkitTypes, changeVerbs, asksFirst, maxLength, prefix, tools };
}

/** The selected tools that have something to do; all are selected if none is. @throws Error in the user's words if there are none */
function usefulTools(selected: ToolName[], toolkitTypes: ToolkitType[]): ToolName[] {
	const has = (member: 'changeVerbs' | 'toolActions') => toolkitTypes.some((toolkitType) => toolkitType[member].length > 0);
	const isUseful = (name: ToolName) => (name === 'change' ? has('changeVerbs') : name !== 'act' || has('toolActions'));
	const tools = toolNames.filter((name) => (selected.length === 0 || selected.includes(name)) && isUseful(name));
	if (tools.length > 0) return tools;
	throw new Error('Tools: every selected tool writes, but May Write is empty. Select what the model may write, or add a tool that reads.');
}

function toolkitTypeNamed(value: string, changeVerbs: ChangeVerb[], verbs: ReadonlySet<string>): ToolkitType {
	const [name = '', objectKey] = value.split(':');
	const resource = resourceNamed(name);
	if (!resource || (name === 'customObjectRecord' && !objectKey)) {
		throw new Error(`Record Type Names or IDs: there is no record type ${value}.`);
	}
	const { operations } = resource;
	const leavesTheCrm = operations.some(({ toolAction }) => toolAction?.leavesTheCrm);
	// These decide what leaves the CRM: a new message, or a new text or the end of a scheduled one.
	const isSending = (verb: ChangeVerb) => leavesTheCrm && ['update', 'upsert', 'delete'].includes(verb);
	return {
		name: objectKey ?? name,
		resource,
		...(objectKey !== undefined && { objectKey }),
		collection: filledPath(resource.path, () => objectKey ?? ''),
		leavesTheCrm,
		changeVerbs: changeVerbs.filter((verb) => operationOf(resource, toolkitChanges[verb].operation) && (verbs.has('send') || !isSending(verb))),
		toolActions: verbs.has(leavesTheCrm ? 'send' : 'act') ? operations.filter(({ toolAction }) => toolAction) : [],
	};
}

/** What crm_change offers, by the verb: the operation, and its arguments besides kind and token. */
export const toolkitChanges = {
	create: { operation: 'create', args: ['values'] },
	update: { operation: 'update', args: ['record', 'values'] },
	upsert: { operation: 'upsert', args: ['values', 'match_on'] },
	delete: { operation: 'delete', args: ['record'] },
	tag: { operation: 'addTag', args: ['record', 'tag'] },
	untag: { operation: 'removeTag', args: ['record', 'tag'] },
} satisfies Record<string, { operation: string; args: string[] }>;
type ChangeVerb = keyof typeof toolkitChanges;

export const toolActionNames = ({ toolActions }: ToolkitType): string => toolActions.map(({ option }) => option.value).join(', ');
