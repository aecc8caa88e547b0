import { execFileSync } from 'node:child_process';
import { chownSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../../../demo/ports.ts';
import { findProgram, postgres } from '../../../support/system-program.ts';
import { newFolder, type Server, startServer } from './server.ts';

/** A superuser without a password: the server accepts connections from this machine only. */
export const databaseUser = 'n8n';

/** With these, a crash of the machine may lose data, but a kill of the server loses nothing that was committed. */
const fastSettings = ['fsync', 'full_page_writes'].flatMap((name) => ['-c', `${name}=off`]);

/** Creates a PostgreSQL cluster and serves it; the database is called `postgres`. */
export async function startPostgres(program: string, log: string): Promise<Server> {
	const folder = newFolder('postgres');
	const identity = unprivileged();
	if (identity) chownSync(folder, identity.uid, identity.gid);
	const initdb = besideServer(program, 'initdb');
	const how = ['--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
	execFileSync(initdb, ['-D', folder, '-U', databaseUser, ...how], { cwd: folder, stdio: 'pipe', ...identity });
	const port = await freePort();
	const place = ['-D', folder, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
	const ready = 'database system is ready to accept connections';
	return await startServer({ program, args: [...place, ...fastSettings], port, folder, log, ready }, identity);
}

/** Another program of the installation. The path of the server may be a link. */
const besideServer = (program: string, other: string): string => join(dirname(realpathSync(program)), other);

/** A command that runs SQL and prints the rows. */
export function psqlCommand(port: number, sql: string): [program: string, args: string[]] {
	const place = ['-h', '127.0.0.1', '-p', String(port), '-U', databaseUser, '-d', 'postgres'];
	return [besideServer(findProgram(postgres)!, 'psql'), [...place, '-qAtX', '-c', sql]];
}

/** PostgreSQL refuses to run as root, so it runs as the user that its packages create. */
function unprivileged(): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
	return { uid: idOf('-u'), gid: idOf('-g') };
}
