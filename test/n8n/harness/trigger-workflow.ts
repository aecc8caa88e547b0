import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { N8nClient, Workflow } from '../../../demo/n8n-client.ts';
import { workflowNode } from '../../../demo/workflow-node.ts';
import { itemsOf } from './run-n8n-node.ts';

export const triggerNode = 'CRM Platform Trigger';

/** A workflow with only the trigger, which has a webhook path of its own, as the editor gives it. */
export function triggerWorkflow(
	credentialId: string,
	parameters: IDataObject,
	name = triggerNode,
	id: string = randomUUID(),
): Workflow {
	const more = { id, webhookId: id, credentials: { crmPlatformApi: { id: credentialId, name: 'Sandbox' } } };
	const node = workflowNode(name, 'n8n-nodes-crm-platform.crmPlatformTrigger', 2, { output: 'event', ...parameters }, more);
	return { name: `Test ${id}`, nodes: [node], connections: {} };
}

/** The events that started a workflow, oldest first, once there are `count` of them. */
export async function eventsOf(n8n: N8nClient, workflowId: string, count: number): Promise<IDataObject[]> {
	const executions = await n8n.executionsOf(workflowId, count);
	return executions.flatMap(({ data }) => {
		const [trigger = ''] = Object.keys(data.resultData.runData);
		return itemsOf(data, trigger).map(({ json }) => json);
	});
}

/** The record that an event is about. */
export const recordOfEvent = ({ data }: IDataObject): IDataObject =>
	(data as IDataObject)['object'] as IDataObject;
