import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import { buildPackage } from '../../tools/build.ts';
import { startKillableN8n, type KillableN8n, type Page } from '../e2e/harness/killable.ts';

// More: TWO_TRIGGERS_EVENTS=200 TWO_TRIGGERS_KILLS=5 npx jest test/large/two-triggers
const events = Number(process.env['TWO_TRIGGERS_EVENTS'] ?? 5);
const kills = Number(process.env['TWO_TRIGGERS_KILLS'] ?? 1);

let n8n: KillableN8n;
beforeAll(async () => {
	await buildPackage();
	n8n = await startKillableN8n();
}, 300_000);
afterAll(async () => await n8n?.close());

const trigger = (id: string, kind: 'Poll' | '', parameters: IDataObject): INode => ({
	id,
	name: id,
	type: `n8n-nodes-crm-platform.crmPlatform${kind}Trigger`,
	typeVersion: kind === 'Poll' ? 1 : 2,
	position: [0, 0],
	webhookId: id,
	parameters: parameters as INode['parameters'],
	credentials: { crmPlatformApi: { id: n8n.credentialId, name: 'Sandbox' } },
});
const poll = (id: string, parameters: IDataObject = {}) =>
	trigger(id, 'Poll', { events: ['contact.created'], options: { interval: 1 }, ...parameters });
const webhook = (id: string, parameters: IDataObject = {}) => trigger(id, '', { events: ['contact.created'], ...parameters });

/** A workflow whose triggers change, one publish after the other. */
async function publishing(...triggers: INode[]) {
	const { client } = n8n;
	const id = await client.createWorkflow({ name: `Triggers ${triggers.map(({ id: node }) => node).join()}`, nodes: triggers, connections: {} });
	await client.activateWorkflow(id);
	return {
		id,
		async publish(...changed: INode[]) {
			await client.updateWorkflow(id, { nodes: changed, connections: {} });
			await client.activateWorkflow(id);
		},
		/** How often each trigger has started the workflow with each event, or record. */
		starts(node: string): Record<string, number> {
			const counts: Record<string, number> = {};
			for (const { deduplicationKey, workflowId } of n8n.rows()) {
				const [owner, from, ...rest] = deduplicationKey?.split(':') ?? [];
				if (owner !== id || workflowId !== id || from !== node) continue;
				// The kind, the id of the first event or record, and what makes the name of a group unique.
				const what = rest[1] ?? '';
				counts[what] = (counts[what] ?? 0) + 1;
			}
			return counts;
		},
		/** How many executions no key was given for: those of webhooks. */
		deliveries: () => n8n.rows().filter(({ deduplicationKey, workflowId }) => workflowId === id && deduplicationKey === null).length,
		deactivate: async () => await client.deactivateWorkflow(id),
	};
}

/** @returns ids of the events */
async function contacts(howMany: number): Promise<string[]> {
	const items = Array.from({ length: howMany }, (_, i) => ({ last_name: `Contact ${i}` }));
	await n8n.call('POST', '/v1/contacts/batch/create', { items });
	const page = (await n8n.call('GET', `/v1/events?type=contact.created&sort=-sequence&limit=${howMany}`)) as Page;
	return page.data.map(({ id }) => String(id));
}

const once = (ids: string[]) => Object.fromEntries(ids.map((id) => [id, 1]));
const isAll = (counts: Record<string, number>, ids: string[]) => ids.every((id) => id in counts);
const until = async (isSo: () => boolean) => {
	while (!isSo()) await sleep(200);
	// Long enough for a start that is one too many, and for what is stored afterwards.
	await sleep(3_000);
};

/** Kills n8n, lets events happen until it is up again, and after. */
async function killed(): Promise<string[]> {
	const ids: string[] = [];
	for (let kill = 0; kill < kills; kill++) {
		const starting = n8n.killAndStart();
		ids.push(...(await contacts(events)));
		await starting;
		ids.push(...(await contacts(events)));
	}
	return ids;
}

test('a second Poll Trigger is added to a published workflow, and n8n is killed: neither loses or repeats an event', async () => {
	const workflow = await publishing(poll('poll-1'));
	const first = await contacts(events);
	await until(() => isAll(workflow.starts('poll-1'), first));
	await workflow.publish(poll('poll-1'), poll('poll-2'));
	const both = await contacts(events);
	await until(() => isAll(workflow.starts('poll-1'), both) && isAll(workflow.starts('poll-2'), both));
	both.push(...(await killed()));
	await until(() => isAll(workflow.starts('poll-1'), both) && isAll(workflow.starts('poll-2'), both));
	expect(workflow.starts('poll-1')).toEqual(once([...first, ...both]));
	expect(workflow.starts('poll-2')).toEqual(once(both));
	await workflow.deactivate();
}, 600_000);

test('one of two Poll Triggers is published again, and n8n is killed: nothing succeeds twice', async () => {
	const succeeds = { doneWhen: 'succeeded' };
	const workflow = await publishing(poll('poll-1', succeeds), poll('poll-2', succeeds));
	const ids = await contacts(events);
	await until(() => isAll(workflow.starts('poll-1'), ids) && isAll(workflow.starts('poll-2'), ids));
	await workflow.publish(poll('poll-1', succeeds), poll('poll-2', { ...succeeds, attempts: 4 }));
	ids.push(...(await contacts(events)));
	await until(() => isAll(workflow.starts('poll-1'), ids) && isAll(workflow.starts('poll-2'), ids));
	// Only what is under way in a kill may come again; nothing is.
	await n8n.killAndStart();
	await sleep(5_000);
	ids.push(...(await contacts(events)));
	await until(() => isAll(workflow.starts('poll-1'), ids) && isAll(workflow.starts('poll-2'), ids));
	for (const node of ['poll-1', 'poll-2']) expect(workflow.starts(node)).toEqual(once(ids));
	await workflow.deactivate();
}, 600_000);

test('Records beside another trigger that is published again: no record comes again as existing', async () => {
	const records = poll('poll-1', { source: 'records', resource: 'company', events: undefined });
	for (let i = 0; i < events; i++) await n8n.call('POST', '/v1/companies', { name: `Company ${i}` });
	const workflow = await publishing(records, poll('poll-2'));
	await until(() => Object.keys(workflow.starts('poll-1')).length >= events);
	const ids = await contacts(events);
	await until(() => isAll(workflow.starts('poll-2'), ids));
	await workflow.publish(records, poll('poll-2', { doneWhen: 'ended' }));
	ids.push(...(await contacts(events)), ...(await killed()));
	await until(() => isAll(workflow.starts('poll-2'), ids));
	expect(Object.values(workflow.starts('poll-1'))).toEqual(Array(events).fill(1));
	expect(workflow.starts('poll-2')).toEqual(once(ids));
	await workflow.deactivate();
}, 600_000);

test('a webhook trigger beside a Poll Trigger keeps its newest secret, whatever the other stores', async () => {
	const workflow = await publishing(poll('poll-1'), webhook('webhook-1'));
	const ids = await contacts(events);
	await until(() => isAll(workflow.starts('poll-1'), ids) && workflow.deliveries() >= ids.length);
	// Subscribes anew, with another secret.
	await workflow.publish(poll('poll-1'), webhook('webhook-1', { recoverHours: 23 }));
	ids.push(...(await contacts(events)));
	await until(() => isAll(workflow.starts('poll-1'), ids) && workflow.deliveries() >= ids.length);
	await n8n.killAndStart();
	ids.push(...(await contacts(events)));
	await until(() => isAll(workflow.starts('poll-1'), ids) && workflow.deliveries() >= ids.length);
	expect(workflow.starts('poll-1')).toEqual(once(ids));
	expect(workflow.deliveries()).toBe(ids.length);
	await workflow.deactivate();
}, 600_000);
