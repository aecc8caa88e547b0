import { makeHandleToolInvocation } from 'n8n-core/dist/execution-engine/node-execution-context/utils/get-input-connection-data';
import { createRunExecutionData, type IDataObject } from 'n8n-workflow';

import { agentType, supplyContext } from './agent-tools.ts';
import { asTool } from './engine-agent.ts';
import { workflowIn } from './node-context.ts';
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
export function agentReading(setup: Setup, item: IDataObject = {}, parent = agentType): () => (input: IDataObject) => Promise<string> {
	const opened = workflowIn({ ...parts, node: asTool(parts.node) }, setup);
	const { node } = opened;
	Object.assign(node, { type: `${node.type}Tool` });
	const execution = createRunExecutionData();
	const contextOf = (run: number) => supplyContext(opened, parent, item, run, execution);
	return () => {
		const invoke = makeHandleToolInvocation(contextOf, node, parts.node, execution);
		const thrown = (error: Error) => (parent.endsWith('agent') ? '' : error.message);
		return async (input) => await invoke(input).catch(thrown);
	};
}
