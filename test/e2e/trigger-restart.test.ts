import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installCommunityPackage } from '../../demo/community-package.ts';
import { installN8n } from '../../tools/n8n.mjs';
import { N8nClient } from '../../demo/n8n-client.ts';
import { type N8nProcess, startN8n } from '../../demo/n8n-process.ts';
import { freePort } from '../../demo/ports.ts';
import { packPackage } from '../../tools/pack.ts';
import { sandboxCredential, theWorld } from './harness/access.ts';
import { callSandbox, createRecord } from './harness/sandbox.ts';
import { eventsOf, recordOf, triggerWorkflow } from './harness/trigger.ts';

const MISSED = 20;
const BURST = 60;

/** An n8n of its own, which the test stops and starts. */
const folder = mkdtempSync(join(tmpdir(), 'n8n-trigger-'));
let start: () => N8nProcess;
let n8n: N8nProcess;
beforeAll(async () => {
	const installation = await installN8n();
	const tarball = await packPackage(join(folder, 'package'));
	await installCommunityPackage(folder, 'n8n-nodes-crm-platform', tarball);
	const ports = { port: await freePort(), brokerPort: await freePort() };
	const place = { userFolder: folder, encryptionKey: 'for one run', ...ports };
	start = () => startN8n(installation, place, resolve('.tmp', 'e2e', 'n8n-restarted.log'));
	n8n = start();
	await n8n.ready;
});
afterAll(async () => {
	for (const { id } of await subscriptions()) await callSandbox('DELETE', `/v1/webhooks/${id}`);
	await n8n.stop();
	rmSync(folder, { recursive: true, force: true });
});

const numbered = (count: number, what: string) => Array.from({ length: count }, (_, i) => `${what} ${i}`);
const happen = async (last_name: string) => await createRecord('/v1/contacts', { last_name });
const subscriptions = async () => (await callSandbox('GET', '/v1/webhooks')).body.data;

test('what happens while n8n is down, and in a burst, starts the workflow once each', async () => {
	const client = new N8nClient(n8n.url);
	await client.signIn(theWorld().owner);
	const credentialId = await client.createCredential(sandboxCredential());
	const parameters = { events: ['contact.created'] };
	const id = await client.createWorkflow(triggerWorkflow(credentialId, parameters));
	await client.activateWorkflow(id);
	const [subscription] = await subscriptions();
	await happen('before');
	await eventsOf(client, id, 1);

	await n8n.stop();
	for (const name of numbered(MISSED, 'down')) await happen(name);
	const path = `/v1/webhooks/${subscription!.id}`;
	while ((await callSandbox('GET', path)).body['failing_since'] === null) await sleep(100);
	n8n = start();
	await n8n.ready;
	// The service would try again in five minutes; the first delivery has it try at once.
	await happen('up again');
	const events = await eventsOf(client, id, MISSED + 2);
	const names = events.map((event) => recordOf(event)['last_name']);
	// Some may have been tried again by the service itself before: each is there once, in any order.
	expect(names.sort()).toEqual(['before', 'up again', ...numbered(MISSED, 'down')].sort());
	expect((await subscriptions()).map((one) => one.id)).toEqual([subscription!.id]);

	const burst = numbered(BURST, 'burst');
	const records = burst.map((last_name) => ({ last_name }));
	for (let from = 0; from < BURST; from += 100) {
		const items = records.slice(from, from + 100);
		await callSandbox('POST', '/v1/contacts/batch/create', { items });
	}
	const all = await eventsOf(client, id, MISSED + 2 + BURST);
	const last = all.slice(MISSED + 2).map((event) => String(recordOf(event)['last_name']));
	expect(last.sort()).toEqual(burst.sort());
	expect((await subscriptions())[0]).toMatchObject({ id: subscription!.id, status: 'active' });
	await client.deactivateWorkflow(id);
	expect(await subscriptions()).toEqual([]);
});
