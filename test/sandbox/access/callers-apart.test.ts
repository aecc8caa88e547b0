import { until } from '../../support/until.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import type { Call, Json } from '../harness/in-process.ts';
import { ndjson } from '../harness/job-client.ts';

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
		['an application of an administrator', through(admin)],
		['a key', sandbox.send],
		['another key', sandbox.with('other-key')],
	]);
});

/** An API key finds everything in the account; an application finds only what it has made for its user. */
const finds = (caller: string, maker: string) => caller === maker || caller.endsWith('key');

test('a webhook is visible to the application that created it and to API keys, and to no others', async () => {
	for (const [name, make] of callers) {
		const hook = { url: 'https://x.example/hook', events: ['contact.*'] };
		const { body, status } = await make('POST', '/v1/webhooks', hook);
		expect([name, status]).toEqual([name, 201]);
		const path = `/v1/webhooks/${body.id}`;
		for (const [other, call] of callers) {
			const isFound = finds(other, name);
			const found: unknown[] = [
				(await call('GET', path)).status,
				(await call('GET', '/v1/webhooks')).body.data.some(({ id }: Json) => id === body.id),
				(await call('PATCH', path, { description: other })).status,
				(await call('POST', `${path}/rotate-secret`)).status,
				(await call('GET', `${path}/deliveries`)).status,
				(await call('GET', '/v1/events?type=webhook.*&limit=500')).body.data.some(({ data }: Json) => data.object.id === body.id),
			];
			if (!isFound) found.push((await call('DELETE', path)).status);
			const expected = isFound ? [200, true, 200, 200, 200, true] : [404, false, 404, 404, 404, false, 404];
			expect([`${name}'s for ${other}`, ...found]).toEqual([`${name}'s for ${other}`, ...expected]);
		}
	}
});

test('a job is visible to the application that started it and to API keys, and to no others', async () => {
	for (const [name, start] of callers) {
		const query = 'resource=contacts&operation=create';
		const { body, status } = await start('POST', `/v1/jobs?${query}`, '{"last_name":"x"}\n'.repeat(300), ndjson);
		expect([name, status]).toEqual([name, 202]);
		const path = `/v1/jobs/${body.id}`;
		for (const [other, call] of callers) {
			if (finds(other, name)) {
				expect([other, (await call('GET', path)).status]).toEqual([other, 200]);
				continue;
			}
			const found = [
				(await call('GET', path)).status,
				(await call('GET', `${path}/results`)).status,
				(await call('POST', `${path}/cancel`)).status,
				(await call('GET', '/v1/jobs')).body.data.some(({ id }: Json) => id === body.id),
			];
			expect([`${name}'s for ${other}`, ...found]).toEqual([`${name}'s for ${other}`, 404, 404, 404, false]);
		}
		await until(async () => (await start('GET', path)).body.finished_at);
		for (const [other, call] of callers) {
			const events = (await call('GET', '/v1/events?type=job.*&limit=500')).body.data;
			const isTold = events.some(({ data }: Json) => data.object.id === body.id);
			expect([`${name}'s for ${other}`, isTold]).toEqual([`${name}'s for ${other}`, finds(other, name)]);
		}
	}
});

test('an idempotency key belongs to its caller: the same key of another caller has no effect on it', async () => {
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
