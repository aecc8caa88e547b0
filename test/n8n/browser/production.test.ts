import { ofSandbox, theN8n, theWorld } from '../harness/access.ts';
import { calledWorkflow } from '../harness/run-n8n-node.ts';

test('in an active workflow, the node answers every caller of its webhook', async () => {
	const n8n = theN8n();
	const parameters = { resource: 'contact', operation: 'getMany', limit: 2 };
	const { workflow, path } = calledWorkflow({ credentials: await ofSandbox(), parameters });
	const id = await n8n.createWorkflow(workflow);

	await n8n.activateWorkflow(id);
	const response = await fetch(`${theWorld().n8nUrl}/webhook/${path}`);

	expect(response.status).toBe(200);
	expect(await response.json()).toHaveLength(2);
});
