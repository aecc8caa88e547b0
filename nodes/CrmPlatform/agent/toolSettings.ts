import type { IExecuteFunctions } from 'n8n-workflow';

import { isBlank } from '../values/blank';
import { maxAnswerLengthOf } from '../parameters/maxAnswerLength';
import { readBoolean } from '../values/readers';
import type { Operation, Resource } from '../model';
import { resourceNamed } from '../resources';

/** What the workflow’s author lets a model do; without any, it reads. */
export const toolVerbs = ['create', 'update', 'upsert', 'delete', 'tag', 'act', 'send'] as const;
type ToolVerb = (typeof toolVerbs)[number];

/** The tools, without the beginning of their names. */
export const toolNames = ['search', 'get', 'describe', 'count', 'change', 'act'] as const;
export type ToolName = (typeof toolNames)[number];

/** A kind of record, as a model names it. */
export interface ToolKind {
	/** `contact`; of a custom object its key: `cars`. */
	name: string;
	resource: Resource;
	/** The key of a custom object. */
	objectKey?: string;
}

export interface ToolSettings {
	kinds: ToolKind[];
	verbs: ReadonlySet<ToolVerb>;
	/** Whether a write needs a preview: the first call returns a token, and a call with the token writes. */
	asksFirst: boolean;
	/** Maximum characters of an answer. */
	maxLength: number;
	/** What the names of the tools begin with. */
	prefix: string;
	/** The tools that are offered. */
	tools: readonly ToolName[];
}

const customObjectKind = 'customObjectRecord';

/** @throws Error in the user's words */
export function toolSettings(n8n: IExecuteFunctions, item = 0): ToolSettings {
	const read = (name: string): unknown => n8n.getNodeParameter(name, item, '');
	const chosen = (name: string): string[] => [read(name) ?? []].flat().map(String).filter((value) => !isBlank(value));
	const kinds = kindsNamed(chosen('kinds'));
	const verbs = new Set(chosen('writes').map((verb) => oneOf(toolVerbs, verb, 'May Write')));
	const selectedTools = chosen('tools').map((tool) => oneOf(toolNames, tool, 'Tools'));
	const offeredTools = (selectedTools.length > 0 ? toolNames.filter((name) => selectedTools.includes(name)) : toolNames).filter((name) => isOffered(name, kinds, verbs));
	if (offeredTools.length === 0) throw new Error('Tools: every selected tool writes, but May Write is empty. Select what the model may write, or add a tool that reads.');
	const prefix = String(read('options.prefix') ?? '').trim() || 'crm';
	if (!/^[a-zA-Z][\w-]{0,30}$/.test(prefix)) throw new Error('Tool Name Prefix: use letters, digits and underscores, such as crm.');
	return {
		kinds,
		verbs,
		asksFirst: readBoolean('Ask Before Writing', read('askBeforeWriting'), { otherwise: true }),
		maxLength: maxAnswerLengthOf(n8n),
		prefix,
		tools: offeredTools,
	};
}

function oneOf<Choice extends string>(all: readonly Choice[], value: string, label: string): Choice {
	const found = all.find((choice) => choice === value);
	if (found === undefined) throw new Error(`${label}: ${value} is not one of ${all.join(', ')}.`);
	return found;
}

/** @throws Error in the user's words */
export function kindsNamed(values: string[]): ToolKind[] {
	if (values.length === 0) throw new Error('Kind Names or IDs: choose at least one.');
	return values.map(kindNamed);
}

function kindNamed(value: string): ToolKind {
	const [name = '', objectKey] = value.split(':');
	const resource = resourceNamed(name);
	if (!resource || (name === customObjectKind && !objectKey)) throw new Error(`Kind Names or IDs: there is no kind ${value}.`);
	return objectKey === undefined ? { name, resource } : { name: objectKey, resource, objectKey };
}

const isOffered = (tool: ToolName, kinds: ToolKind[], verbs: ReadonlySet<ToolVerb>): boolean => {
	if (tool === 'change') return kinds.some((kind) => allowedChanges(verbs, kind).length > 0);
	return tool !== 'act' || kinds.some((kind) => actionsOf(kind, verbs).length > 0);
};

/** What crm_change does. */
export type ToolChange = 'create' | 'update' | 'upsert' | 'delete' | 'tag' | 'untag';

/** @param kind of the changed records; any kind if absent */
export const allowedChanges = (verbs: ReadonlySet<ToolVerb>, kind?: ToolKind): ToolChange[] =>
	(['create', 'update', 'upsert', 'delete', 'tag', 'untag'] as const).filter(
		(change) => verbs.has(change === 'untag' ? 'tag' : change) && (kind === undefined || (hasChange(change, kind) && (verbs.has('send') || !leavesByChange(change, kind)))),
	);

const hasChange = (change: ToolChange, { resource }: ToolKind): boolean =>
	resource.operations.some(({ option }) => option.value === ({ tag: 'addTag', untag: 'removeTag' } as Record<string, string>)[change] || option.value === change);

/** Whether a change may send something out of the CRM: a new message, or a new text of a scheduled one. */
export const leavesByChange = (change: ToolChange, kind: ToolKind): boolean => ['update', 'upsert'].includes(change) && leavesTheCrm(kind);

/** Whether records of the kind leave the CRM, as messages do. */
export const leavesTheCrm = ({ resource }: ToolKind): boolean => resource.operations.some((operation) => operation.leavesTheCrm);

/** What crm_act does with records of a kind: a step with a name of its own, such as winning a deal. */
export const actionsOf = (kind: ToolKind, verbs: ReadonlySet<ToolVerb>): Operation[] =>
	verbs.has(leavesTheCrm(kind) ? 'send' : 'act') ? kind.resource.operations.filter((operation) => operation.leavesTheCrm !== undefined) : [];
