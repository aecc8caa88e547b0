import { errorsOf, inProcess, type InProcess, type Json } from '../harness/in-process.ts';
import { ended, runJob, startJob } from '../harness/job-client.ts';

let now: number;
let sandbox: InProcess;
beforeEach(() => {
	now = Date.parse('2026-03-01T09:30:00.000Z');
	sandbox = inProcess({ now: () => now });
});

const create = async (path: string, values: Json): Promise<Json> =>
	(await sandbox.post(path, values)).body;
const events = (query = ''): Promise<Json[]> => sandbox.all(`/v1/events${query}`);
const types = async (query = ''): Promise<string[]> => (await events(query)).map(({ type }) => type);

test('creations, changes and deletions are reported, with the former values', async () => {
	const contact = await create('/v1/contacts', { last_name: 'Moreno', job_title: 'CFO' });
	const { id } = contact;
	const changed = await sandbox.patch(`/v1/contacts/${id}`, { job_title: null });
	await sandbox.delete(`/v1/contacts/${id}`);
	const about = {
		id: expect.stringMatching(/^evt_/),
		timestamp: '2026-03-01T09:30:00.000Z',
		api_version: 'v1',
		account_id: (await sandbox.get('/v1/account')).body.id,
		actor: { type: 'api_key', id: 'key_test' },
		request: { id: expect.stringMatching(/^req_/), idempotency_key: null },
	};
	expect(await events()).toEqual([
		{...about, type: 'contact.created', sequence: 1, data: { object: contact, previous: null, changed: [] } },
		{
			...about,
			type: 'contact.updated',
			sequence: 2,
			data: { object: changed.body, previous: { job_title: 'CFO' }, changed: ['job_title'] },
		},
		{
			...about,
			type: 'contact.deleted',
			sequence: 3,
			data: {
				object: expect.objectContaining({ id, version: 3, deleted_at: about.timestamp }),
				previous: null,
				changed: [],
			},
		},
	]);
});

test('custom fields are reported individually', async () => {
	const [field] = await sandbox.all('/v1/custom-fields?resource=contacts&type=number');
	const custom_fields = { [field.key]: 7, contract_tier: 'gold' };
	const { id } = await create('/v1/contacts', { last_name: 'x', custom_fields });
	await sandbox.patch(`/v1/contacts/${id}`, { custom_fields: { contract_tier: null } });
	const [updated] = await events('?type=contact.updated');
	expect(updated.data).toMatchObject({
		object: { custom_fields: { [field.key]: 7 } },
		changed: ['custom_fields.contract_tier'],
	});
	expect(updated.data.previous).toEqual({ custom_fields: { contract_tier: 'gold' } });
});

test('a request that changes nothing, or is refused, causes no events', async () => {
	const { id } = await create('/v1/contacts', { last_name: 'x' });
	await sandbox.patch(`/v1/contacts/${id}`, { last_name: 'x' });
	await sandbox.patch(`/v1/contacts/${id}`, { last_name: 1 });
	await sandbox.post('/v1/contacts/batch/create', { items: [{ last_name: 'a' }, { last_name: 1 }], atomic: true });
	const key = { 'Idempotency-Key': 'k' };
	await sandbox.patch(`/v1/contacts/${id}`, { last_name: 'y' }, key);
	await sandbox.patch(`/v1/contacts/${id}`, { last_name: 'y' }, key);
	expect(await types()).toEqual(['contact.created', 'contact.updated']);
	expect((await events()).map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test('batches, upserts, tags and jobs report their changes', async () => {
	await sandbox.post('/v1/contacts/batch/create', { items: [{ last_name: 'a' }, { last_name: 'b' }] });
	const { id } = await create('/v1/tags', { name: 'x' });
	const [contact] = await sandbox.all('/v1/contacts');
	await sandbox.put(`/v1/contacts/${contact.id}/tags/${id}`, undefined);
	await sandbox.put('/v1/contacts?match_on=email', { email: 'a@x.example' });
	await runJob(sandbox, 'update', [{ id: contact.id, last_name: 'c' }]);
	expect(await types()).toEqual([
		'contact.created',
		'contact.created',
		'tag.created',
		'contact.updated',
		'contact.created',
		'contact.updated',
		'job.completed',
	]);
	const [done] = await events('?type=job.*');
	expect(done.data.object).toMatchObject({ status: 'completed', succeeded: 1 });
});

test('a deal reports its way through the stages', async () => {
	const { id } = await create('/v1/deals', { title: 'x' });
	for (const action of ['win', 'reopen', 'lose']) {
		await sandbox.post(`/v1/deals/${id}/${action}`, undefined);
	}
	const eventTypes = (await types('?type=deal.*')).filter((type) => type !== 'deal.updated');
	expect(eventTypes).toEqual([
		'deal.created',
		'deal.stage_changed',
		'deal.won',
		'deal.stage_changed',
		'deal.reopened',
		'deal.stage_changed',
		'deal.lost',
	]);
	const [won] = await events('?type=deal.won');
	expect(won.data).toMatchObject({
		object: { status: 'won' },
		previous: { status: 'open' },
		changed: ['stage_id', 'status', 'closed_at'],
	});
});

test('a ticket reports its assignee, and when it is solved and reopened', async () => {
	const [{ id: assignee }] = await sandbox.all('/v1/users');
	const { id } = await create('/v1/tickets', { subject: 'x', assignee_id: assignee });
	await sandbox.patch(`/v1/tickets/${id}`, { status: 'solved' });
	await create('/v1/messages', { channel: 'email', direction: 'inbound', to: ['a@x.example'], text: 'x', ticket_id: id });
	const eventTypes = (await types()).filter((type) => !type.endsWith('.updated'));
	expect(eventTypes).toEqual([
		'ticket.created',
		'ticket.assigned',
		'ticket.status_changed',
		'ticket.solved',
		'message.created',
		'message.received',
		'ticket.status_changed',
		'ticket.reopened',
	]);
});

test('a task reports that it is completed, once', async () => {
	const { id } = await create('/v1/tasks', { title: 'x' });
	await sandbox.patch(`/v1/tasks/${id}`, { status: 'completed' });
	await sandbox.patch(`/v1/tasks/${id}`, { title: 'y' });
	expect(await types('?type=task.completed')).toEqual(['task.completed']);
});

test('a message reports its states, each at its own time', async () => {
	const message = { channel: 'email', direction: 'outbound', text: 'x' };
	await create('/v1/messages', { ...message, to: ['a@x.example'] });
	await create('/v1/messages', { ...message, to: ['bounce@x.example'] });
	now += 60_000;
	const messageEvents = await events('?type=message.sent,message.delivered,message.failed');
	const after = (time: string) => Date.parse(time) - Date.parse('2026-03-01T09:30:00.000Z');
	expect(messageEvents.map(({ type, timestamp }) => [type, after(timestamp)])).toEqual([
		['message.sent', 2000],
		['message.failed', 2000],
		['message.delivered', 5000],
	]);
	expect(messageEvents[0].actor).toEqual({ type: 'system', id: 'clock' });
});

test('records of custom objects have their own types, and so does a deleted user', async () => {
	const object = { label_singular: 'Ship', label_plural: 'Ships', primary_field: 'name' };
	await create('/v1/custom-objects', { key: 'ships', ...object });
	const resource = 'custom-objects/ships/records';
	await create('/v1/custom-fields', { resource, key: 'name', label: 'Name', type: 'text' });
	const path = `/v1/${resource}`;
	const { id } = await create(path, { custom_fields: { name: 'Ark' } });
	await sandbox.delete(`${path}/${id}`);
	const user = await create('/v1/users', { email: 'a@x.example' });
	await sandbox.delete(`/v1/users/${user.id}`);
	expect(await types()).toEqual([
		'custom_object.created',
		'custom_field.created',
		'custom.ships.created',
		'custom.ships.deleted',
		'user.created',
		'user.updated',
		'user.deleted',
	]);
	expect(await types('?type=custom.*')).toHaveLength(2);
	expect(await types('?type=custom.ships.deleted')).toHaveLength(1);
});

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
	(await events(query)).map(({ request }) => request);

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
