import type { IDataObject } from 'n8n-workflow';

import { ListService } from '../lists/list-service.ts';
import { alteredService } from '../support/altered-service.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const contacts = 3_000;
const sandbox = useSandbox({ contacts });
const service = alteredService(sandbox);
const node = nodeRuns(service);

const run = async (options: IDataObject = {}, more: IDataObject = {}) => await node.run(getMany('contact', { options, ...more }));
const idsOf = ({ items }: Awaited<ReturnType<typeof run>>) => items.map(({ json }) => String(json.id));

/** The IDs of the list, page after page, as the service returns them. */
async function walked(): Promise<string[]> {
	const ids: string[] = [];
	let cursor: unknown;
	do {
		const from = cursor ? `&cursor=${encodeURIComponent(String(cursor))}` : '';
		const { body } = await sandbox.call('GET', `/v1/contacts?limit=500${from}`);
		for (const { id } of body.data as IDataObject[]) ids.push(String(id));
		cursor = body.next_cursor;
	} while (cursor);
	return ids;
}

test('all contacts are returned completely, each once, in order, with a few requests more than pages', async () => {
	const all = await run({}, { simplify: true });
	const requests = await sandbox.requests();
	expect(requests.length).toBeGreaterThanOrEqual(contacts / 500);
	// Every part that a cursor reads may end with a page that is not full.
	expect(requests.length).toBeLessThanOrEqual(contacts / 500 + 30);
	expect(all.decryptions).toBe(1);

	expect(new Set(idsOf(all)).size).toBe(contacts);
	// Compared as text: a comparison of two long lists would take minutes to print.
	expect(idsOf(all).join() === (await walked()).join()).toBe(true);
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
	expect(idsOf(await run({}, { simplify: true })).join() === long.records.map(({ id }) => id).join()).toBe(true);
});

test('one cursor reads page after page, without a filter of its own', async () => {
	expect(idsOf(await run({ parallelReads: 1 })).join() === (await walked()).join()).toBe(true);
	const [first] = await sandbox.requests();
	expect(first?.query).toBe('limit=500');
});

test('a simplified record has no field that was only read to divide the list', async () => {
	const { items } = await run({}, { simplify: true });
	const [request] = await sandbox.requests();
	expect(request?.query).toContain('created_at');
	expect(items[0]?.json).toHaveProperty('id');
	expect(items[0]?.json).not.toHaveProperty('version');
	expect(items.every(({ json }) => !('created_at' in json))).toBe(true);
});

describe('One Page', () => {
	const page = async (cursor: IDataObject[string], more: IDataObject = {}) => {
		const { items } = await run({ onePage: true, cursor }, { simplify: true, ...more });
		expect(items).toHaveLength(1);
		return items[0]?.json as IDataObject & { records: IDataObject[] };
	};

	test('returns its records, the next cursor and the total; a loop reads the whole list', async () => {
		const ids: unknown[] = [];
		let cursor: IDataObject[string] = '';
		do {
			const { records, next_cursor: next, total } = await page(cursor);
			for (const { id } of records) ids.push(id);
			expect(total).toBe(contacts);
			cursor = next;
		} while (cursor);
		expect(cursor).toBeNull();
		expect(ids).toEqual(await walked());
	});

	test('is as long as the limit, and needs one request besides those for names', async () => {
		const { records } = await page('', { returnAll: false, limit: 7 });
		expect(records).toHaveLength(7);
		const lists = (await sandbox.requests()).filter(({ path }) => path === '/v1/contacts');
		expect(lists).toHaveLength(1);
	});

	test('if it is off, reading begins at the cursor and continues to the end or the limit', async () => {
		const { next_cursor: cursor } = await page('');
		const all = await walked();
		expect(idsOf(await run({ cursor }))).toEqual(all.slice(500));
		const some = await run({ cursor }, { returnAll: false, limit: 3 });
		expect(idsOf(some)).toEqual(all.slice(500, 503));
	});
});
