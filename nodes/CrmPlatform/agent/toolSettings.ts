import type { IExecuteFunctions } from 'n8n-workflow';

import { isBlank } from '../values/blank';
import { maxAnswerLengthOf } from '../parameters/maxAnswerLength';
import { readBoolean, readOption } from '../values/readers';
import type { Operation, Resource } from '../model';
import { resourceNamed } from '../resources';

/** What the workflow’s author lets a model do beyond reading. */
export const toolVerbs = ['create', 'update', 'upsert', 'delete', 'tag', 'act', 'send'] as const;
type ToolVerb = (typeof toolVerbs)[number];

/** The tools, by their names without the prefix. */
export const toolNames = ['search', 'get', 'describe', 'count', 'change', 'act'] as const;
export type ToolName = (typeof toolNames)[number];

/** A type of record: a resource, or one custom object. Models call it `kind`. */
export interface RecordType {
	/** `contact`; for a custom object, its key: `cars`. */
	name: string;
	resource: Resource;
	/** The key of a custom object. */
	objectKey?: string;
}

export interface ToolSettings {
	recordTypes: RecordType[];
	verbs: ReadonlySet<ToolVerb>;
	/** Whether a write needs a preview: the first call returns a token, and a call with the token writes. */
	asksFirst: boolean;
	/** Maximum characters of an answer. */
	maxLength: number;
	/** The beginning of the names of the tools. */
	prefix: string;
	/** The tools that are offered. */
	tools: readonly ToolName[];
}

const customObjectRecords = 'customObjectRecord';

/** @throws Error in the user's words */
export function toolSettings(n8n: IExecuteFunctions, item = 0): ToolSettings {
	const read = (name: string): unknown => n8n.getNodeParameter(name, item, '');
	const chosen = (name: string): string[] => [read(name) ?? []].flat().map(String).filter((value) => !isBlank(value));
	const recordTypes = recordTypesNamed(chosen('kinds'));
	const verbs = new Set(chosen('writes').map((verb) => readOption('May Write', verb, toolVerbs)));
	const selectedTools = chosen('tools').map((tool) => readOption('Tools', tool, toolNames));
	const isSelected = (name: ToolName) => selectedTools.length === 0 || selectedTools.includes(name);
	const offeredTools = toolNames.filter((name) => isSelected(name) && isOffered(name, recordTypes, verbs));
	if (offeredTools.length === 0) {
		throw new Error('Tools: every selected tool writes, but May Write is empty. Select what the model may write, or add a tool that reads.');
	}
	const prefix = String(read('options.prefix') ?? '').trim() || 'crm';
	if (!/^[a-zA-Z][\w-]{0,30}$/.test(prefix)) throw new Error('Tool Name Prefix: begin with a letter, and use at most 31 letters, digits, underscores and hyphens, such as crm.');
	return {
		recordTypes,
		verbs,
		asksFirst: readBoolean('Ask Before Writing', read('askBeforeWriting'), { otherwise: true }),
		maxLength: maxAnswerLengthOf(n8n),
		prefix,
		tools: offeredTools,
	};
}

/** @throws Error in the user's words */
export function recordTypesNamed(values: string[]): RecordType[] {
	if (values.length === 0) throw new Error('Record Type Names or IDs: choose at least one.');
	return values.map(recordTypeNamed);
}

function recordTypeNamed(value: string): RecordType {
	const [name = '', objectKey] = value.split(':');
	const resource = resourceNamed(name);
	if (!resource || (name === customObjectRecords && !objectKey)) {
		throw new Error(`Record Type Names or IDs: there is no record type ${value}.`);
	}
	return objectKey === undefined ? { name, resource } : { name: objectKey, resource, objectKey };
}

const isOffered = (tool: ToolName, recordTypes: RecordType[], verbs: ReadonlySet<ToolVerb>): boolean => {
	if (tool === 'change') return recordTypes.some((recordType) => allowedChanges(verbs, recordType).length > 0);
	return tool !== 'act' || recordTypes.some((recordType) => actionsOf(recordType, verbs).length > 0);
};

/** The changes that crm_change offers, and the operations that make them. */
export const operationsOfChanges = {
	create: 'create',
	update: 'update',
	upsert: 'upsert',
	delete: 'delete',
	tag: 'addTag',
	untag: 'removeTag',
} as const;
export type ToolChange = keyof typeof operationsOfChanges;

/** @param recordType the type of the changed records; any type if absent */
export function allowedChanges(verbs: ReadonlySet<ToolVerb>, recordType?: RecordType): ToolChange[] {
	const isPossible = (change: ToolChange, { resource }: RecordType) =>
		resource.operations.some(({ option }) => option.value === operationsOfChanges[change]);
	return (Object.keys(operationsOfChanges) as ToolChange[]).filter((change) => {
		if (!verbs.has(change === 'untag' ? 'tag' : change)) return false;
		return !recordType || (isPossible(change, recordType) && (verbs.has('send') || !changeMaySend(change, recordType)));
	});
}

/** Whether a change may send something out of the CRM: a new message, or a new text of a scheduled one. */
export const changeMaySend = (change: ToolChange, recordType: RecordType): boolean =>
	['update', 'upsert'].includes(change) && hasSendingAction(recordType);

/** Whether an action sends records of this type out of the CRM, as it does with messages. */
export const hasSendingAction = ({ resource }: RecordType): boolean =>
	resource.operations.some(({ action }) => action?.leavesTheCrm);

/** The actions that crm_act offers for a record type, such as winning a deal. */
export const actionsOf = (recordType: RecordType, verbs: ReadonlySet<ToolVerb>): Operation[] =>
	verbs.has(hasSendingAction(recordType) ? 'send' : 'act') ? recordType.resource.operations.filter(({ action }) => action) : [];
