import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { bareSync, itemsOf, type SyncedPerson, readPeople, update } from './bare-sync.ts';
import { buildConnector, connectorTo } from './connector.ts';
import { type Row, rowOf, sideBySide, time } from './measure.ts';
import { startSandbox } from './sandbox-server.ts';
import { type Server, startDistance } from './server-process.ts';
import type { SyncTask } from './sync-process.ts';

/** Round-trip milliseconds. */
const distance = 50;

/** CRM Platform Sync beside a loop that reads all contacts, compares them and writes what differs. */
export async function benchSync(contacts = 100_000): Promise<Row[]> {
	await buildConnector();
	console.log(`A sandbox with ${contacts} contacts is filled.`);
	const near = await startSandbox(contacts, '--faults');
	const far = await startDistance(near.url, distance);
	try {
		await number(near);
		const source = await readPeople(near);
		return [await all(far, source), memory(near, source), await requestsForTen(near, source)];
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
			if (count !== Math.ceil(source.length / 100)) throw new Error(`${count} contacts were updated.`);
		});
	});
	const contacts = source.length.toLocaleString('en');
	const label = `${contacts} with ${contacts}, 1 % different, at ${distance} ms`;
	return rowOf(label, 'ms', pair);
}

/** The peak growth of a process during the sync. */
function memory(server: Server, source: SyncedPerson[]): Row {
	const memoryGrowth = (which: SyncTask['which']): number => {
		const task: SyncTask = { url: server.url, which, source: changed(source) };
		const args = ['--expose-gc', resolve('bench', 'sync-process.ts')];
		// The sandbox may close idle connections while this process is blocked and cannot notice.
		server.closeConnections();
		return Number(execFileSync(process.execPath, args, { input: JSON.stringify(task), encoding: 'utf8' }));
	};
	return { label: 'memory, the same', unit: 'MB', ours: memoryGrowth('ours'), bare: memoryGrowth('bare') };
}

/** The number of requests for syncing ten people. */
async function requestsForTen(server: Server, source: SyncedPerson[]): Promise<Row> {
	const items = itemsOf(source.slice(0, 10)).map((person) => ({ ...person, job_title: 'One of ten' }));
	await server.call('DELETE', '/_sandbox/requests');
	await connectorTo(server.url).sync(items, {});
	const requests = JSON.parse(await server.call('GET', '/_sandbox/requests')) as unknown[];
	const ours = requests.length;
	return { label: `requests for 10 of ${source.length.toLocaleString('en')}`, unit: 'requests', ours, bare: 11 };
}
