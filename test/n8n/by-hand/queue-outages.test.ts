import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject } from 'n8n-workflow';
import { baseNode, pollingWorkflow } from '../harness/killable-n8n.ts';
import { startKillableQueue, type KillableQueue } from '../queue/harness/killable-queue.ts';

// Takes several minutes, so it is not part of `npm test`: OUTAGE_EVENTS=100 npx jest test/n8n/by-hand/queue-outages
const events = Number(process.env['OUTAGE_EVENTS'] ?? 30);
const outages = [['PostgreSQL', 5_000], ['Redis', 3_000], ['PostgreSQL', 1_000], ['Redis', 100]] as const;

const choices: Record<string, IDataObject> = {
	started: { doneWhen: 'started' },
	ended: { doneWhen: 'ended' },
	succeeded: { doneWhen: 'succeeded', attempts: 9 },
};

describe('In queue mode', () => {
	let n8n: KillableQueue;
	beforeAll(async () => {
		n8n = await startKillableQueue();
	}, 600_000);
	afterAll(async () => await n8n?.close());

	test('PostgreSQL and Redis are away for some seconds while events happen: without a restart, each event is handled once', async () => {
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
			for (let i = 0; i < events / 10; i++) {
				const items = Array.from({ length: 10 }, () => ({ last_name: `Event ${created++}` }));
				await n8n.call('POST', '/v1/contacts/batch/create', { items });
				await sleep(300);
			}
		};
		for (const [service, ms] of outages) {
			const happening = happen();
			await sleep(1_500);
			await n8n.outage(service, ms);
			await happening;
			await sleep(3_000);
		}

		/** The statuses of the executions of each event. */
		const statusesOf = (name: string) => {
			const statuses = new Map<string, string[]>();
			for (const { deduplicationKey, status, workflowId } of n8n.rows()) {
				const event = /evt_\w+/.exec(deduplicationKey ?? '')?.[0];
				if (event === undefined || workflowId !== workflows.get(name)) continue;
				statuses.set(event, [...(statuses.get(event) ?? []), status]);
			}
			return [...statuses.values()];
		};
		// Executions that n8n has lost stay new or running until a restart.
		const isDone = (name: string) => {
			const all = statusesOf(name);
			return all.length >= created && (name !== 'succeeded' || all.every((statuses) => statuses.includes('success')));
		};
		const deadline = Date.now() + 20 * 60_000;
		while (!Object.keys(choices).every(isDone) && Date.now() < deadline) await sleep(1_000);
		// Long enough for repetitions.
		await sleep(90_000);

		const count = (all: string[][]) => {
			const counts: Record<string, number> = {};
			for (const statuses of all) counts[statuses.join('+')] = (counts[statuses.join('+')] ?? 0) + 1;
			return counts;
		};
		console.log(Object.keys(choices).map((name) => [name, count(statusesOf(name))]));
		for (const name of Object.keys(choices)) {
			const all = statusesOf(name);
			expect(all).toHaveLength(created);
			expect(all.filter((statuses) => statuses.filter((status) => status === 'success').length > 1)).toEqual([]);
		}
		// Such an execution was lost before it began, and nothing would report it.
		for (const name of ['started', 'ended']) expect(statusesOf(name).flat()).not.toContain('new');
		expect(statusesOf('succeeded').filter((statuses) => !statuses.includes('success'))).toEqual([]);
	}, 3_600_000);
});
