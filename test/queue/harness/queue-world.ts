import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installN8n } from '../../../tools/n8n.mjs';
import { N8nClient } from '../../../demo/n8n-client.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { onStopSignal } from '../../../tools/stop.mjs';
import { findProgram, postgres, redis } from '../../../tools/system-program.ts';
import { packBuilt } from '../../e2e/harness/built-package.ts';
import type { QueueWorld } from './queue-access.ts';
import { startQueueN8n } from './queue-n8n.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { newFolder } from './server.ts';

const CONTACTS = 200;

/** Kept after the run, to look into when a test has failed: the logs. */
const OUTPUT = resolve('.tmp', 'queue');

const closers: Array<() => unknown> = [];

/**
 * Starts a new n8n in queue mode with the package, and a new sandbox. Without Redis or PostgreSQL
 * it starts nothing, and the tests are skipped.
 */
export async function startWorld(): Promise<void> {
	const programs = [findProgram(redis), findProgram(postgres)] as const;
	if (!programs[0] || !programs[1]) return;
	rmSync(OUTPUT, { recursive: true, force: true });
	mkdirSync(OUTPUT, { recursive: true });
	// Ctrl-C ends jest without its teardown.
	closers.push(onStopSignal(stopWorld));
	try {
		process.env['E2E_WORLDS'] = JSON.stringify([await start(programs[0], programs[1])]);
	} catch (error) {
		await stopWorld();
		throw error;
	}
}

/** Ends all of it and removes what it wrote. */
export async function stopWorld(): Promise<void> {
	for (const close of closers.splice(0).reverse()) await close();
}

async function start(redisProgram: string, postgresProgram: string): Promise<QueueWorld> {
	const folder = newFolder('queue');
	closers.push(() => rmSync(folder, { recursive: true, force: true }));
	const installation = await installN8n();
	const tarball = await packBuilt(join(folder, 'package'));

	const queue = await startRedis(redisProgram, join(OUTPUT, 'redis.log'));
	closers.push(() => queue.stop());
	const database = await startPostgres(postgresProgram, join(OUTPUT, 'postgres.log'));
	closers.push(() => database.stop());
	const sandbox = await startSandbox({
		contacts: CONTACTS,
		plan: 'enterprise',
		faults: true,
		allowPrivateWebhooks: true,
	});
	closers.push(() => sandbox.close());
	const n8n = await startQueueN8n({
		installation,
		tarball,
		folder,
		output: OUTPUT,
		postgresPort: database.port,
		redisPort: queue.port,
	});
	closers.push(() => n8n.stop());

	const owner = { email: 'owner@example.com', password: 'For-1-run-only' };
	const client = new N8nClient(n8n.mainUrl);
	await client.signIn(owner);
	return {
		n8nUrl: n8n.mainUrl,
		log: join(OUTPUT, 'main.log'),
		webhookUrls: n8n.webhookUrls,
		postgresPort: database.port,
		workerLogs: n8n.workerLogs,
		owner,
		session: client.session,
		sandboxUrl: sandbox.url,
		apiKey: sandbox.apiKey,
		n8nFolder: installation,
		chromium: undefined,
	};
}
