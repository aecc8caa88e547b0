import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';

/** A server in a process of its own, which is asked over a few kept connections. */
export interface ServerProcess {
	/** @returns the body of the answer, which has to be a good one */
	ask(method: string, path: string, body?: string): Promise<string>;
	/** Resident memory, in MB. */
	memory(): number;
	stop(): Promise<void>;
}

/** @param args of Node.js; the server prints its address when it is ready */
export async function startServer(args: string[]): Promise<ServerProcess> {
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
	const [line] = (await once(child.stdout, 'data')) as [Buffer];
	const url = /http:\S+/.exec(line.toString())![0];
	const agent = new Agent({ keepAlive: true });

	return {
		ask: (method, path, body) =>
			new Promise((resolve, reject) => {
				const headers = {
					Authorization: 'Bearer KEY',
					...(body !== undefined && {
						'Content-Type': 'application/json',
						'Content-Length': Buffer.byteLength(body),
					}),
				};
				const asking = request(url + path, { method, headers, agent }, (response) => {
					const chunks: Buffer[] = [];
					response.on('data', (chunk: Buffer) => chunks.push(chunk));
					response.on('end', () => {
						const text = Buffer.concat(chunks).toString();
						if (response.statusCode! < 300) return resolve(text);
						reject(new Error(`${method} ${path} was answered with ${response.statusCode}: ${text}`));
					});
				});
				asking.on('error', reject);
				asking.end(body);
			}),
		memory: () => {
			const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', `${child.pid}`], { encoding: 'utf8' });
			return (Number(kilobytes) * 1024) / 1e6;
		},
		async stop() {
			agent.destroy();
			child.kill();
			await once(child, 'exit');
		},
	};
}
