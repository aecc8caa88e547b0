import { until } from '../../support/until.ts';
import { type ServicePage, type SingleN8n, startKillableN8n } from '../harness/killable-n8n.ts';
import { eventsOf, recordOfEvent, triggerWorkflow } from '../harness/trigger-workflow.ts';

const missedCount = 20;
const burstCount = 60;

let n8n: SingleN8n;
beforeAll(async () => void (n8n = await startKillableN8n()));
afterAll(async () => await n8n?.close());

const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
const happen = async (last_name: string) => await n8n.call('POST', '/v1/contacts', { last_name });
const subscriptions = async () => ((await n8n.call('GET', '/v1/webhooks')) as ServicePage).data;

test('each event that happens while n8n is down, or in a burst, starts the workflow once', async () => {
	const { client, credentialId } = n8n;
	const parameters = { events: ['contact.created'] };
	const id = await client.createWorkflow(triggerWorkflow(credentialId, parameters));
	await client.activateWorkflow(id);
	const [subscription] = await subscriptions();
	await happen('before');
	await eventsOf(client, id, 1);

	await n8n.stop();
	for (const name of numbered(missedCount, 'down')) await happen(name);
	await until(async () => (await subscriptions())[0]!['failing_since'] !== null);
	await n8n.start();
	// The service would retry in five minutes; a new delivery makes it retry immediately.
	await happen('up again');
	const events = await eventsOf(client, id, missedCount + 2);
	const names = events.map((event) => recordOfEvent(event)['last_name']);
	// The service itself may have retried some before: each is there once, in any order.
	expect(names.sort()).toEqual(['before', 'up again', ...numbered(missedCount, 'down')].sort());
	expect((await subscriptions()).map((activeSubscription) => activeSubscription['id'])).toEqual([subscription!['id']]);

	const burst = numbered(burstCount, 'burst');
	await n8n.call('POST', '/v1/contacts/batch/create', { items: burst.map((last_name) => ({ last_name })) });
	const all = await eventsOf(client, id, missedCount + 2 + burstCount);
	const last = all.slice(missedCount + 2).map((event) => String(recordOfEvent(event)['last_name']));
	expect(last.sort()).toEqual(burst.sort());
	expect((await subscriptions())[0]).toMatchObject({ id: subscription!['id'], status: 'active' });
	await client.deactivateWorkflow(id);
	expect(await subscriptions()).toEqual([]);
});
