import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Store } from '../../sandbox/store/store.ts';
import { inProcess, type Json } from './in-process.ts';
import { ended, linesOf, ndjson, people, startJob } from './job-client.ts';

const main = join(__dirname, '../../sandbox/main.ts');

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sandbox-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test('five jobs run at a time, in turn; the others wait and come later', async () => {
	const sandbox = inProcess();
	const started: Json[] = [];
	for (let i = 0; i < 7; i++) {
		const operation = 'upsert&match_on=external_id';
		started.push((await startJob(sandbox, operation, people(1000))).body);
	}
	const count = async (status: string) =>
		(await sandbox.get(`/v1/jobs?status=${status}`)).body.total as number;
	let most = 0;
	while ((await count('completed')) < 7) {
		most = Math.max(most, await count('processing'));
		await new Promise((resolve) => setImmediate(resolve));
	}
	expect(most).toBe(5);
	const { body } = await sandbox.get('/v1/jobs?sort=id');
	expect(body.data.map(({ id }: Json) => id)).toEqual(started.map(({ id }) => id));
	const [first, , , , , sixth] = body.data;
	expect(sixth.started_at >= first.finished_at).toBe(true);
	expect(await sandbox.all('/v1/contacts?limit=500')).toHaveLength(1000);
});

test('a fault of the service ends the job; what was done before has its results', async () => {
	const sandbox = inProcess();
	const table = sandbox.store.table('contacts')!;
	const save = table.save.bind(table);
	jest.spyOn(table, 'save').mockImplementation((record) => {
		if (record['external_id'] === '60') throw new Error('The disk is full');
		save(record);
	});
	const log = jest.spyOn(console, 'error').mockImplementation();
	const { body } = await startJob(sandbox, 'create', people(100));
	const job = await ended(sandbox, body.id);
	log.mockRestore();
	expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('fault') });
	const { body: results } = await sandbox.get(`/v1/jobs/${job.id}/results`);
	expect(results).toHaveLength(job.processed);
	expect(await sandbox.all('/v1/contacts?limit=500')).toHaveLength(job.processed);
	expect(sandbox.store.jobItems.last(job.id)).toBeUndefined();
});

test('what was received for a job that never came to be is dropped at the next start', () => {
	const store = new Store(join(folder, 'sandbox.db'));
	store.jobItems.add('job_0', { position: 0, text: '{}' });
	inProcess({ store });
	expect(store.jobItems.last('job_0')).toBeUndefined();
	store.close();
});

/** A sandbox in a process of its own, on the database of the test. */
async function serve() {
	const args = ['--port', '0', '--contacts', '0', '--api-key', 'KEY', '--plan', 'enterprise'];
	const child = spawn(process.execPath, [main, ...args, '--db', join(folder, 'sandbox.db')]);
	const [line] = (await once(child.stdout, 'data')) as [Buffer];
	const [url] = /http:\S+/.exec(line.toString())!;
	const get = async (path: string) => {
		const reply = await fetch(url + path, { headers: { Authorization: 'Bearer KEY' } });
		return await reply.text();
	};
	const kill = async (signal: NodeJS.Signals) => {
		const closed = once(child, 'close');
		child.kill(signal);
		await closed;
	};
	return { url, get, kill, job: async (id: string) => JSON.parse(await get(`/v1/jobs/${id}`)) };
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
	'after %s in the middle, a job goes on where it was: every line once, none left out',
	async (signal) => {
		let sandbox = await serve();
		const submit = await fetch(`${sandbox.url}/v1/jobs?resource=contacts&operation=create`, {
			method: 'POST',
			headers: { Authorization: 'Bearer KEY', ...ndjson },
			body: linesOf(people(4000)),
		});
		const { id } = (await submit.json()) as Json;
		for (let kills = 0; kills < 3; kills++) {
			const before = (await sandbox.job(id)).processed;
			while ((await sandbox.job(id)).processed <= before);
			await sandbox.kill(signal);
			sandbox = await serve();
		}
		let job = await sandbox.job(id);
		while (job.finished_at === null) job = await sandbox.job(id);
		expect(job).toMatchObject({ status: 'completed', total: 4000, succeeded: 4000, failed: 0 });
		const text = await sandbox.get(`/v1/jobs/${id}/results`);
		const results = text.trim().split('\n').map((line) => JSON.parse(line));
		expect(results.map(({ index }) => index)).toEqual(people(4000).map((_, i) => i));
		const { total } = JSON.parse(await sandbox.get('/v1/contacts?limit=1'));
		expect(total).toBe(4000);
		await sandbox.kill('SIGTERM');
	},
);
