import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import type { IDataObject } from 'n8n-workflow';

import { freePort } from '../../../demo/ports.ts';
import { type Killable, startKillable } from '../../sandbox/harness/killable-sandbox.ts';
import { until } from '../../support/until.ts';
import { outputOf, startImport } from './killable-node.ts';

/** Two jobs. */
const rows = 6_000;

let folder: string;
let sandbox: Killable;
let url: string;

beforeAll(async () => {
	folder = mkdtempSync(join(tmpdir(), 'import-kills-'));
	const port = await freePort();
	url = `http://127.0.0.1:${port}`;
	sandbox = startKillable(join(folder, 'sandbox.db'), { port });
	const people = Array.from({ length: rows }, (_, i) => `Person ${i},p${i % 7}\n`);
	writeFileSync(join(folder, 'people.csv'), `last_name,job_title\n${people.join('')}`);
});

afterAll(async () => {
	await sandbox.close();
	rmSync(folder, { recursive: true });
});

/** @param executionId a new one for each start, as in n8n */
function importPeople(executionId: string): ChildProcess {
	const csv = join(folder, 'people.csv');
	const options = { writeOncePer: 'people.csv of Sunday' };
	return startImport({ credential: { baseUrl: url, apiKey: 'KEY' }, csv, folder, executionId, options });
}

/** @returns the output; undefined if the import fails */
async function importToItsEnd(
	executionId: string,
	meanwhile: (process: ChildProcess) => Promise<void> = async () => {},
): Promise<string | undefined> {
	const process = importPeople(executionId);
	const [output] = await Promise.all([outputOf(process), meanwhile(process)]);
	return output;
}

const contacts = async (): Promise<number> => (await sandbox.send('GET', '/v1/contacts?limit=1', undefined)).body.total;

/** Waits until that process has written this many contacts. */
async function waitForContacts(count: number, by: ChildProcess): Promise<void> {
	await until(async () => {
		if (by.exitCode !== null) throw new Error('The import has ended too early.');
		return (await contacts()) >= count;
	});
}

/** Names need not be unique, so the service itself does not notice a duplicate. */
test('an import whose service and n8n are killed continues when it is run again: every row once, none missing', async () => {
	const first = importPeople('1');
	await waitForContacts(500, first);
	first.kill('SIGKILL');
	await once(first, 'exit');
	expect(first.signalCode).toBe('SIGKILL');

	const second = await importToItsEnd('2', async (process) => {
		await waitForContacts(3_000, process);
		await sandbox.kill();
	});
	// On a slow machine, the service may be away for longer than the node waits for it.
	const output = second ?? (await importToItsEnd('3'));
	const result = JSON.parse(output!) as { json: IDataObject; done: string };
	expect(result.json).toMatchObject({ rows, done: rows, created: rows, failed: 0 });
	const done: Array<Record<string, string>> = parse(result.done, { columns: true, bom: true });
	expect(done.map((row) => row.last_name)).toEqual(Array.from({ length: rows }, (_, i) => `Person ${i}`));
	expect(new Set(done.map((row) => row.import_id)).size).toBe(rows);
	expect(await contacts()).toBe(rows);
});
