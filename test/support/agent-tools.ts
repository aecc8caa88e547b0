import { SupplyDataContext } from 'n8n-core';
import { createRunExecutionData, type IDataObject, type INodeParameters, type ISupplyDataFunctions } from 'n8n-workflow';

import { CrmPlatformTools } from '../../nodes/CrmPlatform/CrmPlatformTools.node';
import { workflowIn } from './node-context.ts';
import { parts, type Setup } from './node-runs.ts';

/** A tool as n8n's agents see it. */
export interface SuppliedTool {
	name: string;
	description: string;
	schema: { shape: Record<string, unknown> };
	invoke(input: unknown): Promise<string>;
}

export const toolsNode = new CrmPlatformTools();

/** The node's parameters, as the editor stores them. */
export const toolParameters = (more: IDataObject = {}): INodeParameters => ({
	kinds: ['contact', 'company', 'deal', 'ticket', 'task', 'note', 'activity', 'message'],
	writes: [],
	previewBeforeWriting: false,
	tools: ['search', 'get', 'describe', 'count', 'change', 'act'],
	maxAnswerLength: 4000,
	options: {},
	...(more as INodeParameters),
});

export const allWrites = ['create', 'update', 'upsert', 'delete', 'tag', 'act', 'send'];

/**
 * The context in which a node supplies another one, such as an agent, with a tool.
 *
 * @param parent the type of the node that has the tool
 */
export function supplyContext(
	opened: ReturnType<typeof workflowIn>, parent: string, item: IDataObject, run: number, execution = createRunExecutionData(),
): ISupplyDataFunctions {
	const { workflow, node, additionalData } = opened;
	const source = { node, data: {}, source: null };
	const parentNode = { ...node, name: 'Parent', type: parent };
	return new SupplyDataContext(
		workflow, node, additionalData, 'manual', execution, run, [{ json: item }], {}, 'ai_tool', source, [], undefined, parentNode,
	) as unknown as ISupplyDataFunctions;
}

export const agentType = '@n8n/n8n-nodes-langchain.agent';

/** Supplies an agent of version 2, or MCP Server Trigger, with a toolkit or a single tool. */
export async function supplied(credential: Setup['credential'], { timezone, ...more }: IDataObject = {}): Promise<unknown> {
	const opened = workflowIn(
		{ ...parts, node: toolsNode }, { credential, parameters: toolParameters(more), ...(typeof timezone === 'string' && { timezone }) },
	);
	Object.assign(opened.node, { type: 'n8n-nodes-crm-platform.crmPlatformTools' });
	return (await toolsNode.supplyData.call(supplyContext(opened, agentType, {}, 0), 0)).response;
}

export async function suppliedTools(credential: Setup['credential'], more: IDataObject = {}): Promise<SuppliedTool[]> {
	const { tools } = (await supplied(credential, more)) as { tools: SuppliedTool[] };
	return tools;
}

/** @returns calls the tools of one node by their short names, and returns what the model reads */
export async function callerOf(credential: Setup['credential'], more: IDataObject = {}) {
	const tools = await suppliedTools(credential, more);
	return async (tool: string, input: unknown): Promise<IDataObject[]> =>
		JSON.parse(await tools.find(({ name }) => name === `crm_${tool}`)!.invoke(input)) as IDataObject[];
}

/** @returns calls a tool of a new node each time: as on another worker, it remembers no earlier call */
export const callerOfNewNodes =
	(service: { readonly credential: Setup['credential'] }, defaults: IDataObject = {}) =>
	async (tool: string, input: unknown, more: IDataObject = {}) =>
		await (await callerOf(service.credential, { ...defaults, ...more }))(tool, input);
