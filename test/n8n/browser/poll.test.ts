import { randomUUID } from 'node:crypto';
import { inARow, workflowNode } from '../../../demo/workflow-node.ts';
import { until } from '../../support/until.ts';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { baseNode } from '../harness/killable-n8n.ts';
import { createRecord } from '../harness/sandbox-calls.ts';

test.each(['ended', 'succeeded'])('an execution that waits counts as %s', async (doneWhen) => {
	const n8n = theN8n();
	// With one execution at a time, the second starts once the first counts as done; a failed one would be reported first.
	const options = { interval: 1, atOnce: 1 };
	const parameters = { events: ['company.created'], output: 'event', doneWhen, attempts: 1, options };
	const more = { id: 'the-trigger', credentials: await ofSandbox() };
	const trigger = workflowNode('Trigger', 'n8n-nodes-crm-platform.crmPlatformPollTrigger', 1, parameters, more);
	const nodes = [trigger, baseNode('wait', 1.1, 'Wait', { amount: 1, unit: 'hours' })];
	const id = await n8n.createWorkflow({ name: `Test ${randomUUID()}`, nodes, connections: inARow(nodes) });
	await n8n.activateWorkflow(id);
	for (const name of ['First', 'Second']) await createRecord('/v1/companies', { name });
	const waiting = async () => await n8n.listExecutions(id, ['waiting']);
	await until(async () => (await waiting()).length === 2);
	await n8n.deactivateWorkflow(id);
	expect(await n8n.listExecutions(id)).toEqual(await waiting());
});
