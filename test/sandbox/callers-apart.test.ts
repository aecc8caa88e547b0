import { type Call, type TokenSandbox, tokenSandbox } from './access-tokens.ts';

let sandbox: TokenSandbox;
/** The callers of one account: two applications of one user, another user, two keys. */
let callers: Map<string, Call>;

const scopes = ['contacts:read', 'contacts:write', 'events:read', 'webhooks:read', 'webhooks:write', 'jobs:read', 'jobs:write'];

beforeEach(() => {
	sandbox = tokenSandbox();
	const { admin, sales, store } = sandbox;
	store.clients.add({ id: 'cli_other', name: 'Other', redirectUris: [], createdAt: 0 }, undefined);
	store.apiKeys.add('key_other', 'other-key');
	const through = (userId: string, client?: string) => sandbox.with(sandbox.grant(userId, scopes, client).access);
	callers = new Map([
		['an application', through(sales)],
		['another application', through(sales, 'cli_other')],
		['the same of an administrator', through(admin)],
		['a key', sandbox.send],
		['another key', sandbox.with('other-key')],
	]);
});

test('a webhook is there for the application or key that made it, and for no other', async () => {
	for (const [name, make] of callers) {
		const hook = { url: 'https://x.example/hook', events: ['contact.*'] };
		const { body, status } = await make('POST', '/v1/webhooks', hook);
		expect([name, status]).toEqual([name, 201]);
		const path = `/v1/webhooks/${body.id}`;
		for (const [other, call] of callers) {
			const isOwn = name === other;
			const found: unknown[] = [
				(await call('GET', path)).status,
				(await call('GET', '/v1/webhooks')).body.data.some(({ id }: { id: string }) => id === body.id),
				(await call('PATCH', path, { description: other })).status,
				(await call('POST', `${path}/rotate-secret`)).status,
				(await call('GET', `${path}/deliveries`)).status,
				(await call('GET', '/v1/events?type=webhook.*&limit=500')).body.data.some(
					({ data }: { data: { object: { id: string } } }) => data.object.id === body.id,
				),
			];
			if (!isOwn) found.push((await call('DELETE', path)).status);
			const expected = isOwn ? [200, true, 200, 200, 200, true] : [404, false, 404, 404, 404, false, 404];
			expect([`${name}'s for ${other}`, ...found]).toEqual([`${name}'s for ${other}`, ...expected]);
		}
	}
});

test('a job is there for the application or key that started it, and for no other', async () => {
	for (const [name, start] of callers) {
		const query = 'resource=contacts&operation=create';
		const type = { 'Content-Type': 'application/x-ndjson' };
		const { body, status } = await start('POST', `/v1/jobs?${query}`, '{"last_name":"x"}\n'.repeat(300), type);
		expect([name, status]).toEqual([name, 202]);
		const path = `/v1/jobs/${body.id}`;
		for (const [other, call] of callers) {
			if (other === name) continue;
			const found = [
				(await call('GET', path)).status,
				(await call('GET', `${path}/results`)).status,
				(await call('POST', `${path}/cancel`)).status,
				(await call('GET', '/v1/jobs')).body.data.some(({ id }: { id: string }) => id === body.id),
			];
			expect([`${name}'s for ${other}`, ...found]).toEqual([`${name}'s for ${other}`, 404, 404, 404, false]);
		}
		while ((await start('GET', path)).body.finished_at === null) await new Promise(setImmediate);
		for (const [other, call] of callers) {
			const events = (await call('GET', '/v1/events?type=job.*&limit=500')).body.data;
			const isTold = events.some(({ data }: { data: { object: { id: string } } }) => data.object.id === body.id);
			expect([`${name}'s for ${other}`, isTold]).toEqual([`${name}'s for ${other}`, name === other]);
		}
	}
});

test('a key is a caller’s own: what another has sent with it is neither an obstacle nor an answer', async () => {
	const headers = { 'Idempotency-Key': 'one for all' };
	const ids = new Set<string>();
	for (const [name, call] of callers) {
		const { status, body } = await call('POST', '/v1/contacts', { last_name: name }, headers);
		expect([name, status, body.last_name]).toEqual([name, 201, name]);
		expect((await call('POST', '/v1/contacts', { last_name: name }, headers)).body.id).toBe(body.id);
		ids.add(body.id);
	}
	expect(ids.size).toBe(callers.size);
});

test('the same key with another condition is another request', async () => {
	const { body } = await sandbox.post('/v1/contacts', { last_name: 'x' });
	const change = (version: number) =>
		sandbox.patch(`/v1/contacts/${body.id}`, { first_name: 'y' }, { 'Idempotency-Key': 'k', 'If-Match': `"${version}"` });
	expect((await change(1)).status).toBe(200);
	expect((await change(1)).headers.get('Idempotent-Replayed')).toBe('true');
	expect((await change(2)).body.code).toBe('idempotency_key_reused');
});

test('after a user is active again, only the same application finds the paused webhook', async () => {
	const { sales, post, patch, grant, with: callWith, delete: remove } = sandbox;
	const hook = { url: 'https://x.example/hook', events: ['contact.*'] };
	const { body } = await callers.get('an application')!('POST', '/v1/webhooks', hook);
	await remove(`/v1/users/${sales}`);
	await patch(`/v1/users/${sales}`, { status: 'active' });
	const path = `/v1/webhooks/${body.id}`;
	const another = callWith(grant(sales, scopes, 'cli_other').access);
	expect((await another('PATCH', path, { status: 'active' })).status).toBe(404);
	const same = callWith(grant(sales, scopes).access);
	expect((await same('PATCH', path, { status: 'active' })).body.status).toBe('active');
	await post('/v1/contacts', { last_name: 'x' });
	expect(sandbox.store.deliveries.count(body.id, ['pending', 'succeeded', 'failed'])).toBe(1);
});
