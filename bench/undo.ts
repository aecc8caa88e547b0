import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { sendBatches } from './bare-loop.ts';
import { readFormerValues, type FormerValues } from './bare-undo.ts';
import { buildConnector, connectorTo, instanceId } from './connector.ts';
import { type Row, rowOf, sideBySide, time } from './measure.ts';
import { runJob } from './run-job.ts';
import { startSandbox } from './sandbox-server.ts';
import { type Server, startDistance } from './server-process.ts';
import type { UndoTask } from './undo-process.ts';

/** How often each contact is changed. */
const rounds = 2;
/** Round-trip milliseconds. */
const distance = 50;
/** MB. */
const heapLimit = 350;

/** The undo of a wrong import, beside a loop that knows the former values and writes them. */
export async function benchUndo(contacts = 50_000): Promise<Row[]> {
	await buildConnector();
	console.log(`A sandbox with ${contacts} contacts is filled; it takes a minute.`);
	const near = await startSandbox(contacts);
	const far = await startDistance(near.url, distance);
	try {
		const before = await readFormerValues(near);
		return [await all(near, far, before), await memory(near, before)];
	} finally {
		await far.stop();
		await near.stop();
	}
}

let executions = 0;

/** An execution that changes all contacts. @returns its number, and when it began */
async function wrongImport(server: Server, before: FormerValues[]): Promise<{ execution: string; since: string }> {
	const execution = `${++executions}`;
	const since = new Date().toISOString();
	for (let round = 1; round <= rounds; round++) {
		const items = before.map(({ id }, i) => ({ id, job_title: `Position ${i} ${round}`, lead_source: round % 2 ? 'advertising' : 'event' }));
		await updateInJob(server, items, `n8n/${hash(instanceId()).slice(0, 8)}/w/${execution}/${hash(`${execution} ${round}`)}`);
	}
	return { execution, since };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Up to 100,000 records in one job, which is faster than batches. */
async function updateInJob(server: Server, items: object[], key: string): Promise<void> {
	const lines = items.map((item) => JSON.stringify(item)).join('\n');
	await runJob(server, 'resource=contacts&operation=update', { lines, headers: { 'Idempotency-Key': key }, pollMs: 200 });
}

async function expectUndone(server: Server, before: FormerValues[]): Promise<void> {
	const after = await readFormerValues(server);
	if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error('Not all contacts are as they were.');
}

async function all(near: Server, far: Server, before: FormerValues[]): Promise<Row> {
	const measureTime = async (which: 'ours' | 'bare'): Promise<number> => {
		const { execution, since } = await wrongImport(near, before);
		const milliseconds = await time(async () => {
			if (which === 'ours') await connectorTo(far.url).undo(execution, since);
			else await sendBatches(far, '/v1/contacts/batch/update', before);
		});
		await expectUndone(near, before);
		return milliseconds;
	};
	const label = `${(before.length * rounds).toLocaleString('en')} changes of ${before.length.toLocaleString('en')} contacts, at ${distance} ms`;
	return rowOf(label, 'ms', await sideBySide(3, measureTime));
}

/** The peak growth of a process with a small heap during the undo. */
async function memory(near: Server, before: FormerValues[]): Promise<Row> {
	const memoryGrowth = async (which: 'ours' | 'bare'): Promise<number> => {
		const task: UndoTask = { url: near.url, which, before, ...(await wrongImport(near, before)) };
		const args = ['--expose-gc', `--max-old-space-size=${heapLimit}`, resolve('bench', 'undo-process.ts')];
		// The sandbox may close idle connections while this process is blocked and cannot notice.
		near.closeConnections();
		const megabytes = Number(execFileSync(process.execPath, args, { input: JSON.stringify(task), encoding: 'utf8' }));
		await expectUndone(near, before);
		return megabytes;
	};
	return { label: `memory, the same, with ${heapLimit} MB of heap`, unit: 'MB', ours: await memoryGrowth('ours'), bare: await memoryGrowth('bare') };
}
