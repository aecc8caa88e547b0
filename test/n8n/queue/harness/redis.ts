import { freePort } from '../../../../demo/ports.ts';
import { newFolder, type Server, startServer } from './server.ts';

/** Starts a Redis that keeps nothing on disk. */
export async function startRedis(program: string, log: string): Promise<Server> {
	const port = await freePort();
	const place = ['--port', String(port), '--bind', '127.0.0.1'];
	const args = [...place, '--save', '', '--appendonly', 'no'];
	const ready = 'Ready to accept connections';
	return await startServer({ program, args, port, folder: newFolder('redis'), log, ready });
}
