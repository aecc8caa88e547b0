import { ExecutionLifecycleHooks, WorkflowExecute } from 'n8n-core';
import {
	NodeConnectionTypes,
	Workflow,
	type EngineResponse,
	type IDataObject,
	type IExecuteFunctions,
	type INode,
	type INodeExecutionData,
	type INodeType,
} from 'n8n-workflow';

import { nodeTypesOf, workflowIn } from './node-context.ts';
import { parts, type Setup } from './node-runs.ts';

/** Decides after each answer: the arguments of one or several simultaneous calls, or undefined at the end. */
export type Model = (answers: string[], calls: number) => IDataObject[] | undefined;

/**
 * Runs a workflow in which an AI agent of version 3 has the node as its tool: the agent asks n8n's engine to
 * run the tool as an ordinary node.
 *
 * @param settings settings of the node
 * @param items input items of the agent
 * @returns the answers that the model has read, in order
 */
export async function runEngineAgent(
	setup: Setup,
	model: Model,
	settings: Partial<INode> = {},
	items: IDataObject[] = [{}],
	node = parts.node,
): Promise<string[]> {
	const asTools = { ...parts, node: asTool(node) };
	const { node: baseNode, additionalData } = workflowIn(asTools, setup);
	const tool: INode = { ...baseNode, type: `${baseNode.type}Tool`, ...settings };
	const answers: string[] = [];
	let calls = 0;
	const start = nodeType('start', async () => [items.map((json) => ({ json }))]);
	const agent = nodeType('agent', async (_n8n, response) => {
		for (const { data } of response?.actionResponses ?? []) answers.push(observed(data));
		const next = model(answers, calls);
		if (!next) return [[{ json: {} }]];
		return {
			actions: next.map((input, index) => ({
				actionType: 'ExecutionNodeAction' as const,
				nodeName: tool.name,
				input,
				type: NodeConnectionTypes.AiTool,
				id: `call_${calls++}`,
				metadata: { itemIndex: Math.min(index, items.length - 1) },
			})),
			metadata: {},
		};
	});
	const types: Record<string, INodeType> = { start, agent, [tool.type]: asTools.node };
	const nodeOf = (name: string): INode => ({ ...baseNode, id: name, name, type: name, parameters: {}, credentials: {} });
	const workflow = new Workflow({
		id: 'workflow-1',
		nodes: [nodeOf('start'), nodeOf('agent'), tool],
		connections: {
			start: { main: [[{ node: 'agent', type: 'main', index: 0 }]] },
			[tool.name]: { ai_tool: [[{ node: 'agent', type: 'ai_tool', index: 0 }]] },
		},
		active: false,
		nodeTypes: nodeTypesOf((type) => types[type]!),
		settings: { executionOrder: 'v1' },
	});
	const execution = additionalData.executionId!;
	additionalData.hooks = new ExecutionLifecycleHooks('manual', execution, workflow as never);
	const { data } = await new WorkflowExecute(additionalData, 'manual').run({ workflow, startNode: workflow.getNode('start')! });
	const { error } = data.resultData;
	if (error) throw error;
	return answers;
}

/** The answer of a tool as AI Agent 3 reads it (n8n 2.41, buildSteps). */
function observed(data: EngineResponse['actionResponses'][number]['data'] | undefined): string {
	const items = data?.data?.ai_tool?.[0]?.map(({ json }) => json) ?? [];
	if (items.length > 0) return JSON.stringify(items);
	return data?.error ? JSON.stringify({ error: data.error.message }) : '""';
}

type Execute = (n8n: IExecuteFunctions, response?: EngineResponse) => Promise<unknown>;

/** A node beside the one that is tested. */
export function nodeType(name: string, execute: Execute): INodeType {
	return {
		description: {
			displayName: name, name, group: [], version: 1, description: '', defaults: {}, inputs: ['main'], outputs: ['main'], properties: [],
		},
		execute(this: IExecuteFunctions, response?: EngineResponse) {
			return execute(this, response) as Promise<INodeExecutionData[][]>;
		},
	};
}

/** The node's tool variant, as n8n derives it (n8n 2.41, convertNodeToAiTool). */
export function asTool(node: INodeType): INodeType {
	const { description } = node;
	const tool = { ...description, name: `${description.name}Tool`, inputs: [], outputs: [NodeConnectionTypes.AiTool] };
	return Object.assign(Object.create(node) as INodeType, { description: tool });
}
