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

let personCount = 0;

/** A contact that does not exist yet. */
export const person = () => ({
	first_name: 'Ana',
	last_name: 'Moreno',
	email: `bench${personCount++}@x.example`,
});
