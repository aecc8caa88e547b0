import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import type { Workflow } from '../../../demo/n8n-client.ts';
import { inARow, workflowNode } from '../../../demo/workflow-node.ts';
import { until } from '../../support/until.ts';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { baseNode } from '../harness/killable-n8n.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';
import { eventsOf } from '../harness/trigger-workflow.ts';

const n8n = theN8n();

async function workflow(trigger: string, parameters: IDataObject = {}): Promise<Workflow> {
	const triggerParameters = { events: ['company.created'], output: 'event', options: { interval: 1 }, ...parameters };
	const node = workflowNode(trigger, 'n8n-nodes-crm-platform.crmPlatformPollTrigger', 1, triggerParameters, {
		id: 'the-trigger', credentials: await ofSandbox(),
	});
	return { name: `Test ${randomUUID()}`, nodes: [node], connections: {} };
}

/** Each new company is an event. */
async function companies(howMany: number): Promise<string[]> {
	for (let i = 0; i < howMany; i++) await createRecord('/v1/companies', { name: `Company ${i}` });
	const { body } = await callSandbox('GET', `/v1/events?type=company.created&sort=-sequence&limit=${howMany}`);
	return body.data.map(({ id }) => id).reverse();
}

const idsOf = async (id: string, count: number) => (await eventsOf(n8n, id, count)).map((event) => event['id']);

test('the Poll Trigger continues where it stopped, even under another name', async () => {
	await companies(1);
	const first = await workflow('New Company', { doneWhen: 'ended' });
	const id = await n8n.createWorkflow(first);
	await n8n.activateWorkflow(id);
	const ids = await companies(3);
	await n8n.executionsOf(id, 3);

	const { nodes, connections } = await workflow('Company Was Born', { doneWhen: 'ended' });
	await n8n.updateWorkflow(id, { ...first, nodes, connections });
	await n8n.activateWorkflow(id);
	await n8n.deactivateWorkflow(id);
	ids.push(...(await companies(2)));
	await n8n.activateWorkflow(id);
	await n8n.executionsOf(id, 5);
	await n8n.deactivateWorkflow(id);

	// Executions that are started together may be numbered in any order.
	expect((await idsOf(id, 5)).sort()).toEqual(ids.sort());
});

test.each(['ended', 'succeeded'])('an execution that waits counts as %s', async (doneWhen) => {
	// With one execution at a time, the second starts once the first counts as done; a failed one would be reported first.
	const { nodes, ...rest } = await workflow('Trigger', { doneWhen, attempts: 1, options: { interval: 1, atOnce: 1 } });
	const wait = baseNode('wait', 1.1, 'Wait', { amount: 1, unit: 'hours' });
	const all = [...nodes, wait];
	const id = await n8n.createWorkflow({ ...rest, nodes: all, connections: inARow(all) });
	await n8n.activateWorkflow(id);
	await companies(2);
	const waiting = async () => await n8n.listExecutions(id, ['waiting']);
	await until(async () => (await waiting()).length === 2);
	await n8n.deactivateWorkflow(id);
	expect(await n8n.listExecutions(id)).toEqual(await waiting());
});
