import { errorsOf, inProcess, type InProcess, type Json } from '../harness/in-process.ts';
import { ended, startJob } from '../harness/job-client.ts';

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
	expect(first.body.total).toBe(6);
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

const key = { 'Idempotency-Key': 'order-4711' };

const requests = async (query = ''): Promise<Json[]> =>
	(await sandbox.all(`/v1/events${query}`)).map(({ request }) => request);

test('an event names the request that caused it, with its idempotency key', async () => {
	const { headers } = await sandbox.post('/v1/contacts', { last_name: 'x' }, key);
	const request = { id: headers.get('X-Request-Id'), idempotency_key: 'order-4711' };
	expect(await requests()).toEqual([request]);
	await sandbox.post('/v1/contacts', { last_name: 'x' }, key);
	expect(await requests()).toEqual([request]);
	const plain = await sandbox.post('/v1/contacts', { last_name: 'y' });
	const id = plain.headers.get('X-Request-Id');
	expect(await requests()).toEqual([request, { id, idempotency_key: null }]);
});

test('all changes of a batch, an action or a consequence name the same request', async () => {
	const [{ id: assignee }] = await sandbox.all('/v1/users');
	const { body: ticket } = await sandbox.post('/v1/tickets', { subject: 'x', assignee_id: assignee });
	await sandbox.patch(`/v1/tickets/${ticket.id}`, { status: 'solved' });
	const { body: deal } = await sandbox.post('/v1/deals', { title: 'x' });
	const calls = [
		['/v1/contacts/batch/create', { items: [{ last_name: 'a' }, { last_name: 'b' }] }],
		[`/v1/deals/${deal.id}/win`, undefined],
		// It reopens the ticket.
		['/v1/messages', { channel: 'email', direction: 'inbound', to: ['a@x.example'], text: 'x', ticket_id: ticket.id }],
	] as const;
	for (const [i, [path, body]] of calls.entries()) {
		const before = (await requests()).length;
		const { headers } = await sandbox.post(path, body, { 'Idempotency-Key': `k${i}` });
		const caused = (await requests()).slice(before);
		const request = { id: headers.get('X-Request-Id'), idempotency_key: `k${i}` };
		expect(caused.length).toBeGreaterThan(1);
		expect(caused).toEqual(caused.map(() => request));
	}
});

test('the changes of a job, and its end, name the request that started the job', async () => {
	const started = await startJob(sandbox, 'create', [{ last_name: 'a' }, { last_name: 'b' }], key);
	const { request } = await ended(sandbox, started.body.id);
	expect(request).toEqual({ id: started.headers.get('X-Request-Id'), idempotency_key: 'order-4711' });
	expect(await requests()).toEqual([request, request, request]);
	expect(await requests('?type=job.completed')).toEqual([request]);
});

test('changes that happen by themselves name no request', async () => {
	const message = { channel: 'email', direction: 'outbound', text: 'x', to: ['a@x.example'] };
	await sandbox.post('/v1/messages', message, key);
	now += 60_000;
	expect(await requests('?type=message.sent,message.delivered')).toEqual([null, null]);
});
