import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { buildPackage } from '../../tools/build.ts';
import { baseNode, pollingWorkflow } from '../e2e/harness/killable.ts';
import { startKillableQueue, type KillableQueue } from '../queue/harness/killable.ts';

// Takes several minutes, so it is not part of `npm test`: npx jest test/night/queue-other-outages
const choices: Record<string, IDataObject> = {
	started: { doneWhen: 'started' },
	setAside: { doneWhen: 'succeeded', attempts: 9, afterCrash: 'setAside' },
};

let n8n: KillableQueue;
beforeAll(async () => {
	await buildPackage();
	n8n = await startKillableQueue();
}, 600_000);
afterAll(async () => await n8n?.close());

/** While PostgreSQL is away. */
async function killed(name: string): Promise<void> {
	const outage = n8n.outage('PostgreSQL', 5_000);
	await sleep(1_000);
	await n8n.kill(name);
	await outage;
	await n8n.replace(name);
}

const outages: Record<string, () => Promise<unknown>> = {
	'All jobs in Redis are deleted': async () => n8n.flush(),
	'PostgreSQL and Redis are away at once': async () =>
		await Promise.all([n8n.outage('PostgreSQL', 5_000), n8n.outage('Redis', 3_000)]),
	'A worker is killed while PostgreSQL is away': async () => await killed('worker-1'),
	'The main process is killed while PostgreSQL is away': async () => await killed('main'),
};

test.each(Object.keys(outages))('%s: each event is dealt with once, or told', async (outage) => {
	const workflows = new Map<string, string>();
	const short = [baseNode('wait', 1.1, 'Work', { amount: 1 })];
	for (const [name, choice] of Object.entries(choices)) {
		const parameters = { events: ['contact.created'], ...choice };
		const id = await n8n.client.createWorkflow(pollingWorkflow(n8n.credentialId, name, parameters, short));
		await n8n.client.activateWorkflow(id);
		workflows.set(name, id);
	}
	let created = 0;
	const happen = async () => {
		const items = Array.from({ length: 10 }, () => ({ last_name: `Event ${created++}` }));
		await n8n.call('POST', '/v1/contacts/batch/create', { items });
	};
	const statusesOf = (name: string) => {
		const statuses = new Map<string, string[]>();
		for (const { deduplicationKey, status, workflowId } of n8n.rows()) {
			const event = /evt_\w+/.exec(deduplicationKey ?? '')?.[0];
			if (event === undefined || workflowId !== workflows.get(name)) continue;
			statuses.set(event, [...(statuses.get(event) ?? []), status]);
		}
		return statuses;
	};
	await happen();
	await happen();
	while (statusesOf('started').size < 3) await sleep(50);
	await Promise.all([outages[outage]!(), happen()]);
	await happen();

	const isDone = () => {
		const told = n8n.reports().map(({ text }) => text).join();
		const started = [...statusesOf('started').values()];
		const setAside = [...statusesOf('setAside')];
		const isDealtWith = setAside.every(([event, statuses]) => statuses.includes('success') || told.includes(event));
		return started.length === created && !started.flat().includes('new') && setAside.length === created && isDealtWith;
	};
	const deadline = Date.now() + 15 * 60_000;
	while (!isDone() && Date.now() < deadline) await sleep(1_000);
	for (const name of Object.keys(choices)) {
		const all = statusesOf(name);
		const statuses = [...all.values()].map((one) => one.join('+'));
		console.log(outage, name, Object.fromEntries([...new Set(statuses)].map((one) => [one, statuses.filter((other) => other === one).length])));
		expect(all.size).toBe(created);
		expect([...all.values()].filter((one) => one.filter((status) => status === 'success').length > 1)).toEqual([]);
	}
	expect(isDone()).toBe(true);
	for (const id of workflows.values()) await n8n.client.deactivateWorkflow(id);
}, 1_200_000);
