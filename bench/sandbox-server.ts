import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ServerProcess, startServer } from './server-process.ts';

/** Starts a sandbox. Its database is in memory, unless `--db` is among the flags. */
export const startSandbox = async (contacts: number, ...flags: string[]): Promise<ServerProcess> => {
	const options = `--port 0 --api-key KEY --requests-per-minute 1000000 --contacts ${contacts}`;
	return await startServer([resolve('sandbox', 'main.ts'), ...options.split(' '), ...flags]);
};

/** Works with a sandbox whose database is a file, in a folder that is deleted afterwards. */
export async function withSandbox<T>(
	contacts: number,
	work: (server: ServerProcess, folder: string) => Promise<T>,
	...flags: string[]
): Promise<T> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	if (contacts >= 100_000) console.log(`A sandbox with ${contacts.toLocaleString('en')} contacts is being filled.`);
	const server = await startSandbox(contacts, '--db', join(folder, 'sandbox.db'), ...flags);
	try {
		return await work(server, folder);
	} finally {
		await server.stop();
		rmSync(folder, { recursive: true });
	}
}
