import { readFileSync } from 'node:fs';
import { until } from '../../../support/until.ts';
import { theWorld, type World } from '../../harness/access.ts';

/** The addresses of this run's n8n in queue mode, with everything that tests of a single n8n use. */
export interface QueueWorld extends World {
	/** The addresses of the two processes that receive webhooks. The service has the first. */
	webhookUrls: string[];
	/** The log of each worker. */
	workerLogs: string[];
}

/** Skipped if Redis or PostgreSQL is missing and could not be installed. */
export const describeInQueueMode = process.env['E2E_WORLDS'] ? describe : describe.skip;

export const theQueue = (): QueueWorld => theWorld() as QueueWorld;

/**
 * Waits for executions to end.
 *
 * @returns the executions that each worker has done, according to its log
 */
export async function doneByWorkers(executionIds: string[]): Promise<string[][]> {
	return await until(() => {
		const done = theQueue().workerLogs.map((log) => finishedIn(log).filter((id) => executionIds.includes(id)));
		return done.flat().length >= executionIds.length ? done : undefined;
	});
}

const finishedIn = (log: string): string[] =>
	[...readFileSync(log, 'utf8').matchAll(/Worker finished execution (\d+)/g)].map(([, id]) => id!);
