import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { startSandbox } from '../../sandbox/serve.ts';
import { until } from '../until.ts';
import { newDatabase } from './harness/databases.ts';
import { ndjson } from './harness/job-client.ts';

const headers = { Authorization: 'Bearer KEY', ...ndjson };
const jobs = '/v1/jobs?resource=contacts&operation=create';

const aMegabyte = `"${'x'.repeat(999_997)}"\n`;

async function write(upload: ClientRequest, text: string): Promise<void> {
	if (!upload.write(text)) await once(upload, 'drain');
}

test('a file that is too large is refused while it is being sent', async () => {
	const { url, close } = await startSandbox({ contacts: 0, apiKey: 'KEY' });
	const upload = request(url + jobs, { method: 'POST', headers });
	const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
	for (let i = 0; i < 50; i++) await write(upload, aMegabyte);
	upload.write('1');
	const [response] = await answered;
	expect(response.statusCode).toBe(413);
	expect(response.headers.connection).toBe('close');
	upload.destroy();
	const list = await fetch(`${url}/v1/jobs`, { headers });
	expect(await list.json()).toMatchObject({ total: 0 });
	await close();
});

test('an upload that is cut off leaves nothing behind', async () => {
	const path = newDatabase();
	const { url, close } = await startSandbox({ contacts: 0, apiKey: 'KEY', db: path });
	const database = new DatabaseSync(path);
	const waiting = database.prepare('SELECT count(*) AS lines FROM job_items');
	const lines = () => Number(waiting.get()!['lines']);
	const upload = request(url + jobs, { method: 'POST', headers });
	upload.on('error', () => undefined);
	await write(upload, '{"last_name":"x"}\n'.repeat(1000));
	await until(() => lines() > 0);
	upload.destroy();
	await until(() => lines() === 0);
	const list = await fetch(`${url}/v1/jobs`, { headers });
	expect(await list.json()).toMatchObject({ total: 0 });
	database.close();
	await close();
});

test('results are sent in pieces, and arrive complete', async () => {
	const { url, close } = await startSandbox({ contacts: 3000, apiKey: 'KEY', requestsPerMinute: 1_000_000 });
	const path = '/v1/jobs?resource=contacts&operation=export';
	const started = await fetch(url + path, { method: 'POST', headers });
	const { id } = (await started.json()) as { id: string };
	const results = () => fetch(`${url}/v1/jobs/${id}/results`, { headers });
	const response = await until(async () => {
		const response = await results();
		return response.status === 409 ? undefined : response;
	});
	expect(response.headers.get('Content-Length')).toBeNull();
	const lines = (await response.text()).split('\n');
	expect(lines.pop()).toBe('');
	expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(3000);
	await close();
});
