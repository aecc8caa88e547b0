import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Pair, type Row, rowOf, sideBySide, time } from './measure.ts';
import { person, startSandbox } from './sandbox-server.ts';
import { type ServerProcess, startServer } from './server-process.ts';

const perBatch = 100;
const batchedRecords = 2000;
const perJob = 10_000;
const existingRecords = 1000;
/** Interval of the polls: a small part of the time of the job. */
const pollEveryMs = 50;

/** Creates records, given as JSON texts, on a server. */
type Create = (server: ServerProcess, items: string[]) => Promise<void>;

/**
 * Records created in bulk over HTTP, beside a bare loop over HTTP that does nothing but the same validation,
 * the same inserts and the answer.
 */
export async function benchBulk(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	const server = await startSandbox(folder, 'bulk', existingRecords);
	const loop = [resolve('bench', 'bare-bulk.ts'), join(folder, 'bare.db'), `${existingRecords}`, `${perBatch}`];
	const servers = { ours: server, bare: await startServer(loop) };
	try {
		return [
			await measureRow(servers, `a record of batches of ${perBatch}`, 5, batchedRecords, inBatches),
			await measureRow(servers, `a record of a job of ${perJob}`, 3, perJob, inJob),
		];
	} finally {
		await Promise.all(Object.values(servers).map((serverProcess) => serverProcess.stop()));
		rmSync(folder, { recursive: true });
	}
}

async function measureRow(
	servers: Record<keyof Pair, ServerProcess>,
	label: string,
	rounds: number,
	count: number,
	create: Create,
): Promise<Row> {
	const values = await sideBySide(rounds, async (which) => {
		const items = Array.from({ length: count }, () => JSON.stringify(person()));
		return (1000 * (await time(() => create(servers[which], items)))) / count;
	});
	return { ...rowOf(label, 'µs', values), max: { ratio: 2 } };
}

/** Creates the records in one batch after another. */
const inBatches: Create = async (server, items) => {
	// The server has closed the connections that were idle during the other's turn.
	server.closeConnections();
	for (let i = 0; i < items.length; i += perBatch) {
		const body = `{"items":[${items.slice(i, i + perBatch).join()}]}`;
		await server.call('POST', '/v1/contacts/batch/create', body);
	}
};

/** Creates the records in a job, and waits until it has ended. */
const inJob: Create = async (server, items) => {
	server.closeConnections();
	const path = '/v1/jobs?resource=contacts&operation=create';
	const type = { 'Content-Type': 'application/x-ndjson' };
	const started = await server.call('POST', path, items.join('\n'), type);
	const { id } = JSON.parse(started) as { id: string };
	const job = async () =>
		JSON.parse(await server.call('GET', `/v1/jobs/${id}`)) as { finished_at: string | null };
	while ((await job()).finished_at === null) await sleep(pollEveryMs);
};
