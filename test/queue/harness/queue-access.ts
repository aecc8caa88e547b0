import { readFileSync } from 'node:fs';
import { until } from '../../until.ts';
import { theWorld, type World } from '../../e2e/harness/access.ts';

/** Where this run's n8n in queue mode is; what tests of a single n8n use of it, they find too. */
export interface QueueWorld extends World {
	/** Addresses of the two processes that receive webhooks; the service gets the first. */
	webhookUrls: string[];
	/** The address of the database that n8n uses. */
	postgresPort: number;
	/** The log of each worker. */
	workerLogs: string[];
}

/** Skips where there is no Redis or PostgreSQL and none could be installed. */
export const describeInQueueMode = process.env['E2E_WORLDS'] ? describe : describe.skip;

export const theQueue = (): QueueWorld => theWorld() as QueueWorld;

/**
 * Which of the executions each worker has done, as its log says, once all have been done.
 *
 * @param executionIds of executions that have been started
 */
export async function doneByWorkers(executionIds: string[]): Promise<string[][]> {
	return await until(() => {
		const done = theQueue().workerLogs.map((log) => finishedIn(log).filter((id) => executionIds.includes(id)));
		return done.flat().length >= executionIds.length ? done : undefined;
	});
}

const finishedIn = (log: string): string[] =>
	[...readFileSync(log, 'utf8').matchAll(/Worker finished execution (\d+)/g)].map(([, id]) => id!);
