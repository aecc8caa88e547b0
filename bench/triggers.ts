import { createHmac, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import { workflowNode } from '../demo/workflow-node.ts';
import { type Pair, type Row, rowOf, sideBySide, time } from './measure.ts';
import { type RealN8n, startRealN8n } from './real-n8n.ts';
import { startSandbox } from './sandbox-server.ts';
import { type Server, serverAt } from './server-process.ts';

const deliveries = 200;
const events = 100;
/** The default of Executions at Once. */
const atOnce = 5;
const senders = 10;
const rounds = 3;
/** The target: at least 0.9 times as many per second. */
const max = { ratio: 1 / 0.9 };

/**
 * The triggers beside n8n's Webhook node in the same n8n, each alone in a workflow (n8n's benchmark scenario
 * `single-webhook`). n8n 2.41 starts a sandbox for expressions for every trigger but its Webhook node
 * (live-webhooks, webhookPhaseNeedsIsolate), so the target applies beside a trigger that does nothing.
 */
export async function benchTriggers(): Promise<Row[]> {
	const sandbox = await startSandbox(0, '--allow-private-webhooks');
	try {
		const n8n = await startRealN8n({ N8N_CUSTOM_EXTENSIONS: resolve('bench', 'bare-trigger') });
		const server = serverAt(n8n.url);
		try {
			const data = { baseUrl: sandbox.url, apiKey: 'KEY', descriptionUrl: '' };
			const credentialId = await n8n.client.createCredential({ name: 'Sandbox', type: 'crmPlatformApi', data });
			const bench = { n8n, sandbox, server, credentialId, webhookId: await publishWebhook(n8n) };
			return [...(await measureDeliveries(bench)), await started(bench)];
		} finally {
			server.closeConnections();
			await n8n.stop();
		}
	} finally {
		await sandbox.stop();
	}
}

interface Bench {
	n8n: RealN8n;
	sandbox: Server;
	/** n8n's process. */
	server: Server;
	credentialId: string;
	/** The workflow of n8n's Webhook node. */
	webhookId: string;
}

const webhookPath = '/webhook/bench';

async function publishWebhook({ client }: RealN8n): Promise<string> {
	const parameters = { httpMethod: 'POST', path: 'bench', responseMode: 'onReceived', options: {} };
	return await publish(client, node('n8n-nodes-base.webhook', 2.1, parameters));
}

function node(type: string, typeVersion: number, parameters: IDataObject, credentialId?: string): INode {
	const id = randomUUID();
	const credentials = credentialId === undefined ? {} : { crmPlatformApi: { id: credentialId, name: 'Sandbox' } };
	return workflowNode('Trigger', type, typeVersion, parameters, { id, webhookId: id, credentials });
}

async function publish(client: RealN8n['client'], trigger: INode): Promise<string> {
	const id = await client.createWorkflow({ name: trigger.type, nodes: [trigger], connections: {} });
	await client.activateWorkflow(id);
	return id;
}

/** Signed deliveries to the CRM Platform Trigger and to the other triggers. */
async function measureDeliveries(bench: Bench): Promise<Row[]> {
	const { n8n, sandbox, server, credentialId } = bench;
	const type = 'n8n-nodes-crm-platform.crmPlatformTrigger';
	const id = await publish(n8n.client, node(type, 2, { events: ['contact.created'] }, credentialId));
	const { data } = JSON.parse(await sandbox.call('GET', '/v1/webhooks')) as { data: [{ url: string }] };
	const secret = secretOf(n8n, id);
	const path = new URL(data[0].url).pathname;
	const bare = node('CUSTOM.bareTrigger', 1, {}, credentialId);
	const bareId = await publish(n8n.client, bare);
	const barePath = `/webhook/${bare.webhookId}/webhook`;

	const deliveryRow = async (label: string, paths: Record<keyof Pair, string>): Promise<Row> => {
		const pair = await sideBySide(rounds, async (which) => {
			const send = async () => {
				const { body, headers } = signed(secret);
				await server.call('POST', paths[which], body, headers);
			};
			const elapsedMs = await time(async () => await inTurns(send, deliveries, senders));
			await untilQuiet(n8n);
			return elapsedMs / deliveries;
		});
		return rowOf(`${label}: a delivery, ${senders} at a time`, 'ms', pair);
	};
	const rows = [
		{ ...(await deliveryRow('CRM Platform Trigger beside a bare trigger', { ours: path, bare: barePath })), max },
		await deliveryRow('CRM Platform Trigger beside the Webhook node', { ours: path, bare: webhookPath }),
		await deliveryRow('a bare trigger beside the Webhook node', { ours: barePath, bare: webhookPath }),
	];
	for (const workflowId of [id, bareId]) await n8n.client.deactivateWorkflow(workflowId);
	return rows;
}

/** The secret of a published trigger, as n8n stores it. */
function secretOf({ query }: RealN8n, workflowId: string): string {
	const [stored] = query<{ staticData: string }>(`SELECT staticData FROM workflow_entity WHERE id = '${workflowId}'`);
	const secret = /whsec_[\w+/=]+/.exec(stored?.staticData ?? '')?.[0];
	if (secret === undefined) throw new Error('The trigger has no secret.');
	return secret;
}

/** A delivery as the service sends it (Standard Webhooks 1.0.0). */
function signed(secret: string) {
	const id = `evt_${randomUUID()}`;
	const at = Math.floor(Date.now() / 1000).toString();
	const object = { id: 'con_1', object: 'contact', last_name: 'Moreno', email: 'moreno@example.com' };
	const data = { object, previous: null, changed: [] };
	const timestamp = new Date().toISOString();
	const body = JSON.stringify({ id, type: 'contact.created', timestamp, sequence: 1, request: null, data });
	const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
	const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
	const headers = { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` };
	return { body, headers };
}

/** Executions started by the Poll Trigger, and as many by the Webhook node. */
async function started({ n8n, sandbox, server, credentialId, webhookId }: Bench): Promise<Row> {
	const type = 'n8n-nodes-crm-platform.crmPlatformPollTrigger';
	const parameters = { events: ['contact.created'], options: { interval: 1 } };
	const id = await publish(n8n.client, node(type, 1, parameters, credentialId));
	const post = async () => void (await server.call('POST', webhookPath, JSON.stringify({ last_name: 'Moreno' })));
	const pair = await sideBySide(rounds, async (which) => {
		const workflowId = which === 'ours' ? id : webhookId;
		const [{ last }] = n8n.query<{ last: number }>('SELECT coalesce(max(id), 0) AS last FROM execution_entity') as [
			{ last: number },
		];
		if (which === 'ours') {
			const items = Array.from({ length: events }, () => ({ last_name: 'Moreno' }));
			await sandbox.call('POST', '/v1/contacts/batch/create', JSON.stringify({ items }));
		} else {
			await inTurns(post, events, atOnce);
		}
		for (;;) {
			const [{ count, ms }] = n8n.query<{ count: number; ms: number }>(
				`SELECT count(*) AS count, (julianday(max(stoppedAt)) - julianday(min(startedAt))) * 86400000 AS ms
				FROM execution_entity WHERE id > ${last} AND workflowId = '${workflowId}' AND status = 'success'`,
			) as [{ count: number; ms: number }];
			if (count >= events) return ms / events;
			await sleep(50);
		}
	});
	await n8n.client.deactivateWorkflow(id);
	return { ...rowOf(`Poll Trigger beside the Webhook node: an execution of one event, ${atOnce} at a time`, 'ms', pair), max };
}

/** Does something a number of times, a few at a time. */
async function inTurns(work: () => Promise<void>, times: number, lanes: number): Promise<void> {
	let remaining = times;
	const lane = async () => {
		while (remaining-- > 0) await work();
	};
	await Promise.all(Array.from({ length: lanes }, lane));
}

async function untilQuiet({ query }: RealN8n): Promise<void> {
	const busy = "SELECT id FROM execution_entity WHERE status IN ('new', 'running') LIMIT 1";
	while (query(busy).length > 0) await sleep(20);
}
