import { setTimeout as sleep } from 'node:timers/promises';

import type { IDataObject } from 'n8n-workflow';

import { eventsIn } from '../../support/poll-log.ts';
import { usePublished } from '../../support/published-workflow.ts';
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

test('a group starts one execution for all that is new', async () => {
	const n8n = await publish({ grouping: 'group', groupSize: 100 });
	await n8n.deactivate();
	const ids = await log.contacts(250);
	await n8n.activate();
	await until(() => n8n.ids().length >= 250);
	expect(n8n.executions.map(({ items }) => items.length)).toEqual([100, 100, 50]);
	expect(n8n.ids()).toEqual(ids);
});

test('a backlog is read many events at a time', async () => {
	const n8n = await publish();
	await n8n.deactivate();
	const ids = await log.contacts(200);
	const before = (await sandbox.requests()).length;
	await n8n.activate();
	await until(() => n8n.ids().length >= 200);
	const reads = (await sandbox.requests()).slice(before).filter(({ path }) => path === '/v1/events');
	expect(n8n.ids()).toEqual(ids);
	expect(reads.length).toBeLessThan(30);
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

test('events of one record start one after the other', async () => {
	const underWay = new Set<string>();
	let overlapped = 0;
	const execute = async ([item]: IDataObject[]) => {
		const id = String(((item!.data as IDataObject).object as IDataObject).id);
		if (underWay.has(id)) overlapped += 1;
		underWay.add(id);
		await sleep(3);
		underWay.delete(id);
		return 'success' as const;
	};
	const n8n = await publish({ events: ['contact.*'] }, { execute });
	const contact = await sandbox.create('contacts', { last_name: 'Moreno' });
	for (const job_title of ['a', 'b', 'c', 'd']) {
		await sandbox.call('PATCH', `/v1/contacts/${contact.id}`, { job_title });
	}
	await until(() => n8n.ids().length >= 5);
	expect(overlapped).toBe(0);
});
