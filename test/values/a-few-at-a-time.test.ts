import type { ServerResponse } from 'node:http';

import { startLocalServer, type LocalServer } from '../support/local-server.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { byId, create, get, mapped, on, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

/** A service that answers when this many requests wait for it; it refuses those whose URL contains `refused`. */
async function service(together: number, refused?: string) {
	const seen: string[] = [];
	const waiting: Array<() => void> = [];
	let maxWaiting = 0;
	const answer = (url: string, response: ServerResponse) => {
		const isRefused = refused !== undefined && url.includes(refused);
		response.writeHead(isRefused ? 403 : 200, { 'content-type': 'application/json' });
		response.end(JSON.stringify({ id: url.split('/')[3] ?? `new_${seen.length}` }));
	};
	server = await startLocalServer(({ url = '' }, response) => {
		seen.push(url);
		waiting.push(() => answer(url, response));
		maxWaiting = Math.max(maxWaiting, waiting.length);
		if (waiting.length < together) return;
		// By then, a request that the node sends too early has arrived.
		setTimeout(() => waiting.splice(0).forEach((respond) => respond()), 20);
	});
	const credential = { baseUrl: server.url, apiKey: 'any', descriptionUrl: `${sandbox.url}/openapi.json` };
	return { run: nodeRuns({ credential }).run, seen, maxWaiting: () => maxWaiting };
}

let server: LocalServer | undefined;
afterEach(async () => await server?.close());

const ids = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `rec_${i}` }));
const itsId = '={{ $json.id }}';
const addTag = on('recordTag', 'addTag', itsId, { kind: 'contact', tagId: byId('2') });

describe('requests that the CRM handles one by one', () => {
	test.each([
		['tags', addTag],
		['moves', on('deal', 'win', itsId)],
		['records to read', get('contact', itsId)],
	])('%s: a few are sent at a time, and results are in the order of the items', async (_, parameters) => {
		const { run, maxWaiting } = await service(4);
		const { items } = await run(parameters, ids(8));
		expect(items.map(({ json, pairedItem }) => ({ id: json.id, pairedItem }))).toEqual(
			ids(8).map(({ id }, item) => ({ id, pairedItem: { item } })),
		);
		expect(maxWaiting()).toBe(4);
	});

	test('requests for one record are sent one after another', async () => {
		const { run, seen, maxWaiting } = await service(1);
		const tags = [1, 2, 3, 4].map((i) => ({ tag: `${i}` }));
		await run(on('recordTag', 'addTag', 'rec_1', { kind: 'contact', tagId: byId('={{ $json.tag }}') }), tags);
		expect(seen).toEqual(tags.map(({ tag }) => `/v1/contacts/rec_1/tags/${tag}`));
		expect(maxWaiting()).toBe(1);
	});

	test('requests that add records are sent one after another, as their order may matter', async () => {
		const { run, maxWaiting } = await service(1);
		const url = '={{ "https://hooks.example/" + $json.id }}';
		await run(create('webhook', mapped({ url, events: '*' })), ids(4));
		expect(maxWaiting()).toBe(1);
	});

	test('after an item fails, only requests in flight are completed', async () => {
		const { run, seen } = await service(4, 'rec_0/');
		await expect(run(addTag, ids(20))).rejects.toMatchObject({
			description: expect.stringMatching(/Of 20 items, 3 succeeded and 1 failed \(item 0\)\. 16 were not tried/),
		});
		expect(seen).toHaveLength(4);
	});
});

test.each([
	['records', create('contact', mapped({ last_name: itsId }))],
	['what the CRM has no batches for', update('webhook', itsId, { description: 'New' })],
])('a batch size of 1 sends one request after another: %s', async (_, parameters) => {
	const { run, maxWaiting } = await service(1);
	await run({ ...parameters, options: { batchSize: 1 } }, ids(4));
	expect(maxWaiting()).toBe(1);
});
