import { randomUUID } from 'node:crypto';
import { until } from '../../support/until.ts';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { baseNode, pollingWorkflow } from '../harness/killable-n8n.ts';
import { createRecord } from '../harness/sandbox-calls.ts';

test.each(['ended', 'succeeded'])('an execution that waits counts as %s', async (doneWhen) => {
	const n8n = theN8n();
	// With one execution at a time, the second starts once the first counts as done; a failed one would be reported first.
	const parameters = { events: ['company.created'], doneWhen, attempts: 1, options: { atOnce: 1 } };
	const next = [baseNode('wait', 1.1, 'Wait', { amount: 1, unit: 'hours' })];
	const { crmPlatformApi } = await ofSandbox();
	const id = await n8n.createWorkflow(pollingWorkflow(crmPlatformApi.id, `Test ${randomUUID().slice(0, 8)}`, parameters, next));
	await n8n.activateWorkflow(id);
	for (const name of ['First', 'Second']) await createRecord('/v1/companies', { name });
	const waiting = async () => await n8n.listExecutions(id, ['waiting']);
	await until(async () => (await waiting()).length === 2);
	await n8n.deactivateWorkflow(id);
	expect(await n8n.listExecutions(id)).toEqual(await waiting());
});
