import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import type { N8nClient, Workflow } from '../../../demo/n8n-client.ts';

export const NODE = 'CRM Platform Trigger';

/** A workflow of nothing but the trigger. Its address is as the editor gives it: its own. */
export function triggerWorkflow(
	credentialId: string,
	parameters: IDataObject,
	name = NODE,
	id: string = randomUUID(),
): Workflow {
	const node: INode = {
		id,
		name,
		type: 'n8n-nodes-crm-platform.crmPlatformTrigger',
		typeVersion: 1,
		position: [0, 0],
		webhookId: id,
		parameters: parameters as INode['parameters'],
		credentials: { crmPlatformApi: { id: credentialId, name: 'Sandbox' } },
	};
	return { name: `Test ${id}`, nodes: [node], connections: {} };
}

/** The events that a workflow was started with, the first one first. */
export async function eventsOf(n8n: N8nClient, workflowId: string): Promise<IDataObject[]> {
	const events: IDataObject[] = [];
	for (const id of (await n8n.listExecutions(workflowId)).reverse()) {
		const { data } = await n8n.waitForExecution(id);
		const [runs] = Object.values(data.resultData.runData);
		const items = runs?.[0]?.data?.['main']?.[0] ?? [];
		events.push(...items.map(({ json }) => json));
	}
	return events;
}

/** Waits until a workflow has been started so often; gives the events. */
export async function waitForEvents(
	n8n: N8nClient,
	workflowId: string,
	count: number,
): Promise<IDataObject[]> {
	while ((await n8n.listExecutions(workflowId)).length < count) await sleep(200);
	return await eventsOf(n8n, workflowId);
}

/** The record that an event is about. */
export const recordOf = ({ data }: IDataObject): IDataObject =>
	(data as IDataObject)['object'] as IDataObject;
