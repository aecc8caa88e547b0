import { startSandbox } from '../../../sandbox/serve.ts';
import { until } from '../../support/until.ts';
import { ndjson } from '../harness/job-client.ts';

const headers = { Authorization: 'Bearer KEY', ...ndjson };
const jobs = '/v1/jobs?resource=contacts&operation=create';

test('a file that is too large is refused, and the connection goes on', async () => {
	const { url, close } = await startSandbox({ contacts: 0, apiKey: 'KEY' });
	const response = await fetch(url + jobs, { method: 'POST', headers, body: `${'x'.repeat(50_000_000)}\n` });
	expect(response.status).toBe(413);
	const list = await fetch(`${url}/v1/jobs`, { headers });
	expect(await list.json()).toMatchObject({ total: 0 });
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
