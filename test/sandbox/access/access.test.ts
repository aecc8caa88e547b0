import { revokeKey } from '../../../sandbox/api/webhooks/revoke-access.ts';
import type { Service } from '../../../sandbox/core/service.ts';
import { deliveryStatuses } from '../../../sandbox/core/schemas/webhooks.ts';
import { until } from '../../support/until.ts';
import { clientForm, type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import { type Call, errorsOf, type Json, type Reply } from '../harness/in-process.ts';
import { ndjson } from '../harness/job-client.ts';
import { startReceiver } from '../harness/receiver.ts';

let sandbox: TokenSandbox;
beforeEach(() => void (sandbox = tokenSandbox()));

const contactOf = async (owner_id: string | null): Promise<Json> =>
	(await sandbox.post('/v1/contacts', { last_name: 'x', owner_id })).body;
const hook = { url: 'https://x.example/hook', events: ['contact.*'] };
const webhookScopes = ['contacts:read', 'webhooks:read', 'webhooks:write'];
const revoke = (token: string) => sandbox.send('POST', '/oauth/revoke', `token=${token}`, clientForm);
const statusOf = (id: string) => sandbox.store.table('webhooks')!.find(id)?.['status'];

test.each([
	['by a change', (id: string) => sandbox.patch(`/v1/users/${id}`, { status: 'deactivated' })],
	['by being deleted', (id: string) => sandbox.delete(`/v1/users/${id}`)],
	['in a batch', (id: string) => sandbox.post('/v1/users/batch/delete', { items: [{ id }] })],
	[
		'by an upsert',
		async (id: string) => {
			const { email } = (await sandbox.get(`/v1/users/${id}`)).body;
			return sandbox.put('/v1/users?match_on=email', { email, status: 'invited' });
		},
	],
])('a user who is deactivated %s loses tokens, sessions, grants and active webhooks', async (_, end) => {
	const { sales, grant, store, with: callWith, patch } = sandbox;
	const { access, refresh } = grant(sales, webhookScopes);
	const call = callWith(access);
	const { body: webhook } = await call('POST', '/v1/webhooks', hook);
	const session = store.sessions.open(sales, Date.now());
	expect((await end(sales)).status).toBeLessThan(300);

	expect((await call('GET', '/v1/contacts')).body.code).toBe('invalid_credentials');
	expect(store.sessions.find(session, Date.now())).toBeUndefined();
	expect(store.tokens.findRefresh(refresh)).toBeUndefined();
	expect(statusOf(webhook.id)).toBe('paused');
	expect(store.members.find(sales)).toBeUndefined();

	// A reactivated user signs in again; what has ended stays ended.
	await patch(`/v1/users/${sales}`, { status: 'active' });
	expect((await call('GET', '/v1/contacts')).status).toBe(401);
	expect(store.members.find(sales)).toMatchObject({ role: 'member' });
	expect(statusOf(webhook.id)).toBe('paused');
});

test('an active webhook of a deactivated user gets no events', async () => {
	const { sales, as, delete: remove, store } = sandbox;
	const { body } = await as(sales, webhookScopes)('POST', '/v1/webhooks', hook);
	await remove(`/v1/users/${sales}`);
	const webhooks = store.table('webhooks')!;
	webhooks.save({ ...webhooks.find(body.id)!, status: 'active' });
	await contactOf(sales);
	expect(store.deliveries.list(body.id, deliveryStatuses, undefined, 1).total).toBe(0);
});

test('a webhook cannot be set to active while nothing may be sent to its user, and its undelivered events wait', async () => {
	const { sales, as, patch, post, delete: remove, store } = sandbox;
	const { body } = await as(sales, webhookScopes)('POST', '/v1/webhooks', hook);
	await contactOf(sales);
	await remove(`/v1/users/${sales}`);
	const path = `/v1/webhooks/${body.id}`;
	const state = async (response: Reply) => {
		const { deliveries } = store.deliveries.list(body.id, deliveryStatuses, undefined, 10);
		return [response.status, statusOf(body.id), ...deliveries.map(({ status }) => status)];
	};
	const active = { status: 'active' };
	expect(await state(await patch(path, active))).toEqual([409, 'paused', 'pending']);
	expect(await state(await post(`${path}/test`, undefined))).toEqual([409, 'paused', 'pending']);
	await patch(`/v1/users/${sales}`, active);
	// The grant has ended; the application has another one.
	expect(await state(await patch(path, active))).toEqual([409, 'paused', 'pending']);
	expect(await state(await as(sales, webhookScopes)('PATCH', path, active))).toEqual([200, 'active', 'pending']);
});

test('revoking the application of a webhook that has outlived an earlier grant ends the webhook, too', async () => {
	const { sales, as, grant, patch, delete: remove } = sandbox;
	const { body } = await as(sales, webhookScopes)('POST', '/v1/webhooks', hook);
	const { body: another } = await as(sales, webhookScopes)('POST', '/v1/webhooks', hook);
	await remove(`/v1/users/${sales}`);
	await patch(`/v1/users/${sales}`, { status: 'active' });
	const [activeGrant, revoked] = [grant(sales, webhookScopes), grant(sales, webhookScopes)];
	// The other webhook belongs to a grant that stays.
	expect((await sandbox.with(activeGrant.access)('PATCH', `/v1/webhooks/${another.id}`, { status: 'active' })).status).toBe(200);
	expect((await revoke(revoked.refresh)).status).toBe(200);
	expect([statusOf(body.id), statusOf(another.id)]).toEqual([undefined, 'active']);
});

/** Everything that ends what a caller has begun. Each gets a caller of its own, and a function that ends the caller's rights. */
const ends: Array<[name: string, begin: (scopes: string[]) => { call: Call; end(): unknown }]> = [
	['whose API key was revoked', () => {
		sandbox.store.apiKeys.add('key_x', 'a-key');
		const service = { store: sandbox.store, now: Date.now, newId: (prefix: string) => `${prefix}_x` } as unknown as Service;
		return { call: sandbox.with('a-key'), end: () => revokeKey(service, 'key_x') };
	}],
	['whose application lost its access', (scopes) => {
		const { access, refresh } = sandbox.grant(sandbox.sales, scopes);
		return { call: sandbox.with(access), end: () => revoke(refresh) };
	}],
	['who was deactivated', (scopes) => {
		const { sales } = sandbox;
		return { call: sandbox.as(sales, scopes), end: () => sandbox.delete(`/v1/users/${sales}`) };
	}],
	['who became a viewer', (scopes) => {
		const { sales } = sandbox;
		return { call: sandbox.as(sales, scopes), end: () => sandbox.patch(`/v1/users/${sales}`, { role: 'viewer' }) };
	}],
];

test.each(ends)('a job of somebody %s stops at the next step, and says why', async (_, begin) => {
	const { store, get } = sandbox;
	const { call, end } = begin(['contacts:write', 'contacts:read', 'jobs:write', 'jobs:read']);
	const lines = Array.from({ length: 2000 }, (_line, i) => JSON.stringify({ last_name: `Line ${i}` }));
	const { body: job } = await call('POST', '/v1/jobs?resource=contacts&operation=create', lines.join('\n'), ndjson);
	await end();
	const ended: Json = await until(() => {
		const found: Json = store.table('jobs')!.find(job.id);
		return found.finished_at !== null && found;
	});
	expect(ended).toMatchObject({ status: 'canceled', error: expect.stringMatching(/revoked|can no longer sign in|no longer has the right/) });
	expect((await get('/v1/contacts')).body.total).toBe(ended.processed);
	expect(ended.processed).toBeLessThan(2000);
});

const handOver = (id: string) => sandbox.patch(`/v1/contacts/${id}`, { owner_id: sandbox.admin });

test.each([
	...ends.map(([name, begin]) => [name, begin, name === 'who became a viewer'] as const),
	['whose record got another owner', (scopes: string[]) => ({ call: sandbox.as(sandbox.sales, scopes), end: handOver }), false] as const,
])('the next attempt at a delivery to somebody %s is made only if they see the record', async (_, begin, isSent) => {
	sandbox = tokenSandbox({ allowPrivateWebhooks: true, faults: true });
	const receiver = await startReceiver();
	const paths: string[] = [];
	receiver.answer = (request, response) => {
		paths.push(request.url!);
		response.writeHead(500).end();
	};
	const { call, end } = begin(webhookScopes);
	const urlOf = (path: string) => new URL(path, receiver.url).href;
	const { body: webhook } = await call('POST', '/v1/webhooks', { url: urlOf('/own'), events: ['contact.created'] });
	const { body: witness } = await sandbox.post('/v1/webhooks', { url: urlOf('/witness'), events: ['contact.created'] });
	const contact = await contactOf(sandbox.sales);
	const attempts = (path: string) => paths.filter((requested) => requested === path).length;
	// Stored, so that the next attempt is due before the clock is moved.
	const isAttempted = (id: string) => sandbox.store.deliveries.list(id, deliveryStatuses, undefined, 1).deliveries[0]?.attempts.length === 1;
	await until(() => isAttempted(webhook.id) && isAttempted(witness.id));
	await end(contact.id);
	await sandbox.post('/_sandbox/clock', { advance: 6 });
	// The webhook of the account shows that everything due was looked at.
	await until(() => attempts('/witness') === 2);
	await until(() => !isSent || attempts('/own') === 2);
	expect(attempts('/own')).toBe(isSent ? 2 : 1);
	await receiver.close();
	sandbox.store.close();
});

test('the role is checked at every use: an operation that it no longer allows is refused', async () => {
	const { sales, as, patch, get } = sandbox;
	const call = as(sales, ['contacts:read', 'contacts:write', 'users:write', 'users:read']);
	await contactOf(sandbox.admin);
	const contacts = async () => (await call('GET', '/v1/contacts')).body.total;
	const createStatus = async () => (await call('POST', '/v1/contacts', { last_name: 'x' })).status;
	const become = (role: string) => patch(`/v1/users/${sales}`, { role });
	expect([await contacts(), await createStatus()]).toEqual([0, 201]);
	await become('admin');
	expect([await contacts(), await createStatus()]).toEqual([2, 201]);
	await become('viewer');
	expect([await contacts(), await createStatus()]).toEqual([2, 403]);
	expect((await get('/v1/contacts')).body.total).toBe(3);
});

test('only owners can make somebody an owner or change an owner', async () => {
	const { admin, as, newUser } = sandbox;
	const id = await newUser('admin');
	const administrator = as(id, ['users:read', 'users:write']);
	const forbidden = { '/role': 'forbidden' };
	const userPath = `/v1/users/${id}`;
	const member = await as(sandbox.sales, ['users:write'])('PATCH', `/v1/users/${sandbox.sales}`, { role: 'owner' });
	expect(member.status).toBe(403);
	expect(errorsOf(await administrator('PATCH', userPath, { role: 'owner' }))).toEqual(forbidden);
	for (const change of [{ role: 'member' }, { email: 'mine@x.example' }, { status: 'invited' }]) {
		const response = await administrator('PATCH', `/v1/users/${admin}`, change);
		expect(errorsOf(response)).toEqual(forbidden);
	}
	await sandbox.patch(userPath, { role: 'owner' });
	expect((await administrator('DELETE', `/v1/users/${admin}`)).status).toBe(204);
});

test('revoking a grant deletes the webhooks made with it, and no others', async () => {
	const { sales, grant, with: callWith, store, post } = sandbox;
	const granted = [grant(sales, webhookScopes), grant(sales, webhookScopes)] as const;
	const ids: string[] = [];
	for (const { access } of granted) {
		ids.push((await callWith(access)('POST', '/v1/webhooks', hook)).body.id);
	}
	const { body: accounts } = await post('/v1/webhooks', hook);
	expect((await revoke(granted[0].refresh)).status).toBe(200);
	const left = store.table('webhooks')!.findAll([], 10);
	expect(left.map(({ id }) => id)).toEqual([ids[1], accounts.id]);
	expect(store.webhookSecrets.list(ids[0]!, Date.now())).toEqual([]);
	expect(store.events.page([{ sql: "type = 'webhook.deleted'", values: [] }], 10)).toHaveLength(1);
});

test('webhooks:write alone does not subscribe to records of custom objects, existing or future', async () => {
	const { sales, as, get, delete: remove } = sandbox;
	for (const { id, key } of (await get('/v1/custom-objects')).body.data as Json[]) {
		await remove(`/v1/custom-objects/${id}`);
		const stored = { ...hook, events: [`custom.${key}.*`] };
		expect((await as(sales, ['webhooks:write'])('POST', '/v1/webhooks', stored)).status).not.toBe(201);
	}
	for (const pattern of ['custom.*', '*']) {
		const call = as(sales, ['webhooks:write']);
		const { status, body } = await call('POST', '/v1/webhooks', { ...hook, events: [pattern] });
		expect([pattern, status, body.code]).toEqual([pattern, 403, 'insufficient_scope']);
	}
	const call = as(sales, ['webhooks:write', 'custom-objects:read']);
	const { status } = await call('POST', '/v1/webhooks', { ...hook, events: ['custom.*'] });
	expect(status).toBe(201);
});
