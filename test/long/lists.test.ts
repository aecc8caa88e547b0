import type { IDataObject } from 'n8n-workflow';

import { run as runNode } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const seeded = 6000;
const sandbox = useSandbox({ contacts: seeded, day: '2025-07-01' });
const list = { path: '/v1/contacts', method: 'GET' };

const run = async (options: IDataObject = {}, more: IDataObject = {}, filters: IDataObject = {}) =>
	await runNode({ credential: sandbox.credential, parameters: getMany('contact', { options, ...more }, filters) });
const idsOf = ({ items }: Awaited<ReturnType<typeof run>>) => items.map(({ json }) => String(json.id));

/** Creates records in one millisecond, as one batch. */
async function addBatch(size: number): Promise<string[]> {
	const items = Array.from({ length: size }, () => ({ last_name: 'Batch' }));
	const { body } = await sandbox.call('POST', '/v1/contacts/batch/create', { items });
	return (body.results as Array<{ id: string }>).map(({ id }) => id);
}

/** The IDs of the list, page after page, as the service returns them. */
async function walked(query = ''): Promise<string[]> {
	const ids: string[] = [];
	let cursor: unknown;
	do {
		const from = cursor ? `&cursor=${encodeURIComponent(String(cursor))}` : '';
		const { body } = await sandbox.call('GET', `/v1/contacts?limit=500${query}${from}`);
		for (const { id } of body.data as IDataObject[]) ids.push(String(id));
		cursor = body.next_cursor;
	} while (cursor);
	return ids;
}

beforeAll(async () => {
	for (let i = 0; i < 7; i++) await addBatch(100);
});

test.each([
	['', {}],
	['&sort=-created_at', { sort: '-created_at' }],
])('several cursors return the list%s as the CRM does, with few more requests', async (query, options) => {
	const expected = await walked(query);
	await sandbox.clear();
	const { decryptions, ...all } = await run(options);
	expect(idsOf({ decryptions, ...all })).toEqual(expected);
	const requests = await sandbox.requests();
	expect(requests.some((request) => request.query.includes('created_at%5Blt%5D'))).toBe(true);
	expect(requests.length).toBeLessThanOrEqual(Math.ceil(expected.length / 500) + 10);
	expect(decryptions).toBe(1);
});

test('one cursor reads page after page, without a filter of its own', async () => {
	expect(idsOf(await run({ parallelReads: 1 }))).toEqual(await walked());
	const [first] = await sandbox.requests();
	expect(first?.query).toBe('limit=500');
});

test('a list in another order is read with one cursor', async () => {
	const found = idsOf(await run({ sort: 'last_name' }));
	const requests = await sandbox.requests();
	expect(requests.every(({ query }) => !query.includes('created_at'))).toBe(true);
	expect(found).toEqual(await walked('&sort=last_name'));
});

test('the user’s filters by time apply to every cursor', async () => {
	const from = { 'created_at[gte]': '2023-06-01T00:00:00Z', 'created_at[lt]': '2025-03-01T00:00:00Z' };
	const found = idsOf(await run({}, {}, from));
	const query = Object.entries(from).map(([name, at]) => `&${encodeURIComponent(name)}=${at}`);
	expect(found).toEqual(await walked(query.join('')));
	expect(found.length).toBeGreaterThan(2500);
});

test('a simplified record has no field that was only read to divide the list', async () => {
	const { items } = await run({}, { simplify: true });
	const [request] = await sandbox.requests();
	expect(request?.query).toContain('created_at');
	expect(items[0]?.json).toHaveProperty('id');
	expect(items[0]?.json).not.toHaveProperty('version');
	expect(items.every(({ json }) => !('created_at' in json))).toBe(true);
});

test('while others create, change and delete, each record that stays is listed once and in order', async () => {
	const before = await walked();
	const deleted = new Set<string>();
	let over = false;
	const others = (async () => {
		for (let i = 0; !over; i++) {
			const gone = before[(i * 997) % before.length] ?? '';
			await sandbox.call('DELETE', `/v1/contacts/${gone}`);
			deleted.add(gone);
			const changed = before[(i * 991 + 5) % before.length] ?? '';
			await sandbox.call('PATCH', `/v1/contacts/${changed}`, { job_title: `Title ${i}` });
			await addBatch(3);
		}
	})();
	const found = idsOf(await run());
	over = true;
	await others;
	expect(new Set(found).size).toBe(found.length);
	const isFound = new Set(found);
	expect(before.filter((id) => !deleted.has(id) && !isFound.has(id))).toEqual([]);
	expect(found).toEqual([...found].sort());
});

test('a cursor that is refused fails the node, with the reason', async () => {
	await sandbox.faults({ ...list, after: 6, status: 403 });
	await expect(run()).rejects.toMatchObject({ httpCode: '403' });
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
			expect(total).toBeGreaterThan(seeded);
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
