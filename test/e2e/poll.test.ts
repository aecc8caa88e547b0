import { randomUUID } from 'node:crypto';
import type { IDataObject, INode, IRunExecutionData } from 'n8n-workflow';
import type { Workflow } from '../../demo/n8n-client.ts';
import { sandboxCredential, theN8n } from './harness/access.ts';
import { callSandbox, createRecord } from './harness/sandbox.ts';

const n8n = theN8n();

async function workflow(trigger: string, parameters: IDataObject = {}): Promise<Workflow> {
	const credentialId = await n8n.createCredential(sandboxCredential());
	const nodes: INode[] = [
		{
			id: 'the-trigger',
			name: trigger,
			type: 'n8n-nodes-crm-platform.crmPlatformPollTrigger',
			typeVersion: 1,
			position: [0, 0],
			parameters: { events: ['company.created'], ...parameters },
			credentials: { crmPlatformApi: { id: credentialId, name: 'Sandbox' } },
		},
		{
			id: randomUUID(),
			name: 'Next',
			type: 'n8n-nodes-base.noOp',
			typeVersion: 1,
			position: [220, 0],
			parameters: {},
		},
	];
	const connections = { [trigger]: { main: [[{ node: 'Next', type: 'main' as const, index: 0 }]] } };
	return { name: `Test ${randomUUID()}`, nodes, connections };
}

/** Each new company is an event. */
async function companies(howMany: number): Promise<string[]> {
	for (let i = 0; i < howMany; i++) await createRecord('/v1/companies', { name: `Company ${i}` });
	const { body } = await callSandbox('GET', `/v1/events?sort=-sequence&limit=${howMany}`);
	return body.data.map(({ id }) => id).reverse();
}

const idsIn = ({ resultData }: IRunExecutionData): unknown[] =>
	(resultData.runData['Next']?.[0]?.data?.['main']?.[0] ?? []).map(({ json }) => json['id']);

test('In a real n8n the Poll Trigger goes on where it stopped, also under another name', async () => {
	await companies(1);
	const first = await workflow('New Company');
	const id = await n8n.createWorkflow(first);
	await n8n.activateWorkflow(id);
	const renamed = await companies(3);

	const { nodes, connections } = await workflow('Company Was Born');
	await n8n.updateWorkflow(id, { ...first, nodes, connections });
	await n8n.activateWorkflow(id);
	await n8n.executionsOf(id, 1);
	await n8n.deactivateWorkflow(id);
	const stopped = await companies(2);
	await n8n.activateWorkflow(id);
	const executions = await n8n.executionsOf(id, 2);
	await n8n.deactivateWorkflow(id);

	expect(executions.map(({ status, data }) => [status, idsIn(data)])).toEqual([
		['success', renamed],
		['success', stopped],
	]);
});

test('In a real n8n a test by hand shows the latest events', async () => {
	const ids = await companies(2);
	const id = await n8n.createWorkflow(await workflow('Trigger'));

	const { status, data } = await n8n.runWorkflow(id, 'Trigger');

	expect(status).toBe('success');
	expect(idsIn(data).slice(-2)).toEqual(ids);
});

test('In a real n8n a failed execution tells of events that may be missing, and the rest goes on', async () => {
	await companies(1);
	const trigger = await workflow('Trigger');
	const id = await n8n.createWorkflow(trigger);
	await n8n.activateWorkflow(id);
	await n8n.deactivateWorkflow(id);
	const { body } = await callSandbox('GET', '/v1/events?sort=-sequence&limit=1');
	const reset = { data: [{ ...body.data[0], sequence: 0 }], next_cursor: null, total: 1 };
	await callSandbox('PUT', '/_sandbox/faults', [
		{
			path: '/v1/events',
			times: 1,
			status: 200,
			contentType: 'application/json',
			body: JSON.stringify(reset),
		},
	]);
	await n8n.activateWorkflow(id);
	const [told] = await n8n.executionsOf(id, 1);
	await callSandbox('PUT', '/_sandbox/faults', []);
	await n8n.deactivateWorkflow(id);

	expect(told?.status).toBe('error');
	expect(told?.data.resultData.error?.message).toMatch(/^Events may be missing/);
});
