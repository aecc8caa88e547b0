import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { N8nClient } from '../../../demo/n8n-client.ts';
import { workflowNode } from '../../../demo/workflow-node.ts';
import { nodeTypeFor, TRIGGER } from './run-node.ts';

/** One CRM Platform node of a chain: its name, by which later ones refer to it, and what it does. */
export interface Link {
	name: string;
	resource: string;
	operation: string;
	parameters?: IDataObject;
}

interface ChainResult {
	status: string;
	/** What each node has put out, by its name. */
	outputs: Record<string, INodeExecutionData[]>;
	/** What n8n shows when the execution has failed. */
	error: string | undefined;
}

/**
 * Runs a workflow of CRM Platform nodes, one after another.
 *
 * @param input what the first of them gets; one empty item if nothing is given
 */
export async function runChain(
	n8n: N8nClient,
	credentialId: string,
	links: Link[],
	input: IDataObject[] = [{}],
): Promise<ChainResult> {
	const trigger = workflowNode(TRIGGER, 'n8n-nodes-base.manualTrigger', 1, {});
	const credentials = { crmPlatformApi: { id: credentialId, name: 'Sandbox' } };
	const nodes = links.map(({ name, resource, operation, parameters }, place) =>
		workflowNode(name, nodeTypeFor(resource), 1, { resource, operation, ...parameters }, { position: [220 * (place + 1), 0], credentials }),
	);
	const all = [trigger, ...nodes];
	const connections = Object.fromEntries(
		all
			.slice(1)
			.map((next, place) => [
				all[place]!.name,
				{ main: [[{ node: next.name, type: 'main' as const, index: 0 }]] },
			]),
	);
	const pinData = { [TRIGGER]: input.map((json) => ({ json })) };
	const workflow = { name: `Test ${randomUUID()}`, nodes: all, connections, pinData };
	const id = await n8n.createWorkflow(workflow);
	const { status, data } = await n8n.runWorkflow(id, TRIGGER);
	const { runData, error } = data.resultData;
	const outputs = Object.fromEntries(
		links.map(({ name }) => [name, runData[name]?.[0]?.data?.['main']?.[0] ?? []]),
	);
	return { status, outputs, error: error && `${error.message}\n${error.description ?? ''}` };
}
