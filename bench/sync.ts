import { resolve } from 'node:path';
import { bareContacts } from './bare-loop.ts';
import { compareDatasets, ourComparison, timeOf } from './compare-datasets.ts';
import { buildConnector, connectorTo } from './connector.ts';
import { type Row, rowOf, sideBySide, time } from './measure.ts';
import { type Server, startServer } from './server-process.ts';

const contacts = 100_000;
/** Milliseconds there and back. */
const distance = 50;
const compared = ['external_id', 'last_name', 'job_title', 'lead_source'] as const;

interface Person {
	id: string;
	external_id: string | null;
	last_name: string | null;
	job_title: string | null;
	lead_source: string | null;
}

/** CRM Platform Sync beside a loop that reads all contacts, compares them and writes what differs. */
export async function benchSync(): Promise<Row[]> {
	await buildConnector();
	console.log(`A sandbox with ${contacts} contacts is filled; it takes a minute.`);
	const options = `--port 0 --api-key KEY --requests-per-minute 1000000 --contacts ${contacts} --faults`;
	const near = await startServer([resolve('sandbox', 'main.ts'), ...options.split(' ')]);
	const far = await startServer([resolve('bench', 'distance.ts'), near.url, `${distance}`]);
	try {
		await number(near);
		const source = await people(near);
		// In this order: n8n is loaded first, and what one measure has grown the process by, the next does not.
		const requests = await ten(near, source);
		const grown = await memory(near, source);
		return [await all(far, source), ...(await comparisons(source)), grown, requests];
	} finally {
		await far.stop();
		await near.stop();
	}
}

/** Gives every contact an external id, which the seed leaves out for some. */
async function number(server: Server): Promise<void> {
	const unnumbered = (await people(server)).filter(({ external_id: id }) => id === null);
	await update(server, unnumbered.map(({ id }) => ({ id, external_id: `bench-${id}` })));
}

const people = async (server: Server) =>
	(await bareContacts(server, `limit=500&fields=${compared.join(',')}`)) as Person[];

let rounds = 0;

/** The source, with one percent of the people in another position than before. */
function changed(source: Person[]): Person[] {
	const title = `Position ${++rounds}`;
	return source.map((person, i) => (i % 100 === 0 ? { ...person, job_title: title } : person));
}

const itemsOf = (source: Person[]) => source.map(({ id: _, ...values }) => ({ ...values }));

async function all(server: Server, source: Person[]): Promise<Row> {
	const pair = await sideBySide(2, async (which) => {
		const now = changed(source);
		const items = itemsOf(now);
		return await time(async () => {
			const count = which === 'ours' ? (await connectorTo(server.url).sync(items, {}))[1] : await bare(server, now);
			if (count !== contacts / 100) throw new Error(`${count} contacts were updated.`);
		});
	});
	const what = `${contacts.toLocaleString('en')} with ${contacts.toLocaleString('en')}, 1 % different, at ${distance} ms`;
	return { ...rowOf(what, 'ms', pair), most: { ratio: 1.5 } };
}

/** Reads with one cursor, compares by a hash of the key, and writes the differences. */
async function bare(server: Server, source: Person[]): Promise<number> {
	const stored = new Map((await people(server)).map((person) => [person.external_id, person]));
	const updates = source.flatMap((person) => {
		const before = stored.get(person.external_id);
		const names = compared.filter((name) => before && before[name] !== person[name]);
		return before && names.length > 0
			? [{ id: before.id, ...Object.fromEntries(names.map((name) => [name, person[name]])) }]
			: [];
	});
	await update(server, updates);
	return updates.length;
}

async function update(server: Server, items: object[]): Promise<void> {
	for (let from = 0; from < items.length; from += 100) {
		const body = JSON.stringify({ items: items.slice(from, from + 100) });
		await server.ask('POST', '/v1/contacts/batch/update', body);
	}
}

/** Records that Compare Datasets compares within a minute: it looks through the list for each of them. */
const few = 20_000;

/** The comparison alone, beside n8n's node for it. */
async function comparisons(source: Person[]): Promise<Row[]> {
	const theirs = await compareDatasets('external_id');
	const ours = ourComparison('external_id', compared);
	const timed = async (compare: typeof ours, count: number) => {
		const stored = source.slice(0, count);
		return await timeOf(compare, itemsOf(changed(stored)), itemsOf(stored), count / 100);
	};
	await timed(ours, few);
	const bare = await timed(theirs, few);
	const row = (count: number) => `comparing ${count.toLocaleString('en')} with as many, beside Compare Datasets`;
	const many = (contacts / few) ** 2;
	return [
		{ what: row(few), unit: 'ms', ours: await timed(ours, few), bare },
		{ what: `${row(contacts)} (extrapolated)`, unit: 'ms', ours: await timed(ours, contacts), bare: bare * many },
	];
}

/** By how much the process grows while the node runs, at its highest. */
async function memory(server: Server, source: Person[]): Promise<Row> {
	const measure = async (work: () => Promise<unknown>) => {
		globalThis.gc?.();
		const before = process.memoryUsage.rss();
		let highest = before;
		const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 50);
		await work();
		clearInterval(watch);
		return Math.max(highest, process.memoryUsage.rss()) - before;
	};
	const now = changed(source);
	const items = itemsOf(now);
	const ours = (await measure(async () => await connectorTo(server.url).sync(items, {}))) / 1e6;
	const loop = (await measure(async () => await bare(server, changed(source)))) / 1e6;
	return { what: 'memory, the same', unit: 'MB', ours, bare: loop, most: { value: 250 } };
}

/** How many requests it takes to bring ten people in step. */
async function ten(server: Server, source: Person[]): Promise<Row> {
	const some = itemsOf(source.slice(0, 10)).map((person) => ({ ...person, job_title: 'One of ten' }));
	await server.ask('DELETE', '/_sandbox/requests');
	await connectorTo(server.url).sync(some, {});
	const asked = JSON.parse(await server.ask('GET', '/_sandbox/requests')) as unknown[];
	const ours = asked.length;
	return { what: 'requests for 10 of 100,000', unit: 'requests', ours, bare: 11, most: { value: 20 } };
}
