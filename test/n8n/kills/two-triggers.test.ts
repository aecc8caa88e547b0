import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import { workflowNode } from '../../../demo/workflow-node.ts';
import { startKillableN8n, type KillableN8n, type ServicePage } from '../harness/killable-n8n.ts';
import { until } from '../../support/until.ts';

// More: TWO_TRIGGERS_EVENTS=200 TWO_TRIGGERS_KILLS=5 npx jest test/n8n/kills/two-triggers
const events = Number(process.env['TWO_TRIGGERS_EVENTS'] ?? 5);
const kills = Number(process.env['TWO_TRIGGERS_KILLS'] ?? 1);

let n8n: KillableN8n;
afterAll(async () => await n8n?.close());

const trigger = (id: string, kind: 'Poll' | '', parameters: IDataObject): INode =>
	workflowNode(id, `n8n-nodes-crm-platform.crmPlatform${kind}Trigger`, kind === 'Poll' ? 1 : 2, parameters, {
		...{ id, webhookId: id },
		credentials: { crmPlatformApi: { id: n8n.credentialId, name: 'Sandbox' } },
	});
const poll = (id: string, parameters: IDataObject = {}) =>
	trigger(id, 'Poll', { events: ['contact.created'], options: { interval: 1 }, ...parameters });
const webhook = (id: string, parameters: IDataObject = {}) => trigger(id, '', { events: ['contact.created'], ...parameters });

type Publishing = Awaited<ReturnType<typeof publishing>>;

/** A workflow whose triggers change, one publish after the other. */
async function publishing(...triggers: INode[]) {
	const { client } = n8n;
	const id = await client.createWorkflow({
		name: `Triggers ${triggers.map(({ id: node }) => node).join()}`, nodes: triggers, connections: {},
	});
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
				const firstId = rest[1] ?? '';
				counts[firstId] = (counts[firstId] ?? 0) + 1;
			}
			return counts;
		},
		/** The number of executions without a key: those of webhooks. */
		deliveries: () => n8n.rows().filter(({ deduplicationKey, workflowId }) => workflowId === id && deduplicationKey === null).length,
	};
}

/** @returns ids of the events */
async function contacts(howMany: number): Promise<string[]> {
	const items = Array.from({ length: howMany }, (_, i) => ({ last_name: `Contact ${i}` }));
	await n8n.call('POST', '/v1/contacts/batch/create', { items });
	const page = (await n8n.call('GET', `/v1/events?type=contact.created&sort=-sequence&limit=${howMany}`)) as ServicePage;
	return page.data.map(({ id }) => String(id));
}

const once = (ids: string[]) => Object.fromEntries(ids.map((id) => [id, 1]));
const isAll = (counts: Record<string, number>, ids: string[]) => ids.every((id) => id in counts);
const settled = async (isSo: () => boolean) => {
	await until(isSo);
	// Long enough for a superfluous start, and for n8n to store everything.
	await sleep(3_000);
};

const succeeds = { doneWhen: 'succeeded' };
const records = () => poll('records', { source: 'records', resource: 'company', events: undefined });

/** Four workflows of two triggers, which live through the same publishes and kills. */
let added: Publishing;
let republished: Publishing;
let beside: Publishing;
let secrets: Publishing;
/** The events before the second publish of each workflow, and those after it. */
let first: string[];
let later: string[];

beforeAll(async () => {
	n8n = await startKillableN8n();
	for (let i = 0; i < events; i++) await n8n.call('POST', '/v1/companies', { name: `Company ${i}` });
	added = await publishing(poll('added-1'));
	republished = await publishing(poll('again-1', succeeds), poll('again-2', succeeds));
	beside = await publishing(records(), poll('beside'));
	secrets = await publishing(poll('polled'), webhook('webhook'));
	first = await contacts(events);
	await untilStarted(first, []);

	await added.publish(poll('added-1'), poll('added-2'));
	await republished.publish(poll('again-1', succeeds), poll('again-2', { ...succeeds, attempts: 4 }));
	await beside.publish(records(), poll('beside', { doneWhen: 'ended' }));
	// Subscribes again, with another secret.
	await secrets.publish(poll('polled'), webhook('webhook', { recoverHours: 23 }));
	later = await contacts(events);
	// Only executions in flight during a kill may succeed again; there are none.
	await untilStarted(first, later);

	for (let kill = 0; kill < kills; kill++) {
		const starting = n8n.killAndStart();
		later.push(...(await contacts(events)));
		await starting;
		later.push(...(await contacts(events)));
		await untilStarted(first, later);
	}
}, 600_000);

async function untilStarted(before: string[], after: string[]): Promise<void> {
	const ids = [...before, ...after];
	await settled(
		() =>
			isAll(added.starts('added-1'), ids) &&
			isAll(added.starts('added-2'), after) &&
			['again-1', 'again-2'].every((node) => isAll(republished.starts(node), ids)) &&
			Object.keys(beside.starts('records')).length >= events &&
			isAll(beside.starts('beside'), ids) &&
			isAll(secrets.starts('polled'), ids) &&
			secrets.deliveries() >= ids.length,
	);
}

test('a second Poll Trigger is added to a published workflow, and n8n is killed: neither loses or repeats an event', () => {
	expect(added.starts('added-1')).toEqual(once([...first, ...later]));
	expect(added.starts('added-2')).toEqual(once(later));
});

test('one of two Poll Triggers is published again, and n8n is killed: nothing succeeds twice', () => {
	for (const node of ['again-1', 'again-2']) expect(republished.starts(node)).toEqual(once([...first, ...later]));
});

test('records beside another trigger that is published again: no record is repeated as existing', () => {
	expect(Object.values(beside.starts('records'))).toEqual(Array(events).fill(1));
	expect(beside.starts('beside')).toEqual(once([...first, ...later]));
});

test('a webhook trigger beside a Poll Trigger keeps its newest secret, whatever the other stores', () => {
	expect(secrets.starts('polled')).toEqual(once([...first, ...later]));
	expect(secrets.deliveries()).toBe(first.length + later.length);
});
