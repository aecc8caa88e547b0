import { readFileSync } from 'node:fs';
import { theWorld, type World } from '../../e2e/harness/access.ts';

/** Where this run's n8n in queue mode is; what tests of a single n8n use of it, they find too. */
export interface QueueWorld extends World {
	/** Of the two processes that receive webhooks; the service is given the first. */
	webhookUrls: string[];
	/** The log of each worker. */
	workerLogs: string[];
}

/** Skips where there is no Redis or PostgreSQL and none could be installed. */
export const describeInQueueMode = process.env['E2E_WORLD'] ? describe : describe.skip;

export const theQueue = (): QueueWorld => theWorld() as QueueWorld;

/** Which executions each worker has done, by their ids, as its log says. */
export function doneByWorkers(): string[][] {
	return theQueue().workerLogs.map((log) =>
		[...readFileSync(log, 'utf8').matchAll(/Worker finished execution (\d+)/g)].map(([, id]) => id!),
	);
}
