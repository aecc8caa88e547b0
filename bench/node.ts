import { buildConnector } from './connector.ts';
import type { Row } from './measure.ts';
import { readMemory, reads, readsFar } from './node-reading.ts';
import { mappings, writes, writesFar } from './node-writing.ts';
import { startSandbox } from './sandbox-server.ts';
import { type ServerProcess, startDistance } from './server-process.ts';

/** Round-trip milliseconds, in the rows that say so. */
const distance = 50;

/**
 * The node beside a loop that does the same over kept-alive connections, with the same sandbox.
 *
 * @param contacts records that are read; a tenth of them is created
 */
export async function benchNode(contacts = 100_000): Promise<Row[]> {
	await buildConnector();
	// The server with nothing behind it responds to a batch of a hundred.
	const creates = Math.max(100, contacts / 10);
	console.log(`A sandbox with ${contacts} contacts is filled.`);
	return await withServer(startSandbox(contacts, '--faults'), (near) =>
		withServer(startDistance(near.url, distance), async (far) => [
			...(await readMemory(near, contacts)),
			...(await reads(near, contacts)),
			...at(distance, await readsFar(far, contacts)),
			...(await writes(near, creates)),
			...at(distance, await writesFar(far, creates)),
			...(await mappings(near, creates)),
		]),
	);
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
