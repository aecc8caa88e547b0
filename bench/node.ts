import { buildConnector } from './connector.ts';
import type { Row } from './measure.ts';
import { larger, readMemory, reads, readsFar } from './node-reading.ts';
import { mappings, writes, writesFar } from './node-writing.ts';
import { startSandbox } from './sandbox-server.ts';
import { type ServerProcess, startDistance } from './server-process.ts';

const contacts = 100_000;
/** Round-trip milliseconds, in the rows that say so. */
const distance = 50;

/** The node beside a loop that does the same over kept-alive connections, with the same sandbox. */
export async function benchNode(): Promise<Row[]> {
	await buildConnector();
	console.log(`Sandboxes with ${contacts} and ${2 * contacts} contacts are filled; it takes minutes.`);
	return [
		...(await withServer(startSandbox(contacts, '--faults'), (near) =>
			withServer(startDistance(near.url, distance), async (far) => [
				...(await readMemory(near, contacts)),
				...(await reads(near, contacts)),
				...at(distance, await readsFar(far, contacts)),
				...(await writes(near)),
				...at(distance, await writesFar(far)),
				...(await mappings(near)),
			]),
		)),
		...(await withServer(startSandbox(2 * contacts, '--faults'), (near) => larger(near, 2 * contacts))),
	];
}

const at = (ms: number, rows: Row[]): Row[] =>
	rows.map((row) => ({ ...row, label: `${row.label}, at ${ms} ms` }));

async function withServer(starting: Promise<ServerProcess>, work: (server: ServerProcess) => Promise<Row[]>): Promise<Row[]> {
	const server = await starting;
	try {
		return await work(server);
	} finally {
		await server.stop();
	}
}
