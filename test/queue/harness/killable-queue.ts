import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
	killableBeside,
	selectReports,
	type ExecutionRow,
	type KillableN8n,
	type TriggerReport,
} from '../../e2e/harness/killable-n8n.ts';
import { prepareN8n } from '../../e2e/harness/new-n8n.ts';
import { DATABASE_USER } from './postgres.ts';
import { findQueuePrograms, startQueueN8n } from './queue-n8n.ts';

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
	const programs = findQueuePrograms();
	if (!programs) throw new Error('Install Redis and PostgreSQL: apt-get install redis-server postgresql');
	const output = resolve('.tmp', 'queue-killed');
	rmSync(output, { recursive: true, force: true });
	mkdirSync(output, { recursive: true });
	await using closers = new AsyncDisposableStack();
	const setup = await prepareN8n(closers, 0);
	const n8n = await startQueueN8n(closers, setup, programs, output);
	const { database, queue } = n8n;

	const psql = join(dirname(realpathSync(programs.postgresProgram)), 'psql');
	const place = ['-h', '127.0.0.1', '-p', String(database.port), '-U', DATABASE_USER, '-d', 'postgres'];
	const query = (sql: string): unknown => {
		const json = `SELECT coalesce(json_agg(rows), '[]') FROM (${sql}) AS rows`;
		const maxBuffer = 256 * 1024 * 1024;
		return JSON.parse(execFileSync(psql, [...place, '-Atc', json], { encoding: 'utf8', maxBuffer }));
	};
	let kills = 0;
	return {
		...(await killableBeside(setup.sandbox, n8n.mainUrl, closers)),
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
	};
}
