import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { installCommunityPackage } from '../../../../demo/community-package.ts';
import { n8nUrl } from '../../../../demo/n8n-environment.ts';
import { type N8nProcess, startN8n } from '../../../../demo/n8n-process.ts';
import { freePort } from '../../../../demo/ports.ts';
import { findProgram, postgres, redis } from '../../../support/system-program.ts';
import type { N8nSetup } from '../../harness/new-n8n.ts';
import { databaseUser, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import type { Server } from './server.ts';

const encryptionKey = 'for one run';

/** n8n in queue mode: processes that share a database and a queue. */
interface QueueN8n {
	/** The address of the process that serves the editor and activates triggers. */
	mainUrl: string;
	/** The addresses of the processes that receive webhooks. Each accepts every delivery. */
	webhookUrls: string[];
	/** The log of each worker, which names the executions that it has done. */
	workerLogs: string[];
	/** Ends a process as a crash does (SIGKILL): `main`, `webhook-1`, `webhook-2`, `worker-1` or `worker-2`. */
	kill(name: string): Promise<void>;
	/** Replaces a killed process, as on another machine: the new one has none of its files. */
	replace(name: string): Promise<void>;
	/** The database of n8n. */
	database: Server;
	queue: Server;
}

/** The programs that n8n needs in queue mode. */
interface QueuePrograms {
	redisProgram: string;
	postgresProgram: string;
}

/** Undefined if Redis or PostgreSQL is missing. */
export function findQueuePrograms(): QueuePrograms | undefined {
	const redisProgram = findProgram(redis);
	const postgresProgram = findProgram(postgres);
	return redisProgram && postgresProgram ? { redisProgram, postgresProgram } : undefined;
}

/**
 * Starts Redis, PostgreSQL, a main process of n8n, two that receive webhooks, and two workers. Waits for all.
 *
 * @param output a folder for the logs
 */
export async function startQueueN8n(
	closers: AsyncDisposableStack,
	{ installation, tarball, folder }: N8nSetup,
	{ redisProgram, postgresProgram }: QueuePrograms,
	output: string,
): Promise<QueueN8n> {
	const queue = await startRedis(redisProgram, join(output, 'redis.log'));
	closers.defer(() => queue.stop());
	const database = await startPostgres(postgresProgram, join(output, 'postgres.log'));
	closers.defer(() => database.stop());
	const webhookPort = await freePort();
	const settings = queueSettings(queue.port, database.port, n8nUrl(webhookPort));
	const installed = join(folder, 'installed');
	await installCommunityPackage(installed, 'n8n-nodes-crm-platform', tarball);
	const started = new Map<string, N8nProcess>();
	const replacements = new Map<string, () => Promise<{ ready: Promise<void> }>>();
	const start = async (name: string, command: string[], port: number, machine = 1) => {
		// Each process has its own folder, as on its own machine: processes that share one take each other for crashed.
		const place = machine === 1 ? name : `${name}, machine ${machine}`;
		const userFolder = join(folder, place);
		cpSync(installed, userFolder, { recursive: true });
		const log = join(output, `${place}.log`);
		const n8n = startN8n(
			installation,
			{
				userFolder,
				encryptionKey,
				port,
				brokerPort: await freePort(),
				settings: { ...settings, QUEUE_HEALTH_CHECK_PORT: String(port) },
			},
			log,
			command,
		);
		started.set(name, n8n);
		replacements.set(name, async () => await start(name, command, port, machine + 1));
		return { url: n8n.url, log, ready: n8n.ready };
	};
	closers.defer(async () => void (await Promise.all([...started.values()].map(async (n8n) => await n8n.stop()))));

	const worker = ['worker', '--concurrency=5'];
	const main = await start('main', ['start'], await freePort());
	const webhooks = [
		await start('webhook-1', ['webhook'], webhookPort),
		await start('webhook-2', ['webhook'], await freePort()),
	];
	const workers = [await start('worker-1', worker, await freePort()), await start('worker-2', worker, await freePort())];
	await Promise.all([main, ...webhooks, ...workers].map(async ({ ready }) => await ready));
	return {
		mainUrl: main.url,
		webhookUrls: webhooks.map(({ url }) => url),
		workerLogs: workers.map(({ log }) => log),
		kill: async (name) => await started.get(name)!.kill(),
		replace: async (name) => await (await replacements.get(name)!()).ready,
		database,
		queue,
	};
}

/** @param webhookUrl the address for webhooks; on a server, that of a load balancer */
function queueSettings(redisPort: number, postgresPort: number, webhookUrl: string) {
	return {
		N8N_DISABLE_UI: 'true',
		EXECUTIONS_MODE: 'queue',
		QUEUE_BULL_REDIS_HOST: '127.0.0.1',
		QUEUE_BULL_REDIS_PORT: String(redisPort),
		DB_TYPE: 'postgresdb',
		DB_POSTGRESDB_HOST: '127.0.0.1',
		DB_POSTGRESDB_PORT: String(postgresPort),
		DB_POSTGRESDB_DATABASE: 'postgres',
		DB_POSTGRESDB_USER: databaseUser,
		OFFLOAD_MANUAL_EXECUTIONS_TO_WORKERS: 'true',
		N8N_DISABLE_PRODUCTION_MAIN_PROCESS: 'true',
		N8N_WEBHOOK_URL: webhookUrl,
		QUEUE_HEALTH_CHECK_ACTIVE: 'true',
		N8N_WORKER_SERVER_ADDRESS: '127.0.0.1',
	};
}
