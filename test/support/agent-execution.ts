import { SupplyDataContext } from 'n8n-core';
import { makeHandleToolInvocation } from 'n8n-core/dist/execution-engine/node-execution-context/utils/get-input-connection-data';
import { createRunExecutionData, type IDataObject, type ISupplyDataFunctions } from 'n8n-workflow';

import { workflowIn } from './node-context.ts';
import { asTool } from './engine-agent.ts';
import { parts, type Setup } from './node-runs.ts';

/** Calls the node with a model's arguments, and returns the answer that the model reads. */
type Tool = (input: IDataObject) => Promise<IDataObject>;

/**
 * One execution of a workflow in which an AI agent has the node as a tool, as n8n runs it for
 * agents that call their tools themselves.
 *
 * @param item input item of the agent
 * @returns creates the tool, as n8n does for each input item of the agent
 */
export function agentWith(setup: Setup, item: IDataObject = {}): () => Tool {
	const toolFor = agentReading(setup, item);
	return () => {
		const tool = toolFor();
		return async (input) => {
			const [answer] = JSON.parse(await tool(input)) as IDataObject[];
			return answer!;
		};
	};
}

/**
 * An execution whose tool returns the text that the model reads. If the node throws an error, that text is empty
 * (LangChain's AgentExecutor in n8n 2.41).
 *
 * @param parent type of the node that has the tool: MCP Server Trigger passes errors on
 */
export function agentReading(
	setup: Setup,
	item: IDataObject = {},
	parent = '@n8n/n8n-nodes-langchain.agent',
): () => (input: IDataObject) => Promise<string> {
	const { workflow, node, additionalData } = workflowIn({ ...parts, node: asTool(parts.node) }, setup);
	Object.assign(node, { type: `${node.type}Tool` });
	const execution = createRunExecutionData();
	const contextOf = (run: number) =>
		new SupplyDataContext(
			workflow,
			node,
			additionalData,
			'manual',
			execution,
			run,
			[{ json: item }],
			{},
			'ai_tool',
			{ node, data: {}, source: null },
			[],
			undefined,
			{ ...node, name: 'Parent', type: parent },
		) as unknown as ISupplyDataFunctions;
	return () => {
		const invoke = makeHandleToolInvocation(contextOf, node, parts.node, execution);
		const thrown = (error: Error) => (parent.endsWith('agent') ? '' : error.message);
		return async (input) => await invoke(input).catch(thrown);
	};
}
