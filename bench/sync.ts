import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { bareSync, compared, itemsOf, type SyncedPerson, readPeople, update } from './bare-sync.ts';
import { compareDatasets, ourComparison, timeOf } from './compare-datasets.ts';
import { buildConnector, connectorTo } from './connector.ts';
import { type Row, rowOf, sideBySide, time } from './measure.ts';
import { startSandbox } from './sandbox-server.ts';
import { type Server, startDistance } from './server-process.ts';
import type { SyncTask } from './sync-process.ts';

const contacts = 100_000;
/** Round-trip milliseconds. */
const distance = 50;

/** CRM Platform Sync beside a loop that reads all contacts, compares them and writes what differs. */
export async function benchSync(): Promise<Row[]> {
	await buildConnector();
	console.log(`A sandbox with ${contacts} contacts is filled; it takes a minute.`);
	const near = await startSandbox(contacts, '--faults');
	const far = await startDistance(near.url, distance);
	try {
		await number(near);
		const source = await readPeople(near);
		return [await all(far, source), ...(await comparisons(source)), memory(near, source), await requestsForTen(near, source)];
	} finally {
		await far.stop();
		await near.stop();
	}
}

/** Gives every contact an external id, which the seed leaves out for some. */
async function number(server: Server): Promise<void> {
	const unnumbered = (await readPeople(server)).filter(({ external_id: id }) => id === null);
	await update(server, unnumbered.map(({ id }) => ({ id, external_id: `bench-${id}` })));
}

let rounds = 0;

/** The source, in which one percent of the people have a new position. */
function changed(source: SyncedPerson[]): SyncedPerson[] {
	const title = `Position ${++rounds}`;
	return source.map((person, i) => (i % 100 === 0 ? { ...person, job_title: title } : person));
}

async function all(server: Server, source: SyncedPerson[]): Promise<Row> {
	const pair = await sideBySide(2, async (which) => {
		const now = changed(source);
		const items = itemsOf(now);
		return await time(async () => {
			const count = which === 'ours' ? (await connectorTo(server.url).sync(items, {}))[1] : await bareSync(server, now);
			if (count !== contacts / 100) throw new Error(`${count} contacts were updated.`);
		});
	});
	const label = `${contacts.toLocaleString('en')} with ${contacts.toLocaleString('en')}, 1 % different, at ${distance} ms`;
	return { ...rowOf(label, 'ms', pair), max: { ratio: 1.5 } };
}

/** Records that Compare Datasets compares within a minute, as it searches the list for each of them. */
const smallCount = 20_000;

/** The comparison alone, beside n8n's node for it. */
async function comparisons(source: SyncedPerson[]): Promise<Row[]> {
	const theirs = await compareDatasets('external_id');
	const ours = ourComparison('external_id', compared);
	const timed = async (compare: typeof ours, count: number) => {
		const stored = source.slice(0, count);
		return await timeOf(compare, itemsOf(changed(stored)), itemsOf(stored), count / 100);
	};
	await timed(ours, smallCount);
	const bare = await timed(theirs, smallCount);
	const row = (count: number) => `comparing ${count.toLocaleString('en')} with as many, beside Compare Datasets`;
	const scaleFactor = (contacts / smallCount) ** 2;
	return [
		{ label: row(smallCount), unit: 'ms', ours: await timed(ours, smallCount), bare },
		{ label: `${row(contacts)} (extrapolated)`, unit: 'ms', ours: await timed(ours, contacts), bare: bare * scaleFactor },
	];
}

/** The peak growth of a process during the sync. */
function memory(server: Server, source: SyncedPerson[]): Row {
	const memoryGrowth = (which: SyncTask['which']): number => {
		const task: SyncTask = { url: server.url, which, source: changed(source) };
		const args = ['--expose-gc', resolve('bench', 'sync-process.ts')];
		return Number(execFileSync(process.execPath, args, { input: JSON.stringify(task), encoding: 'utf8' }));
	};
	return { label: 'memory, the same', unit: 'MB', ours: memoryGrowth('ours'), bare: memoryGrowth('bare'), max: { value: 250 } };
}

/** The number of requests for syncing ten people. */
async function requestsForTen(server: Server, source: SyncedPerson[]): Promise<Row> {
	const items = itemsOf(source.slice(0, 10)).map((person) => ({ ...person, job_title: 'One of ten' }));
	await server.call('DELETE', '/_sandbox/requests');
	await connectorTo(server.url).sync(items, {});
	const requests = JSON.parse(await server.call('GET', '/_sandbox/requests')) as unknown[];
	const ours = requests.length;
	return { label: 'requests for 10 of 100,000', unit: 'requests', ours, bare: 11, max: { value: 20 } };
}
