import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pair, percentile, type Row, rowOf, time } from './measure.ts';
import { startSandbox } from './sandbox-server.ts';
import type { ServerProcess } from './server-process.ts';

const contacts = 100_000;
const rounds = 6;
const getsPerRound = 250;

/** Searches that find few, many and no records, by the index for search and without it. */
const searches = {
	'searches words': ['q=moreno', 'q=purchasing%20ana', 'q=nobody-has-this', 'q=example'],
	'searches two letters': ['q=an', 'q=zq'],
	'filters by a custom field': [
		'custom_fields.contract_tier=gold',
		'custom_fields.contract_tier=gold&sort=name',
	],
	'filters without an index': [
		'lead_source=referral',
		'updated_since=2020-01-01T00:00:00Z&sort=name',
	],
};

/**
 * How long one client waits for a single record while another one searches without pause, beside
 * how long it waits alone.
 */
export async function benchLoad(): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), 'bench-'));
	console.log(`A sandbox with ${contacts.toLocaleString('en')} contacts is being filled.`);
	const server = await startSandbox(folder, 'load', contacts);
	try {
		const rows: Row[] = [];
		for (const [what, queries] of Object.entries(searches)) {
			rows.push(...(await besideSearch(server, what, queries)));
		}
		return rows;
	} finally {
		await server.stop();
		rmSync(folder, { recursive: true });
	}
}

async function besideSearch(server: ServerProcess, what: string, queries: string[]): Promise<Row[]> {
	const page = await server.ask('GET', '/v1/contacts?limit=100');
	const ids = (JSON.parse(page) as { data: Array<{ id: string }> }).data.map(({ id }) => id);
	const get = (i: number) => server.ask('GET', `/v1/contacts/${ids[i % ids.length]}`);
	const gets = async () => {
		const times: number[] = [];
		for (let i = 0; i < getsPerRound; i++) times.push(await time(() => get(i)));
		return times;
	};
	const values: Pair = { ours: [], bare: [] };
	let asked = 0;
	// An index for a custom field is made when it is first filtered by.
	for (const query of queries) await server.ask('GET', `/v1/contacts?${query}`);
	for (let round = 0; round < rounds; round++) {
		values.bare.push(...(await gets()));
		let isOver = false;
		const search = async () => {
			for (let i = 0; !isOver; i++) {
				// A search that was not asked before, so that its total is not remembered.
				const begin = new Date(Date.UTC(2000, 0, 1) + asked++).toISOString();
				const query = `${queries[i % queries.length]}&created_at[gt]=${begin}`;
				await server.ask('GET', `/v1/contacts?${query}`);
			}
		};
		const searching = search();
		values.ours.push(...(await gets()));
		isOver = true;
		await searching;
	}
	const row = (share: number) =>
		rowOf(`a get while another client ${what}, p${share * 100}`, 'ms', values, (all) =>
			percentile(all, share),
		);
	return [row(0.5), { ...row(0.99), most: { ratio: 5 } }];
}
