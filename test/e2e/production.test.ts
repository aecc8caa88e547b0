import { randomUUID } from 'node:crypto';
import { sandboxCredential, theN8n, theWorld } from './harness/access.ts';
import { TRIGGER, workflowWith } from './harness/run-node.ts';

test('In an active workflow the node answers whoever calls its webhook', async () => {
	const n8n = theN8n();
	const credentialId = await n8n.createCredential(sandboxCredential());
	const parameters = { resource: 'contact', operation: 'getMany', limit: 2 };
	const { nodes, connections } = workflowWith({ credentialId, parameters });
	const path = randomUUID();
	const webhook = {
		...nodes.find(({ name }) => name === TRIGGER)!,
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: path,
		parameters: { path, responseMode: 'lastNode', responseData: 'allEntries' },
	};
	const id = await n8n.createWorkflow({
		name: `Test ${path}`,
		nodes: [webhook, ...nodes.filter(({ name }) => name !== TRIGGER)],
		connections,
	});

	await n8n.activateWorkflow(id);
	const response = await fetch(`${theWorld().n8nUrl}/webhook/${path}`);

	expect(response.status).toBe(200);
	expect(await response.json()).toHaveLength(2);
});
