import { execFileSync } from 'node:child_process';
import { chownSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../../demo/ports.ts';
import { newFolder, type Server, startServer } from './server.ts';

/** Who may do everything in it, without a password: it is reached from this machine only. */
export const DATABASE_USER = 'n8n';

/** What a crash of the machine would lose may be lost, but nothing that was committed when the server is killed. */
const FAST = ['fsync', 'full_page_writes'].flatMap((name) => [
	'-c',
	`${name}=off`,
]);

/** Creates a PostgreSQL cluster and serves it; the database is called `postgres`. */
export async function startPostgres(program: string, log: string): Promise<Server> {
	const folder = newFolder('postgres');
	const identity = unprivileged();
	if (identity) chownSync(folder, identity.uid, identity.gid);
	// Where it is, and not where a link to it is.
	const initdb = join(dirname(realpathSync(program)), 'initdb');
	const how = ['--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
	execFileSync(initdb, ['-D', folder, '-U', DATABASE_USER, ...how], {
		cwd: folder,
		stdio: 'pipe',
		...identity,
	});
	const port = await freePort();
	const place = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
	const ready = 'database system is ready to accept connections';
	return await startServer({ program, args: [...place, ...FAST], port, folder, log, ready }, identity);
}

/** PostgreSQL refuses to run as root; the user its packages create is there for it. */
function unprivileged(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
	return { uid: idOf('-u'), gid: idOf('-g') };
}
