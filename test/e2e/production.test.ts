import { sandboxCredential, theN8n, theWorld } from './harness/access.ts';
import { calledWorkflow } from './harness/run-node.ts';
import { createRecord, type ServiceRecord } from './harness/sandbox.ts';

test('In an active workflow the node answers whoever calls its webhook', async () => {
	const n8n = theN8n();
	const credentialId = await n8n.createCredential(sandboxCredential());
	const parameters = { resource: 'contact', operation: 'getMany', limit: 2 };
	const { workflow, path } = calledWorkflow({ credentialId, parameters });
	const id = await n8n.createWorkflow(workflow);

	await n8n.activateWorkflow(id);
	const response = await fetch(`${theWorld().n8nUrl}/webhook/${path}`);

	expect(response.status).toBe(200);
	expect(await response.json()).toHaveLength(2);
});

test('An active workflow gives what was changed since its last run, each time', async () => {
	const n8n = theN8n();
	const credentialId = await n8n.createCredential(sandboxCredential());
	const parameters = {
		resource: 'tag',
		operation: 'getMany',
		returnAll: true,
		changedSince: 'lastRun',
		simplify: false,
	};
	const { workflow, path } = calledWorkflow({ credentialId, parameters });
	await n8n.activateWorkflow(await n8n.createWorkflow(workflow));
	const run = async () => {
		const response = await fetch(`${theWorld().n8nUrl}/webhook/${path}`);
		return (await response.json()) as ServiceRecord[];
	};

	expect((await run()).length).toBeGreaterThan(1);
	for (const name of ['First', 'Second']) {
		const tag = await createRecord('/v1/tags', { name: `${name} of ${path}` });
		expect(await run()).toEqual([tag]);
	}
});
