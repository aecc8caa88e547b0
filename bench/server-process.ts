import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { resolve } from 'node:path';
import { residentMemory } from './peak-memory.ts';

/** A server that is called over a few kept-alive connections. */
export interface Server {
	/** The address at which it listens, such as `http://127.0.0.1:4010`. */
	url: string;
	/** @returns the body of the response, which must be a success */
	call(method: string, path: string, body?: string, headers?: Record<string, string>): Promise<string>;
	/** Closes the connections. */
	closeConnections(): void;
}

/** A server in a separate process. */
export interface ServerProcess extends Server {
	/** Resident memory, in MB. */
	memory(): number;
	stop(): Promise<void>;
}

/** @param args of Node.js; the server prints its address when it is ready */
export async function startServer(args: string[]): Promise<ServerProcess> {
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
	const [line] = (await once(child.stdout, 'data')) as [Buffer];
	const server = serverAt(/http:\S+/.exec(line.toString())![0]);
	return {
		...server,
		memory: () => residentMemory(child.pid!),
		async stop() {
			server.closeConnections();
			child.kill();
			await once(child, 'exit');
		},
	};
}

/** Starts a network distance to a server. */
export const startDistance = async (url: string, roundTripMs: number): Promise<ServerProcess> =>
	await startServer([resolve('bench', 'distance.ts'), url, `${roundTripMs}`]);

/** A server that is already running. @param protocol with https, the module `node:https` */
export function serverAt(url: string, { Agent, request }: Pick<typeof http, 'Agent' | 'request'> = http): Server {
	const agent = new Agent({ keepAlive: true });
	return {
		url,
		call: (method, path, body, more = {}) =>
			new Promise((resolve, reject) => {
				const headers = {
					Authorization: 'Bearer KEY',
					...(body !== undefined && {
						'Content-Type': 'application/json',
						'Content-Length': Buffer.byteLength(body),
					}),
					...more,
				};
				const outgoing = request(url + path, { method, headers, agent }, (response) => {
					const chunks: Buffer[] = [];
					response.on('data', (chunk: Buffer) => chunks.push(chunk));
					response.on('end', () => {
						const text = Buffer.concat(chunks).toString();
						if (response.statusCode! < 300) return resolve(text);
						reject(new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`));
					});
				});
				outgoing.on('error', reject);
				outgoing.end(body);
			}),
		closeConnections: () => agent.destroy(),
	};
}
