import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beside } from './beside.ts';
import type { Row } from './measure.ts';
import { startSandbox } from './sandbox-server.ts';
import type { ServerProcess } from './server-process.ts';

const contacts = 100_000;

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
			const search = ({ ask }: ServerProcess, i: number) => {
				// A search that was not asked before, so that its total is not remembered.
				const begin = new Date(Date.UTC(2000, 0, 1) + i).toISOString();
				return ask('GET', `/v1/contacts?${queries[Math.abs(i) % queries.length]}&created_at[gt]=${begin}`);
			};
			rows.push(...(await beside(server, what, search)));
		}
		return rows;
	} finally {
		await server.stop();
		rmSync(folder, { recursive: true });
	}
}
