import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';

import { eventsIn } from '../../support/poll-log.ts';
import { type Execution, usePublished } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const log = eventsIn(sandbox);
const { publish } = usePublished(sandbox);
const doneWhen = ['started', 'ended', 'succeeded'];

test.each(doneWhen)('each event starts one execution, in sequence (%s)', async (when) => {
	await log.contacts(2);
	const n8n = await publish({ doneWhen: when });
	const ids = await log.contacts(30);
	await until(() => n8n.ids().length >= 30);
	expect(n8n.ids()).toEqual(ids);
	expect(n8n.executions).toHaveLength(30);
});

test.each([
	['if an event is done when its execution ends, no execution begins before the previous one has ended', { doneWhen: 'ended' }, 'error', 1],
	['no more executions run at once than the user allows', { options: { atOnce: 3 } }, 'success', 3],
] as const)('%s', async (_, parameters, status, expectedMax) => {
	let running = 0;
	let maxRunning = 0;
	const execute = async () => {
		maxRunning = Math.max(maxRunning, (running += 1));
		await sleep(5);
		running -= 1;
		return status;
	};
	const n8n = await publish(parameters, { execute });
	const ids = await log.contacts(30);
	await until(() => n8n.ids(status).length >= 30);
	if (expectedMax === 1) expect(n8n.ids(status)).toEqual(ids);
	expect(maxRunning).toBe(expectedMax);
});

test('an event whose executions fail is started as often as chosen, then set aside and reported; others continue', async () => {
	const tries = new Map<string, number>();
	let poison = new Set<string>();
	const execute = async ([item]: IDataObject[]) => {
		const email = String(((item!.data as IDataObject).object as IDataObject).email);
		if (!poison.has(email)) return 'success' as const;
		tries.set(email, (tries.get(email) ?? 0) + 1);
		return 'error' as const;
	};
	const n8n = await publish({ doneWhen: 'succeeded', attempts: 3 }, { execute });
	poison = new Set(['bad1@x.example', 'bad2@x.example']);
	for (const email of poison) await sandbox.create('contacts', { email });
	const ids = await log.contacts(20);
	await until(() => n8n.reported.length >= 2 && n8n.ids().length >= 20);
	expect([...tries.values()]).toEqual([3, 3]);
	expect(n8n.ids()).toEqual(ids);
	expect(n8n.reported.join()).toMatch(/The event evt_\w+ was set aside: 3 executions failed/);
});

const ofWorkers = { onlyAnswers: true };

test('a worker that ends before n8n listens for it does not hold up later events', async () => {
	const n8n = await publish({ doneWhen: 'ended' }, ofWorkers);
	const ids = await log.contacts(3);
	await until(() => n8n.ids().length >= 3);
	expect(n8n.ids()).toEqual(ids);
});

test('a start that failed on such a worker is repeated, and one that succeeded is not', async () => {
	const execute = async (_items: IDataObject[], { key }: Execution) => (key?.endsWith(':1') ? 'error' : 'success');
	const n8n = await publish({ doneWhen: 'succeeded', attempts: 3 }, { ...ofWorkers, execute });
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 2);
	await log.contacts(1);
	await until(() => n8n.ids().length >= 3);
	expect(n8n.ids().slice(0, 2).sort()).toEqual(ids.sort());
	expect(n8n.ids('error')).toHaveLength(3);
});

test('an event that waits for a retry is retried, with the new output, after other events and another output were chosen', async () => {
	let fails = true;
	const execute = async () => (fails ? ('error' as const) : ('success' as const));
	const parameters = { doneWhen: 'succeeded', attempts: 10_000 };
	const n8n = await publish(parameters, { execute });
	const ids = await log.contacts(5);
	await until(() => n8n.executions.length >= 5);
	await n8n.deactivate();
	n8n.setup.parameters = { ...parameters, events: ['company.created'], output: 'record' };
	await n8n.activate();
	n8n.kill();
	await n8n.activate();
	fails = false;
	await until(() => n8n.ids().length >= 5);
	expect(n8n.ids().sort()).toEqual([...ids].sort());
	expect(n8n.executions.at(-1)!.items[0]).toMatchObject({ object: 'contact', event: { type: 'contact.created' } });
	expect(n8n.reported).toEqual([]);
});

test.each([403, 500])('a record answered with %i delays no other record, and is reported', async (status) => {
	const n8n = await publish({ output: 'current', events: ['contact.created'] });
	await n8n.deactivate();
	const ids = await log.contacts(12);
	const contacts = await sandbox.list('events?sort=-sequence&limit=12');
	const bad = contacts.find(({ id }) => id === ids[3])!;
	const path = `/v1/contacts/${String((bad.data as { object: IDataObject }).object.id)}`;
	await sandbox.faults({ path, times: 10_000, status });
	await n8n.activate();
	await until(() => n8n.ids().length >= 11 && n8n.reported.length > 0);
	expect(n8n.ids().sort()).toEqual(ids.filter((id) => id !== ids[3]).sort());
	expect(n8n.reported.join()).toMatch(status === 403 ? /was set aside and started no execution/ : /could not be read yet/);
	await sandbox.faults();
	if (status === 500) await until(() => n8n.ids().length >= 12);
});

test('an idle poll is one request of one event', async () => {
	const n8n = await publish();
	await log.contacts(3);
	await until(() => n8n.ids().length >= 3);
	const isLook = (query: string) => /\blimit=1\b/.test(query) && !query.includes('sequence%5Bgt%5D');
	await until(async () => (await sandbox.requests()).slice(-5).every(({ query }) => isLook(query)));
	const response = await sandbox.call('GET', '/v1/events?sort=-sequence&limit=1');
	// 240 of them an hour stay below 1 MB.
	expect(JSON.stringify(response.body).length).toBeLessThan(3_500);
});

/** The requests for events of certain types. */
const typed = async () => (await sandbox.requests()).filter(({ query }) => query.includes('type='));

test('a log that the credential may not read is reported, and read as soon as it may be', async () => {
	const n8n = await publish();
	const refusal = {
		path: '/v1/events', status: 403, contentType: 'application/problem+json', body: JSON.stringify({ status: 403, title: 'Forbidden' }),
	};
	await sandbox.faults({ ...refusal, times: 10_000 });
	await until(() => n8n.reported.length > 0);
	await sandbox.faults();
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 2);
	expect(n8n.ids()).toEqual(ids);
	expect(n8n.reported).toHaveLength(1);
});

test('types of a deleted custom object do not stop other events, are reported once, and cause no refused request each time', async () => {
	const label = { label_singular: 'Car', label_plural: 'Cars' };
	const { id } = await sandbox.create('custom-objects', { key: 'cars', ...label, primary_field: 'name' });
	const n8n = await publish({ events: ['contact.created', 'custom.cars.created'] });
	await log.contacts(1);
	await until(() => n8n.ids().length >= 1);
	await sandbox.call('DELETE', `/v1/custom-objects/${id}`);
	const ids = await log.contacts(2);
	await until(() => n8n.ids().length >= 3);
	expect(n8n.ids().slice(1)).toEqual(ids);
	const before = (await typed()).length;
	ids.push(...(await log.contacts(2)));
	await until(() => n8n.ids().length >= 5);
	expect(n8n.ids().slice(1)).toEqual(ids);
	expect(n8n.reported).toEqual([expect.stringContaining('refuses at least one of the event types contact.created, custom.cars.created')]);
	expect((await typed()).length).toBe(before);
});
