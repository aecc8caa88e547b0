import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import {
	killableBeside,
	selectReports,
	type ExecutionRow,
	type KillableN8n,
	type TriggerReport,
} from '../../harness/killable-n8n.ts';
import { prepareN8n } from '../../harness/new-n8n.ts';
import { psqlCommand } from './postgres.ts';
import { findQueuePrograms, startQueueN8n } from './queue-n8n.ts';

/** An n8n in queue mode whose processes and databases tests can stop. */
export interface KillableQueue extends KillableN8n {
	/** Stops a database for a time. Redis loses its jobs. */
	outage(service: 'PostgreSQL' | 'Redis', ms: number): Promise<void>;
}

/** The processes that are killed in turn. */
const victims = ['main', 'worker-1', 'webhook-1', 'worker-2', 'webhook-2'];

/**
 * Starts an n8n in queue mode beside a sandbox. Its processes are killed in turn.
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

	const query = (sql: string): unknown => {
		const command = psqlCommand(database.port, `SELECT coalesce(json_agg(rows), '[]') FROM (${sql}) AS rows`);
		return JSON.parse(execFileSync(...command, { encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 }));
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
	};
}
