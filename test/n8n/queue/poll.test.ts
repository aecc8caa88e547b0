import { randomUUID } from 'node:crypto';
import { workflowNode } from '../../../demo/workflow-node.ts';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { createRecord } from '../harness/sandbox-calls.ts';
import { eventsOf, recordOfEvent } from '../harness/trigger-workflow.ts';
import { describeInQueueMode, doneByWorkers } from './harness/queue-access.ts';

describeInQueueMode('In queue mode', () => {
	test('the Poll Trigger starts each event once, on a worker', async () => {
		const n8n = theN8n();
		const parameters = { events: ['company.created'], output: 'event', doneWhen: 'ended', options: { interval: 1 } };
		const trigger = workflowNode('Trigger', 'n8n-nodes-crm-platform.crmPlatformPollTrigger', 1, parameters, {
			credentials: await ofSandbox(),
		});
		const workflow = { name: `Test ${randomUUID()}`, nodes: [trigger], connections: {} };
		const id = await n8n.createWorkflow(workflow);
		await n8n.activateWorkflow(id);
		const companies = [];
		for (const name of ['First', 'Second']) companies.push(await createRecord('/v1/companies', { name }));

		const events = await eventsOf(n8n, id, 2);

		// Executions that are started together may be numbered in any order.
		expect(events.map(recordOfEvent)).toEqual(expect.arrayContaining(companies));
		const ids = await n8n.listExecutions(id);
		expect((await doneByWorkers(ids)).flat().sort()).toEqual([...ids].sort());
		await n8n.deactivateWorkflow(id);
	});
});
