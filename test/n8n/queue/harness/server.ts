import type { SpawnOptions } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOfLog } from '../../../../demo/n8n-process.ts';
import { hasEnded, startGroup, stopGroup } from '../../../../tools/child.mjs';

const startTimeoutMs = 60_000;
const pollMs = 50;
const stopGraceMs = 10_000;

/** An empty server that n8n needs, for one run. */
export interface Server {
	port: number;
	/** Ends it immediately, and starts it on the same port after some milliseconds. */
	outage(ms: number): Promise<void>;
	/** Ends it and removes what it wrote. */
	stop(): Promise<void>;
}

/** A temporary folder. */
export function newFolder(subject: string): string {
	return mkdtempSync(join(tmpdir(), `n8n-nodes-crm-platform-${subject}-`));
}

/**
 * Starts a server, and returns when it accepts connections.
 *
 * @param how.log the file for its output
 * @param how.ready what its output contains once it is ready
 * @throws Error with the end of its log if it ends or takes too long
 */
export async function startServer(
	how: { program: string; args: string[]; port: number; folder: string; log: string; ready: string },
	options: SpawnOptions = {},
): Promise<Server> {
	const { program, args, port, folder, log, ready } = how;
	const start = async () => {
		const output = openSync(log, 'w');
		const started = startGroup(program, args, { ...options, cwd: folder, stdio: ['ignore', output, output] });
		closeSync(output);
		const deadline = Date.now() + startTimeoutMs;
		while (!readFileSync(log, 'utf8').includes(ready)) {
			if (hasEnded(started) || Date.now() > deadline) {
				await stopGroup(started, stopGraceMs);
				throw new Error(`${program} did not start.\n${endOfLog(log)}`);
			}
			await sleep(pollMs);
		}
		return started;
	};
	const remove = () => rmSync(folder, { recursive: true, force: true });
	let child = await start().catch((error: unknown) => {
		remove();
		throw error;
	});
	return {
		port,
		async outage(ms) {
			child.kill('SIGQUIT');
			while (!hasEnded(child)) await sleep(pollMs);
			await sleep(ms);
			child = await start();
		},
		async stop() {
			await stopGroup(child, stopGraceMs);
			remove();
		},
	};
}
