import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INode } from 'n8n-workflow';
import { installCommunityPackage } from '../../../demo/community-package.ts';
import { N8nClient } from '../../../demo/n8n-client.ts';
import { startN8n } from '../../../demo/n8n-process.ts';
import { freePort } from '../../../demo/ports.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { installN8n } from '../../../tools/n8n.mjs';
import { packPackage } from '../../../tools/pack.ts';

export const moveOns = ['started', 'ended', 'succeeded'] as const;

/** The executions of one event, by how they ended. */
export type Executions = Map<string, string[]>;

/**
 * Lets events happen to three published workflows, one for each Move On, in an n8n of its own that is
 * killed (SIGKILL) again and again meanwhile.
 *
 * @param random gives 0 ≤ n < 1
 * @returns of each workflow, the statuses of the executions of each event, from n8n's database
 */
export async function countUnderKills(
	events: number,
	kills: number,
	random: () => number,
): Promise<Record<(typeof moveOns)[number], Executions>> {
	const folder = mkdtempSync(join(tmpdir(), 'n8n-killed-'));
	const closers: Array<() => unknown> = [() => rmSync(folder, { recursive: true, force: true })];
	try {
		const installation = await installN8n();
		const tarball = await packPackage(join(folder, 'package'));
		await installCommunityPackage(folder, 'n8n-nodes-crm-platform', tarball);
		const sandbox = await startSandbox({ contacts: 0, plan: 'enterprise' });
		closers.push(() => sandbox.close());
		const ports = { port: await freePort(), brokerPort: await freePort() };
		const place = { userFolder: folder, encryptionKey: 'for one run', ...ports };
		let starts = 0;
		const start = () => startN8n(installation, place, resolve('.tmp', 'e2e', `n8n-killed-${(starts += 1)}.log`));
		let n8n = start();
		closers.push(() => n8n.kill());
		await n8n.ready;

		const client = new N8nClient(n8n.url);
		await client.signIn({ email: 'owner@example.com', password: 'For-1-run-only' });
		const credentialId = await client.createCredential({
			name: 'Sandbox',
			type: 'crmPlatformApi',
			data: { baseUrl: sandbox.url, apiKey: sandbox.apiKey, descriptionUrl: '' },
		});
		const ids = new Map<string, string>();
		for (const moveOn of moveOns) {
			const id = await client.createWorkflow(workflowOf(credentialId, moveOn));
			await client.activateWorkflow(id);
			ids.set(moveOn, id);
		}

		const call = async (path: string, body?: object) => {
			const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' };
			const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers };
			return (await (await fetch(sandbox.url + path, init)).json()) as { total: number };
		};
		const parts = kills + 1;
		for (let part = 0; part < parts; part++) {
			const items = Array.from({ length: Math.ceil(events / parts) }, (_, i) => ({ last_name: `${part}.${i}` }));
			for (let from = 0; from < items.length; from += 100) {
				await call('/v1/contacts/batch/create', { items: items.slice(from, from + 100) });
			}
			if (part === kills) break;
			const before = rows(folder).length;
			const target = before + Math.floor(random() * items.length * moveOns.length);
			while (rows(folder).length < target) await sleep(20);
			await sleep(random() * 50);
			await n8n.kill();
			n8n = start();
			await n8n.ready;
		}
		const { total } = await call('/v1/events?limit=1&type=contact.created');
		const result = () =>
			Object.fromEntries(moveOns.map((moveOn) => [moveOn, executionsOf(folder, ids.get(moveOn)!)])) as Record<
				(typeof moveOns)[number],
				Executions
			>;
		const isDone = () => {
			const { started, ended, succeeded } = result();
			const successes = [...succeeded.values()].filter((statuses) => statuses.includes('success'));
			const isQuiet = rows(folder).every(({ status }) => !['new', 'running'].includes(status));
			return isQuiet && started.size === total && ended.size === total && successes.length === total;
		};
		while (!isDone()) await sleep(200);
		// Long enough for a start that is one too many.
		await sleep(3_000);
		return result();
	} finally {
		for (const close of closers.reverse()) await close();
	}
}

interface Row {
	deduplicationKey: string;
	status: string;
	workflowId: string;
}

function rows(folder: string): Row[] {
	const database = new DatabaseSync(join(folder, '.n8n', 'database.sqlite'), { readOnly: true });
	try {
		const query = 'SELECT deduplicationKey, status, workflowId FROM execution_entity';
		return database.prepare(query).all() as unknown as Row[];
	} finally {
		database.close();
	}
}

/** Keys end with `<event>:<attempt>`. */
function executionsOf(folder: string, workflowId: string): Executions {
	const found: Executions = new Map();
	for (const { deduplicationKey, status } of rows(folder).filter((row) => row.workflowId === workflowId)) {
		const event = deduplicationKey.split(':').at(-2)!;
		found.set(event, [...(found.get(event) ?? []), status]);
	}
	return found;
}

function workflowOf(credentialId: string, moveOn: string) {
	const trigger: INode = {
		id: `trigger-${moveOn}`,
		name: 'Trigger',
		type: 'n8n-nodes-crm-platform.crmPlatformPollTrigger',
		typeVersion: 1,
		position: [0, 0],
		parameters: { events: ['contact.created'], moveOn, attempts: 20, options: { interval: 1 } },
		credentials: { crmPlatformApi: { id: credentialId, name: 'Sandbox' } },
	};
	const next: INode = {
		id: `next-${moveOn}`,
		name: 'Next',
		type: 'n8n-nodes-base.noOp',
		typeVersion: 1,
		position: [220, 0],
		parameters: {},
	};
	const connections = { Trigger: { main: [[{ node: 'Next', type: 'main' as const, index: 0 }]] } };
	return { name: `Move on when ${moveOn}`, nodes: [trigger, next], connections };
}
