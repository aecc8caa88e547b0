import type { INode } from 'n8n-workflow';
import type { Dialect } from './policies.ts';

/** A node that is a tool, and the credential it needs. */
export interface ToolNode extends Pick<INode, 'name' | 'type' | 'parameters'> {
	typeVersion?: number;
	credential?: { type: string; data: (url: string) => Record<string, string> };
}

/** The tools of an agent: its nodes, and how they are called. */
export interface Toolset {
	name: string;
	nodes: (url: string) => ToolNode[];
	/** Missing if there is no service to run it against: then only its schemas are counted. */
	dialect?: Dialect;
}

const recordTypes = ['contact', 'company', 'deal', 'ticket', 'task', 'note', 'activity'];

/** CRM Platform Tools: one node. */
export const sixTools: Toolset = {
	name: 'CRM Platform Tools',
	nodes: () => [
		{
			name: 'CRM',
			type: 'n8n-nodes-crm-platform.crmPlatformTools',
			parameters: { kinds: recordTypes, writes: ['create', 'update', 'upsert', 'delete', 'tag', 'act'], askBeforeWriting: false, options: { maxWait: 0 } },
		},
	],
	dialect: ({ tool }, values) => [{ tool: `crm_${tool}`, input: values }],
};

const byModel = (name: string, description: string, type = 'string') => `={{ $fromAI('${name}', '${description}', '${type}') }}`;
const record = { __rl: true, mode: 'id', value: byModel('ID', 'The id of the record') };
const named = (name: string) => ({ __rl: true, mode: 'name', value: byModel(name, 'Its name') });
const fields = { fieldsMode: 'json', fieldsJson: byModel('Fields', 'Fields and values as one object', 'json') };
const listed = {
	limit: 20,
	simplify: true,
	options: { onePage: true, maxWait: 0 },
	filters: { rows: [{ field: 'q', operator: 'is', value: byModel('Search', 'Words to search for') }] },
};

/** The operations of the tasks, each a node: name, resource, operation, parameters. */
const operations: Array<[name: string, resource: string, operation: string, parameters: object]> = [
	...recordTypes.map((recordType): [string, string, string, object] => [`find_${recordType}`, recordType, 'getMany', listed]),
	...['contact', 'deal', 'ticket'].map((recordType): [string, string, string, object] => [`get_${recordType}`, recordType, 'get', { recordId: record, simplify: true }]),
	...['contact', 'ticket', 'task', 'note', 'activity'].map((recordType): [string, string, string, object] => [`create_${recordType}`, recordType, 'create', fields]),
	...['contact', 'deal', 'ticket'].map((recordType): [string, string, string, object] => [`update_${recordType}`, recordType, 'update', { recordId: record, ...fields }]),
	['upsert_contact', 'contact', 'upsert', { fieldsMatchOn: 'email', ...fields }],
	['delete_contact', 'contact', 'delete', { recordId: record }],
	['tag_contact', 'recordTag', 'addTag', { kind: 'contact', recordId: record, tagId: named('Tag') }],
	['moveToStage_deal', 'deal', 'moveToStage', { recordId: record, stageId: named('Stage') }],
	['win_deal', 'deal', 'win', { recordId: record }],
	['lose_deal', 'deal', 'lose', { recordId: record, ...fields }],
	['solve_ticket', 'ticket', 'solve', { recordId: record, assigneeId: named('Assignee') }],
	['assign_ticket', 'ticket', 'assign', { recordId: record, assigneeId: named('Assignee') }],
	['complete_task', 'task', 'complete', { recordId: record }],
];

/** CRM Platform as a tool: a node for each operation. */
export const oneOperationEach: Toolset = {
	name: 'CRM Platform, a node for each operation',
	nodes: () => operations.map(([name, resource, operation, parameters]) => ({
		name,
		type: 'n8n-nodes-crm-platform.crmPlatformTool',
		parameters: { resource, operation, descriptionType: 'manual', toolDescription: `${operation} ${resource}`, options: { maxWait: 0 }, ...parameters },
	})),
	dialect({ tool }, values) {
		const { kind, action, record: id, query, filters, values: fieldValues = {}, tag } = values as Record<string, never>;
		const words = query ?? Object.values((filters ?? {})).find((value) => typeof value === 'string');
		const verb = { search: 'find', count: 'find', get: 'get', change: action, act: action }[tool] as string;
		const isNothing = Object.keys(values).length === 0;
		const name = isNothing ? undefined : `${verb}_${String(kind)}`;
		if (!operations.some(([operationName]) => operationName === name)) return [];
		const { stage, assignee } = fieldValues as { stage?: string; assignee?: string };
		const input = { Search: words, ID: id, Fields: fieldValues, Stage: stage, Assignee: assignee, Tag: tag };
		const node = JSON.stringify(operations.find(([operationName]) => operationName === name)![3]);
		return [{ tool: name!, input: Object.fromEntries(Object.entries(input).filter(([key, value]) => value !== undefined && node.includes(`$fromAI('${key}'`))) }];
	},
};
