import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { startSandbox } from '../../../sandbox/serve.ts';
import { installN8n } from '../../../tools/n8n.mjs';
import { findProgram, postgres, redis } from '../../../tools/system-program.ts';
import { packBuilt } from '../../e2e/harness/built-package.ts';
import {
	serviceCaller,
	firstSession,
	selectReports,
	type ExecutionRow,
	type KillableN8n,
	type TriggerReport,
} from '../../e2e/harness/killable-n8n.ts';
import { startQueueN8n } from './queue-n8n.ts';
import { DATABASE_USER, startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { newFolder } from './server.ts';

/** With databases that may go away. */
export interface KillableQueue extends KillableN8n {
	/** Redis forgets its jobs. */
	outage(service: 'PostgreSQL' | 'Redis', ms: number): Promise<void>;
	/** Ends a process as a crash does: `main`, `worker-1` and so on. */
	kill(name: string): Promise<void>;
	/** Starts a process again that was killed. */
	replace(name: string): Promise<void>;
	/** Redis forgets its jobs, and stays up. */
	flush(): void;
}

/** What is killed, in turns. */
const victims = ['main', 'worker-1', 'webhook-1', 'worker-2', 'webhook-2'];

/**
 * An n8n in queue mode of its own beside a sandbox, whose processes are killed in turns.
 *
 * @throws Error if Redis or PostgreSQL is missing
 */
export async function startKillableQueue(): Promise<KillableQueue> {
	const programs = [findProgram(redis), findProgram(postgres)] as const;
	if (!programs[0] || !programs[1]) throw new Error('Install Redis and PostgreSQL: apt-get install redis-server postgresql');
	const output = resolve('.tmp', 'queue-killed');
	rmSync(output, { recursive: true, force: true });
	mkdirSync(output, { recursive: true });
	const folder = newFolder('queue-killed');
	const closers: Array<() => unknown> = [() => rmSync(folder, { recursive: true, force: true })];
	const close = async () => {
		for (const closer of closers.splice(0).reverse()) await closer();
	};
	try {
		const installation = await installN8n();
		const tarball = await packBuilt(join(folder, 'package'));
		const queue = await startRedis(programs[0], join(output, 'redis.log'));
		closers.push(() => queue.stop());
		const database = await startPostgres(programs[1], join(output, 'postgres.log'));
		closers.push(() => database.stop());
		const sandbox = await startSandbox({ contacts: 0, plan: 'enterprise', allowPrivateWebhooks: true });
		closers.push(() => sandbox.close());
		const ports = { postgresPort: database.port, redisPort: queue.port };
		const n8n = await startQueueN8n({ installation, tarball, folder, output, ...ports });
		closers.push(() => n8n.stop());
		const { client, credentialId } = await firstSession(n8n.mainUrl, sandbox);

		const psql = join(dirname(realpathSync(programs[1])), 'psql');
		const place = ['-h', '127.0.0.1', '-p', String(database.port), '-U', DATABASE_USER, '-d', 'postgres'];
		const query = (sql: string): unknown => {
			const json = `SELECT coalesce(json_agg(rows), '[]') FROM (${sql}) AS rows`;
			const maxBuffer = 256 * 1024 * 1024;
			return JSON.parse(execFileSync(psql, [...place, '-Atc', json], { encoding: 'utf8', maxBuffer }));
		};
		let kills = 0;
		return {
			client,
			credentialId,
			call: serviceCaller(sandbox),
			rows: () => query('SELECT "deduplicationKey", status, "workflowId" FROM execution_entity') as ExecutionRow[],
			countRows: () => (query('SELECT count(*) AS count FROM execution_entity') as [{ count: number }])[0].count,
			reports: () => query(selectReports) as TriggerReport[],
			async killAndStart() {
				const victim = victims[kills++ % victims.length]!;
				await n8n.kill(victim);
				await n8n.replace(victim);
			},
			outage: async (service, ms) => await (service === 'Redis' ? queue : database).outage(ms),
			kill: n8n.kill,
			replace: n8n.replace,
			flush: () => void execFileSync('redis-cli', ['-p', String(queue.port), 'flushall']),
			close,
		};
	} catch (error) {
		await close();
		throw error;
	}
}
