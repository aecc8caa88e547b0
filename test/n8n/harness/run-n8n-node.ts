import { randomUUID } from 'node:crypto';
import type { IDataObject, INode, INodeCredentials, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';
import type { N8nClient, Workflow } from '../../../demo/n8n-client.ts';
import { inARow, workflowNode } from '../../../demo/workflow-node.ts';

export const triggerName = 'Start';
export const actionNode = 'CRM Platform';

const administration = [
	'account', 'apiRequest', 'customField', 'customObject', 'event', 'job', 'person', 'pipeline', 'tag', 'user', 'webhook', 'webhookDelivery',
];

/** The type of the node that has the resource in its menu. */
export const nodeTypeFor = (resource: string): string =>
	`n8n-nodes-crm-platform.crmPlatform${administration.includes(resource) ? 'Admin' : ''}`;

interface NodeRun {
	/** By default, the node that has the resource in its menu. */
	node?: { name: string; type: string };
	credentials: INodeCredentials;
	parameters: IDataObject;
	/** The input items of the node; one empty item by default. */
	input?: IDataObject[];
	onError?: INode['onError'];
}

export interface NodeResult {
	status: string;
	/** The items on the node's first output. */
	items: INodeExecutionData[];
	/** What n8n shows when the execution has failed. */
	error: { message: string; description: string | undefined } | undefined;
}

/** The items on a node's first output. */
export const itemsOf = ({ resultData: { runData } }: IRunExecutionData, node: string): INodeExecutionData[] =>
	runData[node]?.[0]?.data?.['main']?.[0] ?? [];

/** Runs the CRM Platform node once, in a workflow of its own, and returns its output. */
export async function runN8nNode(n8n: N8nClient, run: NodeRun): Promise<NodeResult> {
	const id = await n8n.createWorkflow(workflowWith(run));
	const { status, data } = await n8n.runWorkflow(id, triggerName);
	const { error } = data.resultData;
	return {
		status,
		items: itemsOf(data, actionNode),
		error: error && { message: error.message, description: error.description ?? undefined },
	};
}

/** Manual Trigger → CRM Platform. The input is pinned to the trigger, as users do it. */
export function workflowWith(run: NodeRun): Workflow {
	const { credentials, parameters, input = [{}], onError } = run;
	const { name, type } = run.node ?? { name: actionNode, type: nodeTypeFor(String(parameters.resource)) };
	const nodes = [
		workflowNode(triggerName, 'n8n-nodes-base.manualTrigger', 1, {}),
		workflowNode(name, type, 1, parameters, {
			position: [220, 0],
			credentials,
			...(onError ? { onError } : {}),
		}),
	];
	const pinData = { [triggerName]: input.map((json) => ({ json })) };
	return { name: `Test ${randomUUID()}`, nodes, connections: inARow(nodes), pinData };
}

/** Webhook → CRM Platform. Once published, it answers calls of `/webhook/<path>`. */
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
