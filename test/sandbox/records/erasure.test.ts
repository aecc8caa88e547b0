import { readFileSync } from 'node:fs';
import { tokenSandbox } from '../harness/access-tokens.ts';
import { newDatabase } from '../harness/databases.ts';
import { inProcess } from '../harness/in-process.ts';
import { runJob } from '../harness/job-client.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { startWebhookSandbox } from '../harness/webhook-client.ts';

const secrets = { last_name: 'Verschwindibus', email: 'gone@vanished.example', phone: '+491701234567' };
const traces = ['Verschwindibus', 'verschwindibus', 'vanished.example', '491701234567', 'Wunschname'];

test('nothing but the ID of an erased record remains: not in lists, events, repeated responses or results of jobs', async () => {
	const path = newDatabase();
	const store = new Store(path);
	const sandbox = inProcess({ store });
	const { get, post, patch, all, send } = sandbox;
	const key = { 'Idempotency-Key': 'k' };
	const { body } = await post('/v1/contacts', secrets, key);
	await post('/v1/contacts/batch/update', { items: [{ id: body.id, first_name: 'Wunschname' }] }, { 'Idempotency-Key': 'b' });
	await patch(`/v1/contacts/${body.id}`, { first_name: 'x' });
	const { job } = await runJob(sandbox, 'update', JSON.stringify({ id: body.id, job_title: 'y' }));
	const { job: exported } = await runJob(sandbox, 'export&fields=last_name,email');
	await sandbox.delete(`/v1/contacts/${body.id}`);
	const first = (await all('/v1/events?type=contact.*')).length;

	expect((await sandbox.delete(`/v1/contacts/${body.id}?permanent=true`)).status).toBe(204);
	expect((await get(`/v1/contacts/${body.id}`)).status).toBe(404);
	expect((await sandbox.delete(`/v1/contacts/${body.id}?permanent=true`)).status).toBe(404);
	const tombstone = { id: body.id, deleted_at: expect.any(String), erased_at: expect.any(String) };
	expect(await all(`/v1/contacts?ids=${body.id}&include_deleted=true`)).toEqual([tombstone]);
	const events = await all('/v1/events?type=contact.*');
	expect(events).toHaveLength(first + 1);
	expect(events.at(-1)).toMatchObject({ type: 'contact.erased', request: { id: expect.any(String) } });
	for (const { data } of events) expect(data).toEqual({ object: { id: body.id }, erased: true });
	const again = await post('/v1/contacts', secrets, key);
	expect([again.status, again.body]).toEqual([201, { id: body.id, erased: true }]);
	const results = [job, exported].map(async ({ id }) => (await send('GET', `/v1/jobs/${id}/results`)).body);
	expect(await Promise.all(results)).toMatchObject([
		[{ index: 0, status: 200, id: body.id, data: { id: body.id, erased: true } }],
		[{ id: body.id, erased: true }],
	]);
	const files = [path, `${path}-wal`].map((file) => readFileSync(file, 'latin1')).join('');
	expect(traces.filter((trace) => files.includes(trace))).toEqual([]);
	store.close();
});

test('only administrators with the scope records:erase, and API keys, erase records', async () => {
	const { post, as, admin, sales } = tokenSandbox();
	const { id } = (await post('/v1/contacts', { last_name: 'x', owner_id: sales })).body;
	const scopes = ['contacts:write', 'records:erase'];
	const erase = async (user: string, granted: string[]) => (await as(user, granted)('DELETE', `/v1/contacts/${id}?permanent=true`)).status;
	expect(await erase(sales, scopes)).toBe(403);
	expect(await erase(admin, ['contacts:write'])).toBe(403);
	expect(await erase(admin, scopes)).toBe(204);
});

test('whoever saw messages only through an erased contact gets deleted for them', async () => {
	const { post, as, all, sales, delete: remove } = tokenSandbox();
	const contact = (await post('/v1/contacts', { last_name: 'x', owner_id: sales })).body;
	const message = { channel: 'email', direction: 'inbound', to: ['x@x.example'], text: 'x', contact_id: contact.id };
	const { id } = (await post('/v1/messages', message)).body;
	const read = as(sales, ['contacts:read', 'messages:read', 'events:read']);
	expect((await read('GET', `/v1/messages/${id}`)).status).toBe(200);
	await remove(`/v1/contacts/${contact.id}?permanent=true`);
	expect((await read('GET', `/v1/messages/${id}`)).status).toBe(404);
	const types = (await read('GET', '/v1/events?sort=-sequence&limit=2')).body.data.map(({ type }: { type: string }) => type);
	expect(types).toEqual(['message.deleted', 'contact.erased']);
	expect(await all('/v1/events?type=message.deleted')).toEqual([]);
});

test('a webhook gets the erasure, and no earlier values', async () => {
	const { receiver, subscribe, happen, patch, post, close, delete: remove } = await startWebhookSandbox();
	const { id } = await subscribe('contact.*');
	await patch(`/v1/webhooks/${id}`, { status: 'paused' });
	const contact = await happen('Verschwindibus');
	await remove(`/v1/contacts/${contact.id}?permanent=true`);
	await patch(`/v1/webhooks/${id}`, { status: 'active' });
	await post(`/v1/webhooks/${id}/recover`, { since: new Date(0).toISOString() });
	const data = { object: { id: contact.id }, erased: true };
	expect(await receiver.events(2)).toMatchObject([{ type: 'contact.created', data }, { type: 'contact.erased', data }]);
	await close();
});
