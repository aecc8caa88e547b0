import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { callService } from './call-service.ts';
import type { Reply } from './in-process.ts';

const main = join(__dirname, '../../../sandbox/main.ts');

export type Killable = ReturnType<typeof startKillable>;

/**
 * A sandbox in its own process, on a database that outlives it.
 *
 * @param db the file of the database
 * @param options.port its port after every start; by default, another one each time
 */
export function startKillable(db: string, options: { port?: number; flags?: string } = {}) {
	let current = startSandboxProcess(db, options);

	return {
		/** Ends the process with SIGKILL, whatever it is doing, and starts another one. */
		async kill() {
			const { child } = await current;
			child.kill('SIGKILL');
			current = once(child, 'exit').then(() => startSandboxProcess(db, options));
			await current;
		},
		/** Sends a request until it is answered, however often the process is killed meanwhile. */
		async send(method: string, path: string, body: unknown, key?: string): Promise<Reply> {
			for (;;) {
				const { url, child } = await current;
				try {
					return await callService(url, 'KEY', method, path, body, key === undefined ? {} : { 'Idempotency-Key': key });
				} catch {
					// The process was killed: nothing else refuses or breaks off a connection.
					if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
				}
			}
		},
		async close() {
			const { child } = await current;
			child.kill('SIGTERM');
			await once(child, 'exit');
		},
	};
}

/**
 * Starts a sandbox in a process of its own.
 *
 * @throws Error if the process ends before it listens
 */
async function startSandboxProcess(
	db: string,
	{ port = 0, flags = '' }: { port?: number; flags?: string },
): Promise<{ child: ChildProcess; url: string }> {
	const args = `--port ${port} --contacts 0 --api-key KEY --requests-per-minute 1000000 --db ${db} ${flags}`.trimEnd();
	const child = spawn(process.execPath, [main, ...args.split(' ')], { stdio: ['ignore', 'pipe', 'inherit'] });
	const early = once(child, 'exit').then(() => {
		throw new Error('The sandbox ended before it listened.');
	});
	const [line] = (await Promise.race([once(child.stdout, 'data'), early])) as [Buffer];
	return { child, url: /http:\S+/.exec(line.toString())![0] };
}
