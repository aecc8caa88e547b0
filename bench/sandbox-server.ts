import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type ServerProcess, startServer } from './server-process.ts';

/** Starts a sandbox with a database of its own. */
export function startSandbox(
	folder: string,
	name: string,
	contacts: number,
	further: string[] = [],
): Promise<ServerProcess> {
	const options = `--port 0 --api-key KEY --requests-per-minute 1000000 --contacts ${contacts}`;
	const db = join(folder, `${name}.db`);
	return startServer([resolve('sandbox', 'main.ts'), ...options.split(' '), '--db', db, ...further]);
}

/** Works with a sandbox that has that many contacts, in a folder that is deleted afterwards. */
export async function withFilledSandbox<T>(
	contacts: number,
	work: (server: ServerProcess) => Promise<T>,
	further: string[] = [],
): Promise<T> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	console.log(`A sandbox with ${contacts.toLocaleString('en')} contacts is being filled.`);
	const server = await startSandbox(folder, 'filled', contacts, further);
	try {
		return await work(server);
	} finally {
		await server.stop();
		rmSync(folder, { recursive: true });
	}
}

let personCount = 0;

/** A contact that does not exist yet. */
export const person = () => ({
	first_name: 'Ana',
	last_name: 'Moreno',
	email: `bench${personCount++}@x.example`,
});
