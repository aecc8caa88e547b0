import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { onStopSignal } from '../../../tools/stop.mjs';
import type { World } from './access.ts';
import { prepareN8n, singleProcess, worldOf } from './new-n8n.ts';

/** More than two of the largest pages. */
const contactCount = 1_200;

/** n8n's log and the screenshots. They are kept after the run, for the analysis of failed tests. */
const outputFolder = resolve('.tmp', 'e2e');

const closers = new AsyncDisposableStack();

/** Starts a new n8n with the package and a new sandbox for each worker of jest. */
export async function startEndToEnd({ maxWorkers }: { maxWorkers: number }): Promise<void> {
	await startWorlds(outputFolder, startWorld, maxWorkers);
}

/**
 * Starts worlds for the tests of a run, and passes their addresses to the tests.
 *
 * @param output a folder for logs, which is emptied
 * @param start starts a world by its number, from 1, and adds what ends it to the closers
 */
export async function startWorlds(
	output: string,
	start: (closers: AsyncDisposableStack, number: number) => Promise<World>,
	count = 1,
): Promise<void> {
	rmSync(output, { recursive: true, force: true });
	mkdirSync(output, { recursive: true });
	// Ctrl-C ends jest without its teardown.
	closers.defer(onStopSignal(stopWorlds));
	try {
		const worlds = Array.from({ length: count }, async (_, i) => await start(closers, i + 1));
		// Waits for all, so that each is in `closers` if one fails.
		await Promise.allSettled(worlds);
		process.env['E2E_WORLDS'] = JSON.stringify(await Promise.all(worlds));
	} catch (error) {
		await stopWorlds();
		throw error;
	}
}

/** Ends all worlds and removes their files. */
export async function stopWorlds(): Promise<void> {
	await closers.disposeAsync();
}

async function startWorld(closers: AsyncDisposableStack, number: number): Promise<World> {
	const setup = await prepareN8n(closers, contactCount);
	const startProcess = await singleProcess(setup, { N8N_RESTRICT_FILE_ACCESS_TO: resolve('test/support/exports') });
	const log = join(outputFolder, `n8n-${number}.log`);
	const n8n = startProcess(log);
	closers.defer(() => n8n.stop());
	await n8n.ready;
	return await worldOf(setup, n8n.url, log);
}
