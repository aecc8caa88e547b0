import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '../sandbox/in-process.ts';
import { linesOf, ndjson, people } from '../sandbox/job-client.ts';
import { until } from '../until.ts';

const main = join(__dirname, '../../sandbox/main.ts');

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'sandbox-'))));
afterEach(() => rmSync(folder, { recursive: true }));

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
			await until(async () => {
				const { processed, finished_at } = await sandbox.job(id);
				return processed > before || finished_at !== null;
			});
			await sandbox.kill(signal);
			sandbox = await serve();
		}
		const job = await until(async () => {
			const found = await sandbox.job(id);
			return found.finished_at !== null && found;
		});
		expect(job).toMatchObject({ status: 'completed', total: 4000, succeeded: 4000, failed: 0 });
		const text = await sandbox.get(`/v1/jobs/${id}/results`);
		const results = text.trim().split('\n').map((line) => JSON.parse(line));
		expect(results.map(({ index }) => index)).toEqual(people(4000).map((_, i) => i));
		const { total } = JSON.parse(await sandbox.get('/v1/contacts?limit=1'));
		expect(total).toBe(4000);
		await sandbox.kill('SIGTERM');
	},
);
