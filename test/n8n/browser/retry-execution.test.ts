import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';
import { ofSandbox, theN8n, theWorld } from '../harness/access.ts';
import { calledWorkflow, triggerName, workflowWith } from '../harness/run-n8n-node.ts';
import { callSandbox, clearFaults, setFaults } from '../harness/sandbox-calls.ts';

const path = '/v1/contacts';

const n8n = theN8n();
afterEach(clearFaults);

const found = async (name: string) => (await callSandbox('GET', `${path}?q=${name}&limit=500`)).body;

test('Retry in the list of executions does not write again what the failed execution has written', async () => {
	const name = `retried-${randomUUID()}`;
	const input = Array.from({ length: 6 }, (_, i) => ({ last_name: name, job_title: `Number ${i}` }));
	const parameters: IDataObject = {
		resource: 'contact',
		operation: 'create',
		fields: { mappingMode: 'autoMapInputData', value: null },
		options: { batchSize: 2 },
	};
	const id = await n8n.createWorkflow(workflowWith({ credentials: await ofSandbox(), parameters, input }));
	await setFaults({ path: `${path}/batch`, method: 'POST', after: 1, times: 2, status: 422 });

	expect(await n8n.runWorkflow(id, triggerName)).toMatchObject({ status: 'error' });
	expect((await found(name)).total).toBe(2);
	const [failed = ''] = await n8n.listExecutions(id);
	await clearFaults();
	expect(await n8n.retryExecution(failed)).toMatchObject({ status: 'success' });

	const { data } = await found(name);
	expect(data.map(({ job_title }) => job_title).sort()).toEqual(input.map(({ job_title }) => job_title));
});

test('in production, Retry after a lost response finds the written record', async () => {
	const name = `lost-${randomUUID()}`;
	const parameters: IDataObject = {
		resource: 'contact',
		operation: 'create',
		fields: { mappingMode: 'defineBelow', value: { last_name: name } },
		options: { maxWait: 0 },
	};
	const called = calledWorkflow({ credentials: await ofSandbox(), parameters });
	const id = await n8n.createWorkflow(called.workflow);
	await n8n.activateWorkflow(id);
	await setFaults({ path, method: 'POST', drop: 'after' });
	await fetch(`${theWorld().n8nUrl}/webhook/${called.path}`);
	const [failed] = await n8n.executionsOf(id, 1);
	expect(failed).toMatchObject({ status: 'error' });
	await clearFaults();

	const [execution = ''] = await n8n.listExecutions(id);
	expect(await n8n.retryExecution(execution)).toMatchObject({ status: 'success' });

	expect((await found(name)).total).toBe(1);
});
