import { until } from '../../support/until.ts';
import { EditedContacts } from '../harness/edited-contacts.ts';
import { EditedTable } from '../harness/edited-table.ts';
import { expectInStep, twoWayExample } from '../harness/two-way.ts';
import { copyUnderKills } from '../harness/copy-under-kills.ts';
import { startKillableN8n, type ServicePage, type SingleN8n } from '../harness/killable-n8n.ts';
import { countUnderKills } from '../harness/events-under-kills.ts';
import { atOnce, expectEachOnce } from '../harness/once-each.ts';
import { eventsOf, recordOfEvent, triggerWorkflow } from '../harness/trigger-workflow.ts';
import { randomOf } from '../../support/random-runs.ts';

// TRIGGER_EVENTS=10000 TRIGGER_KILLS=10 npx jest test/n8n/kills/n8n-kills
const events = Number(process.env['TRIGGER_EVENTS'] ?? 20);
const kills = Number(process.env['TRIGGER_KILLS'] ?? 1);
const seed = Number(process.env['TRIGGER_SEED'] ?? 7);
// COPY_RECORDS=100000 COPY_KILLS=3 npx jest test/n8n/kills/n8n-kills -t records
const records = Number(process.env['COPY_RECORDS'] ?? 200);
const restarts = Number(process.env['COPY_KILLS'] ?? 1);
// SYNC_EDITS=1000 SYNC_KILLS=5 npx jest test/n8n/kills/n8n-kills -t edits
const edits = Number(process.env['SYNC_EDITS'] ?? 10);
const syncKills = Number(process.env['SYNC_KILLS'] ?? 1);
/** Enough for an event in flight during several kills. */
const attempts = Math.min(kills + 1, 4);

let n8n: SingleN8n;
beforeAll(async () => {
	n8n = await startKillableN8n();
});
afterAll(async () => await n8n?.close());

test('with the Trigger, each event that happens while n8n is down, or in a burst, starts the workflow once', async () => {
	const { client, credentialId } = n8n;
	const missedCount = 5;
	const burstCount = 10;
	const numbered = (count: number, prefix: string) => Array.from({ length: count }, (_, i) => `${prefix} ${i}`);
	const happen = async (last_name: string) => await n8n.call('POST', '/v1/contacts', { last_name });
	const subscriptions = async () => ((await n8n.call('GET', '/v1/webhooks')) as ServicePage).data;
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

test(`${events} events and ${kills} kills of a real n8n (seed ${seed}): each event starts its workflow once`, async () => {
	const outcomes = await countUnderKills(n8n, { events, kills, attempts, random: randomOf(seed) });
	const counts = expectEachOnce(outcomes, { attempts, kills });
	if (process.env['TRIGGER_EVENTS']) console.log(counts);
}, 7_200_000);

test(`${records} records and four writers, and n8n is killed ${restarts} times: a copy equals the CRM's records`, async () => {
	const groupSize = Math.min(500, records / 10);
	const { existing, writes } = await copyUnderKills(n8n, { records, kills: restarts, groupSize });
	if (process.env['COPY_RECORDS']) console.log({ existing, writes });
	// Only records in flight during a kill are emitted again. Records written meanwhile may be emitted, too.
	expect(existing).toBeLessThanOrEqual(records + writes + restarts * atOnce * groupSize);
}, 7_200_000);

test(`${edits} edits on each side and ${syncKills} kills of n8n: both become equal, and n8n writes nothing else`, async () => {
	const { client, call, credentialId, killAndStart } = n8n;
	const name = 'people_edited';
	const domain = 'people-edited.example';
	const workflowId = await client.createWorkflow(twoWayExample(name, { type: 'crmPlatformApi', id: credentialId, name: 'Sandbox' }));
	await client.activateWorkflow(workflowId);
	const crm = new EditedContacts(call, domain);
	const table = new EditedTable(client, name, domain);
	const writes = async () => [...(await crm.writesOfN8n()).values()].reduce((sum, count) => sum + count, 0);
	// Just after it has written to the CRM.
	const kill = async () => {
		const before = await writes();
		await until(async () => (await writes()) > before);
		await killAndStart();
	};
	await expectInStep({ n8n: client, workflowId, crm, table, domain, edits, seed, meanwhile: Array(syncKills).fill(kill) });
	const failed = await client.listExecutions(workflowId, ['error']);
	const errors = await Promise.all(failed.map(async (id) => (await client.waitForExecution(id)).data.resultData.error));
	expect(errors).toEqual([]);
}, 3_600_000);
