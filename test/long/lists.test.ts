import type { IDataObject } from 'n8n-workflow';

import { run as runNode } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const seeded = 2000;
const sandbox = useSandbox({ contacts: seeded, day: '2025-07-01' });

const run = async (options: IDataObject = {}, more: IDataObject = {}) =>
	await runNode({ credential: sandbox.credential, parameters: getMany('contact', { options, ...more }) });
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

test('one cursor reads page after page, without a filter of its own', async () => {
	expect(idsOf(await run({ parallelReads: 1 }))).toEqual(await walked());
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
			expect(total).toBe(seeded);
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
