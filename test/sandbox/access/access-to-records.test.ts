import { until } from '../../support/until.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import { errorsOf, inProcess, type Json } from '../harness/in-process.ts';
import { ndjson } from '../harness/job-client.ts';

let sandbox: TokenSandbox;
beforeEach(() => void (sandbox = tokenSandbox()));

const contactOf = async (owner_id: string | null, values: Json = {}): Promise<Json> =>
	(await sandbox.post('/v1/contacts', { last_name: 'x', owner_id, ...values })).body;

test('a user sees their own messages, and those of a contact, ticket or deal that they see', async () => {
	const { admin, sales, as, post, get, store } = sandbox;
	const call = as(sales, ['messages:read', 'messages:write', 'events:read']);
	const contacts = { owned: await contactOf(sales), free: await contactOf(null), foreign: await contactOf(admin) };
	const ticket = (await post('/v1/tickets', { subject: 'x', owner_id: sales })).body.id;
	const foreignTicket = (await post('/v1/tickets', { subject: 'x', owner_id: admin })).body.id;
	const deal = (await post('/v1/deals', { title: 'x', owner_id: sales })).body.id;
	const scheduled_at = new Date(Date.now() + 3_600_000).toISOString();
	const message = async (values: Json): Promise<string> => {
		const about = { channel: 'other', direction: 'outbound', to: ['x'], text: 'x', scheduled_at };
		return (await post('/v1/messages', { ...about, ...values })).body.id;
	};
	const seen = [
		await message({ contact_id: contacts.owned.id }),
		await message({ contact_id: contacts.free.id }),
		await message({ contact_id: contacts.foreign.id, ticket_id: ticket }),
		await message({ contact_id: contacts.foreign.id, deal_id: deal }),
		await message({ contact_id: contacts.foreign.id, user_id: sales }),
	];
	const hidden = [
		await message({ contact_id: contacts.foreign.id }),
		await message({ contact_id: contacts.foreign.id, ticket_id: foreignTicket }),
		await message({ user_id: admin }),
		await message({}),
	];
	const { body } = await call('GET', '/v1/messages?sort=id');
	expect([body.data.map(({ id }: Json) => id), body.total]).toEqual([seen, seen.length]);
	const events = (await call('GET', '/v1/events?type=message.*')).body.data as Json[];
	expect(events.map(({ data }) => data.object.id)).toEqual(seen);
	for (const id of hidden) {
		const path = `/v1/messages/${id}`;
		const responses = [await call('GET', path), await call('POST', `${path}/cancel`)];
		expect(responses.map(({ status }) => status)).toEqual([404, 404]);
		expect((await get(path)).body.status).toBe('scheduled');
	}
	const about = { channel: 'other', direction: 'outbound', to: ['x'], text: 'x' };
	const { body: createdMessage } = await call('POST', '/v1/messages', about);
	expect(createdMessage.user_id).toBe(sales);
	expect((await call('GET', `/v1/messages/${createdMessage.id}`)).status).toBe(200);
	expect(store.table('messages')!.count([])).toBe(seen.length + hidden.length + 1);
});

test('a write scope without the read scope gets the id and the version, and nothing else', async () => {
	const { sales, as } = sandbox;
	const { id } = await contactOf(sales, { first_name: 'Secret' });
	const call = as(sales, ['contacts:write', 'jobs:write', 'jobs:read', 'webhooks:write']);
	const path = `/v1/contacts/${id}`;
	expect((await call('PATCH', path, {})).body).toEqual({ id, version: 1 });
	const batch = await call('POST', '/v1/contacts/batch/update', { items: [{ id }] });
	expect(batch.body.results[0].data).toEqual({ id, version: 1 });
	const { body: job } = await call('POST', '/v1/jobs?resource=contacts&operation=update', JSON.stringify({ id }), ndjson);
	await until(async () => (await call('GET', `/v1/jobs/${job.id}`)).body.finished_at);
	const results = await call('GET', `/v1/jobs/${job.id}/results`);
	expect(results.body[0].data).toEqual({ id, version: 1 });
	// The stored response is complete; each caller gets the part that they may read.
	const key = { 'Idempotency-Key': 'k' };
	for (let i = 0; i < 2; i++) {
		expect((await call('PATCH', path, { first_name: 'Y' }, key)).body).toEqual({ id, version: 2 });
	}
	const reader = as(sales, ['contacts:write', 'contacts:read']);
	expect((await reader('PATCH', path, { first_name: 'Y' }, key)).body.first_name).toBe('Y');
});

test('an API key acts for the owner of the account', async () => {
	const { get } = inProcess();
	const { status, headers, body } = await get('/v1/users/me');
	expect(status).toBe(200);
	expect(body).toMatchObject({ object: 'user', role: 'owner', status: 'active' });
	expect(headers.get('ETag')).toBe(`"${body.version}"`);
	expect((await get(`/v1/users/${body.id}`)).body).toEqual(body);
	expect(errorsOf(await get('/v1/users/me?fields=name'))).toEqual({ fields: 'unknown_parameter' });
});

test('the account keeps an active owner, whatever the requests', async () => {
	const { get, patch, post, delete: remove } = inProcess();
	const { body: owner } = await get('/v1/users/me');
	const path = `/v1/users/${owner.id}`;
	expect(errorsOf(await patch(path, { role: 'member' }))).toEqual({ '/role': 'forbidden' });
	expect(errorsOf(await patch(path, { status: 'invited' }))).toEqual({ '/status': 'forbidden' });
	expect((await remove(path)).body.code).toBe('in_use');
	await post('/v1/users', { email: 'next@x.example', role: 'owner', status: 'active' });
	expect((await remove(path)).status).toBe(204);
	expect((await get('/v1/users/me')).body.email).toBe('next@x.example');
});

test('a user is displayed by name, otherwise by email address', async () => {
	const { post, patch } = inProcess();
	const { status, body } = await post('/v1/users', { email: 'New@X.example' });
	expect(status).toBe(201);
	expect(body).toMatchObject({ name: 'new@x.example', role: 'member', status: 'invited' });
	const named = await patch(`/v1/users/${body.id}`, { first_name: 'Nia', last_name: 'Okoro' });
	expect(named.body.name).toBe('Nia Okoro');
	expect((await post('/v1/users', { email: 'new@x.example' })).body.code).toBe('duplicate');
	expect(errorsOf(await post('/v1/users', {}))).toEqual({ '/email': 'required' });
});

test('deleting a user deactivates them, and records still refer to them', async () => {
	const { post, get, patch, delete: remove } = inProcess();
	const user = await post('/v1/users', { email: 'a@x.example', status: 'active' });
	const path = `/v1/users/${user.body.id}`;
	const contact = await post('/v1/contacts', { last_name: 'x', owner_id: user.body.id });
	expect((await remove(path)).status).toBe(204);
	expect((await get(path)).body).toMatchObject({ status: 'deactivated', deleted_at: null, version: 2 });
	const again = await patch(`/v1/contacts/${contact.body.id}`, { owner_id: user.body.id });
	expect(again.status).toBe(200);
	expect((await patch(path, { status: 'active' })).body.status).toBe('active');
});
