import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeCredentials, INodeExecutionData } from 'n8n-workflow';
import type { N8nClient } from '../../../demo/n8n-client.ts';
import { inARow, workflowNode } from '../../../demo/workflow-node.ts';
import { itemsOf, nodeTypeFor, triggerName } from './run-n8n-node.ts';

/** A CRM Platform node of a chain. Later nodes refer to it by its name. */
export interface ChainStep {
	name: string;
	resource: string;
	operation: string;
	parameters?: IDataObject;
}

interface ChainResult {
	status: string;
	/** The output of each node, by its name. */
	outputs: Record<string, INodeExecutionData[]>;
	/** What n8n shows when the execution has failed. */
	error: string | undefined;
}

/**
 * Runs a workflow of CRM Platform nodes, one after another.
 *
 * @param input the input of the first node; one empty item by default
 */
export async function runChain(
	n8n: N8nClient,
	credentials: INodeCredentials,
	steps: ChainStep[],
	input: IDataObject[] = [{}],
): Promise<ChainResult> {
	const trigger = workflowNode(triggerName, 'n8n-nodes-base.manualTrigger', 1, {});
	const nodes = steps.map(({ name, resource, operation, parameters }, place) =>
		workflowNode(name, nodeTypeFor(resource), 1, { resource, operation, ...parameters }, { position: [220 * (place + 1), 0], credentials }),
	);
	const all = [trigger, ...nodes];
	const pinData = { [triggerName]: input.map((json) => ({ json })) };
	const workflow = { name: `Test ${randomUUID()}`, nodes: all, connections: inARow(all), pinData };
	const id = await n8n.createWorkflow(workflow);
	const { status, data } = await n8n.runWorkflow(id, triggerName);
	const { error } = data.resultData;
	const outputs = Object.fromEntries(steps.map(({ name }) => [name, itemsOf(data, name)]));
	return { status, outputs, error: error && `${error.message}\n${error.description ?? ''}` };
}
