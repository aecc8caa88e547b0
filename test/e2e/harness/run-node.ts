import { randomUUID } from 'node:crypto';
import type { IDataObject, INode, INodeExecutionData } from 'n8n-workflow';
import type { N8nClient, Workflow } from '../../../demo/n8n-client.ts';
import { workflowNode } from '../../../demo/workflow-node.ts';
import { adminMenu } from '../../../nodes/CrmPlatform/resources';

export const TRIGGER = 'Start';
export const ACTION_NODE = 'CRM Platform';

/** The type of the node that has the resource in its menu. */
export const nodeTypeFor = (resource: string): string => {
	const isAdmin = adminMenu.some(({ value }) => value === resource);
	return `n8n-nodes-crm-platform.crmPlatform${isAdmin ? 'Admin' : ''}`;
};

interface NodeRun {
	/** A credential with an API key, unless the parameters say otherwise. */
	credentialId: string;
	parameters: IDataObject;
	/** The items the node gets; one empty item if none are given. */
	input?: IDataObject[];
	onError?: INode['onError'];
}

export interface NodeResult {
	status: string;
	/** What the node put out. */
	items: INodeExecutionData[];
	/** What n8n shows when the execution has failed. */
	error: { message: string; description: string | undefined } | undefined;
}

/** Runs the CRM Platform node once, in a workflow of its own, and gives what came out of it. */
export async function runNode(n8n: N8nClient, run: NodeRun): Promise<NodeResult> {
	const id = await n8n.createWorkflow(workflowWith(run));
	const { status, data } = await n8n.runWorkflow(id, TRIGGER);
	const { runData, error } = data.resultData;
	return {
		status,
		items: runData[ACTION_NODE]?.[0]?.data?.['main']?.[0] ?? [],
		error: error && { message: error.message, description: error.description ?? undefined },
	};
}

/** Manual Trigger → CRM Platform; the input is pinned to the trigger, as a user would pin it. */
export function workflowWith(run: NodeRun): Workflow {
	const { credentialId, parameters, input = [{}], onError } = run;
	return {
		name: `Test ${randomUUID()}`,
		nodes: [
			workflowNode(TRIGGER, 'n8n-nodes-base.manualTrigger', 1, {}),
			workflowNode(ACTION_NODE, nodeTypeFor(String(parameters.resource)), 1, parameters, {
				position: [220, 0],
				credentials: {
					[parameters['authentication'] === 'oAuth2' ? 'crmPlatformOAuth2Api' : 'crmPlatformApi']: {
						id: credentialId,
						name: 'Sandbox',
					},
				},
				...(onError ? { onError } : {}),
			}),
		],
		connections: { [TRIGGER]: { main: [[{ node: ACTION_NODE, type: 'main', index: 0 }]] } },
		pinData: { [TRIGGER]: input.map((json) => ({ json })) },
	};
}

/** Webhook → CRM Platform: once it is active, it answers whoever calls `/webhook/<path>`. */
export function calledWorkflow(run: NodeRun): { workflow: Workflow; path: string } {
	const { name, nodes, connections } = workflowWith(run);
	const path = randomUUID();
	const [trigger, ...others] = nodes as [INode, ...INode[]];
	const webhook = {
		...trigger,
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: path,
		parameters: { path, responseMode: 'lastNode', responseData: 'allEntries' },
	};
	return { workflow: { name, nodes: [webhook, ...others], connections }, path };
}
