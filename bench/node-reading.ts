import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { bareContacts } from './bare-loop.ts';
import { connectorTo, type Reading } from './connector.ts';
import { type Row, rowOf, sideBySide, time } from './measure.ts';
import type { MemoryGrowth, MemoryTask } from './memory.ts';
import type { Server } from './server-process.ts';

const simplified: Reading = {};
const raw: Reading = { simplify: false };
const byOne = (reading: Reading): Reading => ({ ...reading, options: { parallelReads: 1 } });

/** The memory of the records that were read. */
export async function readMemory(sandbox: Server, count: number): Promise<Row[]> {
	return [...(await memoryGrowth(sandbox, simplified, count)), ...(await memoryGrowth(sandbox, raw, count))];
}

/** How long it takes to read all records. */
export async function reads(sandbox: Server, count: number): Promise<Row[]> {
	return [
		await reading(sandbox, byOne(raw), count),
		await reading(sandbox, byOne(simplified), count),
		await reading(sandbox, simplified, count),
	];
}

/** How long it takes to read all records from a distant service. */
export async function readsFar(sandbox: Server, count: number): Promise<Row[]> {
	return [
		await reading(sandbox, byOne(simplified), count),
		await reading(sandbox, simplified, count),
	];
}

async function reading(sandbox: Server, readOptions: Reading, count: number): Promise<Row> {
	const connector = connectorTo(sandbox.url);
	const query = await firstQuery(sandbox, readOptions);
	const values = await sideBySide(3, (which) =>
		time(async () => {
			const read = which === 'ours' ? connector.contacts(readOptions) : bareContacts(sandbox, query);
			assertComplete((await read).length, count);
		}),
	);
	return rowOf(`${records(count, readOptions)}, ${readOptions.options ? 'one cursor' : 'several cursors'}`, 'ms', values);
}

const records = (count: number, { simplify = true }: Reading) =>
	`${count.toLocaleString('en')} records, ${simplify ? 'simplified' : 'raw'}`;

/** Measured in separate processes, since a process keeps memory that it may use again. */
async function memoryGrowth(sandbox: Server, reading: Reading, count: number): Promise<[Row, Row]> {
	const run = (task: MemoryTask) => {
		const args = ['--expose-gc', resolve('bench', 'memory.ts'), JSON.stringify(task)];
		// The sandbox may close idle connections while this process is blocked and cannot notice.
		sandbox.closeConnections();
		const result = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as MemoryGrowth;
		assertComplete(result.count, count);
		return result;
	};
	const { url } = sandbox;
	const label = records(count, reading);
	const ours = run({ url, reading });
	const bare = run({ url, reading, query: await firstQuery(sandbox, reading) });
	return [
		{
			label: `${label}, heap and external`,
			unit: 'MB',
			ours: ours.retained,
			bare: bare.retained
		},
		{ label: `${label}, resident`, unit: 'MB', ours: ours.resident, bare: bare.resident },
	];
}

/** The node's first query, which the bare loop uses, too. */
async function firstQuery(sandbox: Server, reading: Reading): Promise<string> {
	await connectorTo(sandbox.url).contacts({ ...reading, options: { onePage: true } });
	const log = JSON.parse(await sandbox.call('GET', '/_sandbox/requests')) as Array<{ path: string; query: string }>;
	// The names of linked records are looked up after it.
	return log.findLast(({ path }) => path === '/v1/contacts')!.query;
}

/** @throws if some are missing, as the measurement is then void */
function assertComplete(actual: number, expected: number): void {
	if (actual !== expected) throw new Error(`${actual} of ${expected} records came.`);
}
