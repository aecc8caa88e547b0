import { errorsOf, inProcess, type InProcess, type Json } from '../harness/in-process.ts';

let now: number;
let sandbox: InProcess;
beforeEach(() => {
	now = Date.parse('2026-03-01T09:30:00.000Z');
	sandbox = inProcess({ now: () => now });
});

const create = (path: string, values: Json): Promise<Json> => sandbox.post(path, values);
const events = (query = ''): Promise<Json[]> => sandbox.all(`/v1/events${query}`);
const types = async (query = ''): Promise<string[]> => (await events(query)).map(({ type }) => type);

test('the log is read in sequence, from any point, and filtered', async () => {
	for (let i = 0; i < 5; i++) {
		now += 1000;
		await create('/v1/contacts', { last_name: `${i}` });
	}
	await create('/v1/companies', { name: 'x' });
	const list = (query: string) => sandbox.get(`/v1/events?${query}`);
	const first = await list('limit=2');
	expect(first.body).toMatchObject({ total: 6, next_cursor: expect.any(String) });
	expect(await sandbox.all('/v1/events?limit=2')).toEqual(await events());
	expect(await types('?sequence[gt]=4')).toEqual(['contact.created', 'company.created']);
	expect(await types('?type=company.*,deal.won')).toEqual(['company.created']);
	const since = new Date(now).toISOString();
	expect(await types(`?created_at[gte]=${since}`)).toHaveLength(2);
	expect(await types(`?created_at[lt]=${since}`)).toHaveLength(4);
	const other = await list(`limit=2&type=contact.*&cursor=${first.body.next_cursor}`);
	expect([other.status, other.body.code]).toEqual([400, 'invalid_cursor']);
	for (const query of ['type=contact.exploded', 'limit=0', 'sequence[gt]=x', 'sort=id', 'type=']) {
		expect((await list(query)).status).toBe(400);
	}
	expect((await sandbox.get('/v1/events/evt_x')).body.code).toBe('not_found');
});

test('events are kept for 30 days, and numbers are never used again', async () => {
	await create('/v1/contacts', { last_name: 'x' });
	now += 30 * 24 * 60 * 60 * 1000 - 1;
	expect(await types()).toHaveLength(1);
	now += 1;
	expect(await types()).toHaveLength(0);
	await create('/v1/contacts', { last_name: 'y' });
	expect((await events()).map(({ sequence }) => sequence)).toEqual([2]);
});

test('the log is read oldest first or newest first, page by page, and a cursor belongs to its order', async () => {
	for (let i = 0; i < 5; i++) await create('/v1/contacts', { last_name: `${i}` });
	const sequences = async (query: string) => (await events(query)).map(({ sequence }) => sequence);
	expect(await sequences('?limit=2&sort=sequence')).toEqual([1, 2, 3, 4, 5]);
	expect(await sequences('?limit=2&sort=-sequence')).toEqual([5, 4, 3, 2, 1]);
	expect(errorsOf(await sandbox.get('/v1/events?sort=type'))).toEqual({ sort: 'invalid_parameter' });
	const { body } = await sandbox.get('/v1/events?limit=2&sort=-sequence');
	const other = await sandbox.get(`/v1/events?limit=2&cursor=${body.next_cursor}`);
	expect(errorsOf(other)).toEqual({ cursor: 'invalid_cursor' });
});

test('more event patterns than a subscription accepts are refused', async () => {
	const { get } = sandbox;
	expect(errorsOf(await get(`/v1/events?type=${Array(101).fill('*').join()}`))).toEqual({ type: 'invalid_parameter' });
	expect((await get(`/v1/events?type=${Array(100).fill('*').join()}`)).status).toBe(200);
});
