import { resolve } from 'node:path';
import { buildConnector } from './connector.ts';
import type { Row } from './measure.ts';
import { larger, memory, reads } from './node-reading.ts';
import { mappings, writes } from './node-writing.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const contacts = 100_000;
/** Milliseconds before the service begins with a request, in the rows that say so. */
const distance = 50;

/** The node beside a loop that does the same over kept connections, with the same sandbox. */
export async function benchNode(): Promise<Row[]> {
	await buildConnector();
	console.log(`Sandboxes with ${contacts} and ${2 * contacts} contacts are filled; it takes minutes.`);
	return [
		...(await withSandbox(contacts, async (sandbox) => [
			...(await memory(sandbox, contacts)),
			...(await reads(sandbox, contacts, later(sandbox))),
			...(await writes(sandbox, later(sandbox))),
			...(await mappings(sandbox)),
		])),
		...(await withSandbox(2 * contacts, (sandbox) => larger(sandbox, 2 * contacts))),
	];
}

/** Does something with the service so far away, and says so. */
export type Later = <T>(work: (where: string) => Promise<T>) => Promise<T>;

const later =
	(sandbox: ServerProcess): Later =>
	async (work) => {
		const faults = (list: object[]) => sandbox.ask('PUT', '/_sandbox/faults', JSON.stringify(list));
		await faults([{ latencyMs: distance }]);
		try {
			return await work(`, at ${distance} ms`);
		} finally {
			await faults([]);
		}
	};

async function withSandbox(
	count: number,
	work: (sandbox: ServerProcess) => Promise<Row[]>,
): Promise<Row[]> {
	const options = `--port 0 --api-key KEY --requests-per-minute 1000000 --contacts ${count} --faults`;
	const sandbox = await startServer([resolve('sandbox', 'main.ts'), ...options.split(' ')]);
	try {
		return await work(sandbox);
	} finally {
		await sandbox.stop();
	}
}
