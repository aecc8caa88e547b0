import { join, resolve } from 'node:path';
import { prepareN8n, worldOf } from '../../harness/new-n8n.ts';
import { startWorlds } from '../../harness/world.ts';
import { findQueuePrograms, startQueueN8n } from './queue-n8n.ts';
import type { QueueWorld } from './queue-access.ts';

const contactCount = 200;

/** The logs. They are kept after the run, for the analysis of failed tests. */
const outputFolder = resolve('.tmp', 'queue');

/**
 * Starts a new n8n in queue mode with the package, and a new sandbox. Without Redis or PostgreSQL
 * it starts nothing, and the tests are skipped.
 */
export async function startQueueWorld(): Promise<void> {
	const programs = findQueuePrograms();
	if (!programs) return;
	await startWorlds(outputFolder, async (closers): Promise<QueueWorld> => {
		const setup = await prepareN8n(closers, contactCount);
		const { mainUrl, webhookUrls, workerLogs } = await startQueueN8n(closers, setup, programs, outputFolder);
		const world = await worldOf(setup, mainUrl, join(outputFolder, 'main.log'));
		return { ...world, webhookUrls, workerLogs };
	});
}
