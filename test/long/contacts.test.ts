import type { IDataObject } from 'n8n-workflow';

import { ListService } from '../lists/list-service.ts';
import { alteredService } from '../support/altered-service.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const contacts = 10_000;
const sandbox = useSandbox({ contacts });
const service = alteredService(sandbox);
const { run } = nodeRuns(service);
const all = getMany('contact', { simplify: true });

/** The ids in the order the service gives them, by one cursor. */
async function idsInOrder(): Promise<string[]> {
	const ids: string[] = [];
	let from = '';
	do {
		const { body } = await sandbox.call('GET', `/v1/contacts?limit=500&fields=id${from}`);
		for (const { id } of body.data as IDataObject[]) ids.push(String(id));
		from = body.next_cursor ? `&cursor=${encodeURIComponent(String(body.next_cursor))}` : '';
	} while (from !== '');
	return ids;
}

test('10,000 contacts are returned completely, each once, in order, with a few requests more than pages', async () => {
	const { items, decryptions } = await run(all);
	const requests = await sandbox.requests();
	expect(requests.length).toBeGreaterThanOrEqual(contacts / 500);
	// Every part that a cursor reads may end with a page that is not full.
	expect(requests.length).toBeLessThanOrEqual(contacts / 500 + 30);
	expect(decryptions).toBe(1);

	const ids = items.map(({ json }) => String(json.id));
	expect(new Set(ids).size).toBe(contacts);
	// Compared as text: a comparison of two long lists would take minutes to print.
	expect(ids.join() === (await idsInOrder()).join()).toBe(true);
});

test('more records are returned than one push() takes', async () => {
	// Nodes that hand all records to one push() end above 125,000 of them.
	const long = new ListService(Array.from({ length: 130_000 }, (_, i) => i * 1_000));
	service.alter({
		async request({ url }) {
			if (url.pathname !== '/v1/contacts') return;
			const { status, body } = await long.send({ query: Object.fromEntries(url.searchParams) } as never);
			return { status, body: JSON.stringify(body) };
		},
	});
	const { items } = await run(all);
	expect(items.map(({ json }) => json.id).join() === long.records.map(({ id }) => id).join()).toBe(true);
});
