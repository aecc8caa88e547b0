import { execFileSync, fork, type Serializable, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installN8n } from '../../tools/n8n.mjs';
import type { ServerSettings } from './server.ts';
import { services } from './services.ts';
import type { Subject } from './subjects.ts';
import type { Measured, WorkerOrder, Start } from './worker.ts';

/** A process that answers messages. */
interface Process<Message, Answer> {
	measure(message: Message): Promise<Answer>;
	stop(): Promise<void>;
}

/** A process that loads one subject and measures it. */
export type Worker = Process<WorkerOrder, Measured>;

/** What all measurements share. */
export interface Laboratory {
	/** The version of n8n. */
	n8n: string;
	/** The port of the server at a distance of some round-trip milliseconds. */
	portAt(ms: number): number;
	/** Changes the settings of the server. */
	set(settings: ServerSettings): Promise<void>;
	hire(subject: Subject): Promise<Worker>;
	close(): Promise<void>;
}

/**
 * Starts the server, the distances to it and a certificate for it. The package must be built.
 *
 * @param distances round-trip milliseconds
 */
export async function openLaboratory(distances: number[]): Promise<Laboratory> {
	const n8n = await installN8n();
	const folder = mkdtempSync(join(tmpdir(), 'bench-peers-'));
	// Outside the clone, so that the node finds n8n's packages and not the project's.
	cpSync(resolve('dist'), join(folder, 'dist'), { recursive: true });
	symlinkSync(join(n8n, 'node_modules'), join(folder, 'node_modules'));
	const { certificate, key } = selfSigned(folder);

	const description = join(folder, 'dist', 'contract', 'openapi.json');
	const server = await startProcess([scriptPath('server.ts'), description, certificate, key]);
	const [secure, control] = server.ports as [number, number];
	const far = new Map<number, { ports: number[]; stop(): Promise<void> }>();
	for (const ms of distances.filter((distance) => distance > 0)) {
		far.set(ms, await startProcess([resolve('bench', 'distance.ts'), `http://127.0.0.1:${secure}`, `${ms}`, 'handshakes']));
	}

	const { version } = JSON.parse(
		readFileSync(join(n8n, 'node_modules', 'n8n', 'package.json'), 'utf8'),
	) as { version: string };
	return {
		n8n: version,
		portAt: (ms) => far.get(ms)?.ports[0] ?? secure,
		set: async (settings) => void (await fetch(`http://127.0.0.1:${control}`, { method: 'POST', body: JSON.stringify(settings) })),
		hire: (subject) => hire('worker.ts', { subject, n8n, ours: folder } satisfies Start, folder),
		async close() {
			for (const { stop } of [...far.values(), server]) await stop();
			rmSync(folder, { recursive: true });
		},
	};
}

const scriptPath = (file: string) => resolve('bench', 'peers', file);

/** @returns the ports it says it listens on */
async function startProcess(args: string[]): Promise<{ ports: number[]; stop(): Promise<void> }> {
	const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
	const [line] = (await once(child.stdout, 'data')) as [Buffer];
	return {
		ports: [...line.toString().matchAll(/:(\d+)/g)].map(([, port]) => Number(port)),
		async stop() {
			child.kill();
			await once(child, 'exit');
		},
	};
}

/** Otherwise n8n would send requests through a proxy of this machine's user, and out of the machine. */
const withoutProxies = Object.fromEntries(
	Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)),
);

async function hire<Message extends Serializable, Answer>(
	file: string,
	start: object,
	folder: string,
): Promise<Process<Message, Answer>> {
	const child = fork(scriptPath(file), [JSON.stringify(start)], {
		execArgv: ['--expose-gc'],
		env: {
			...withoutProxies,
			NODE_EXTRA_CA_CERTS: certificateIn(folder),
			N8N_USER_FOLDER: folder,
			N8N_ENCRYPTION_KEY: 'benchmark',
			N8N_LOG_LEVEL: 'silent',
		},
	});
	const receiveMessage = async () => {
		const [message] = (await once(child, 'message')) as [unknown];
		return message;
	};
	await receiveMessage();
	return {
		async measure(message) {
			child.send(message);
			return (await receiveMessage()) as Answer;
		},
		async stop() {
			child.kill();
			await once(child, 'exit');
		},
	};
}

const certificateIn = (folder: string) => join(folder, 'certificate.pem');

/** A certificate for the hosts of all services, which the workers trust. */
function selfSigned(folder: string): { certificate: string; key: string } {
	const [certificate, key] = [certificateIn(folder), join(folder, 'key.pem')];
	const names = services.map(({ host }) => `DNS:${host}`).join(',');
	const args = [
		...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
		...['-days', '2', '-subj', '/CN=bench', '-addext', `subjectAltName=${names}`],
		...['-keyout', key, '-out', certificate],
	];
	execFileSync('openssl', args, { stdio: 'pipe' });
	return { certificate, key };
}
