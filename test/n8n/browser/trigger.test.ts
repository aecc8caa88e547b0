import type { IDataObject } from 'n8n-workflow';
import { type Sandbox, startSandbox } from '../../../sandbox/serve.ts';
import { until } from '../../support/until.ts';
import { sandboxCredential, theN8n } from '../harness/access.ts';
import { serviceCaller, type ServicePage } from '../harness/killable-n8n.ts';
import { eventsOf, triggerNode, recordOfEvent, triggerWorkflow } from '../harness/trigger-workflow.ts';

describe('The trigger in a real n8n', () => {
	const n8n = theN8n();
	const parameters = { events: ['contact.created'] };
	let credentialId: string;
	/** A sandbox of this file, in which no other test subscribes. */
	let sandbox: Sandbox;
	beforeAll(async () => {
		sandbox = await startSandbox({ contacts: 0, plan: 'enterprise', allowPrivateWebhooks: true });
		credentialId = await n8n.createCredential(sandboxCredential({ baseUrl: sandbox.url, apiKey: sandbox.apiKey }));
	});
	afterEach(async () => {
		for (const { id } of await subscriptions()) await call('DELETE', `/v1/webhooks/${String(id)}`);
	});
	afterAll(async () => await sandbox?.close());

	const call = async (method: string, path: string, body?: object) => await serviceCaller(sandbox)(method, path, body);
	const list = async (path: string): Promise<IDataObject[]> => ((await call('GET', path)) as ServicePage).data;
	const subscriptions = async () => await list('/v1/webhooks');
	const happen = async (last_name: string) => await call('POST', '/v1/contacts', { last_name });

	test('however often it is activated and renamed, there is one subscription', async () => {
		const nodeId = crypto.randomUUID();
		const named = (name: string) => triggerWorkflow(credentialId, parameters, name, nodeId);
		const id = await n8n.createWorkflow(named(triggerNode));
		await n8n.activateWorkflow(id);
		await n8n.deactivateWorkflow(id);
		await happen('while inactive');
		await n8n.activateWorkflow(id);
		for (let i = 0; i < 3; i++) await n8n.activateWorkflow(id);
		expect(await subscriptions()).toHaveLength(1);
		await n8n.updateWorkflow(id, { nodes: named('New contact').nodes });
		await n8n.activateWorkflow(id);
		expect(await subscriptions()).toHaveLength(1);
		await happen('after');
		const events = await eventsOf(n8n, id, 2);
		// Recovered events may arrive after newer ones.
		const names = events.map((event) => recordOfEvent(event)['last_name']);
		expect(names.sort()).toEqual(['after', 'while inactive']);
		await n8n.deactivateWorkflow(id);
		expect(await subscriptions()).toEqual([]);
	});

	test('a test run receives one event and leaves no subscription, and the workflow keeps its own', async () => {
		const id = await n8n.createWorkflow(triggerWorkflow(credentialId, parameters));
		await n8n.activateWorkflow(id);
		const [subscription] = await subscriptions();
		await n8n.listenForTest(id, triggerNode);
		expect(await subscriptions()).toHaveLength(2);
		await happen('Moreno');
		await eventsOf(n8n, id, 2);
		await until(async () => (await subscriptions()).length === 1);
		expect((await subscriptions())[0]!['id']).toBe(subscription!['id']);
		await n8n.deactivateWorkflow(id);
	});
});
