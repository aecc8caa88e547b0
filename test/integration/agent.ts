import { SupplyDataContext } from 'n8n-core';
import { makeHandleToolInvocation } from 'n8n-core/dist/execution-engine/node-execution-context/utils/get-input-connection-data';
import {
	createRunExecutionData,
	type IDataObject,
	type INode,
	type ISupplyDataFunctions,
} from 'n8n-workflow';

import { workflowIn } from '../../tools/node-context.ts';
import { parts, type Setup } from './n8n.ts';

/** Calls the node with what a model fills in; gives what the model is answered. */
export type Tool = (given: IDataObject) => Promise<IDataObject>;

/**
 * One execution of a workflow in which an AI agent has the node as a tool, as n8n makes it for
 * agents that call their tools themselves.
 *
 * @param settings of the node
 * @param item what the agent works on
 * @returns the tool, made anew for each input item of the agent
 */
export function agentWith(
	setup: Setup,
	settings: Partial<INode> = {},
	item: IDataObject = {},
): () => Tool {
	const { workflow, node, additionalData } = workflowIn(parts, setup);
	Object.assign(node, settings);
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
		) as unknown as ISupplyDataFunctions;
	return () => {
		const invoke = makeHandleToolInvocation(contextOf, node, parts.node, execution);
		return async (given) => {
			const [answer] = JSON.parse(await invoke(given)) as IDataObject[];
			return answer!;
		};
	};
}
