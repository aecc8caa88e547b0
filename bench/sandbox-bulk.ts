import { join, resolve } from 'node:path';
import { type Pair, type Row, rowOf, sideBySide, time } from './measure.ts';
import { runJob } from './run-job.ts';
import { person, withSandbox } from './sandbox-server.ts';
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
 * the same inserts and the response.
 */
export async function benchBulk(): Promise<Row[]> {
	return await withSandbox(existingRecords, async (ours, folder) => {
		const bare = await startServer([resolve('bench', 'bare-bulk.ts'), join(folder, 'bare.db'), `${existingRecords}`, `${perBatch}`]);
		try {
			return [
				await measureRow({ ours, bare }, `a record of batches of ${perBatch}`, 5, batchedRecords, createInBatches),
				await measureRow({ ours, bare }, `a record of a job of ${perJob}`, 3, perJob, inJob),
			];
		} finally {
			await bare.stop();
		}
	});
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
const createInBatches: Create = async (server, items) => {
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
	await runJob(server, 'resource=contacts&operation=create', { lines: items.join('\n'), pollMs: pollEveryMs });
};
