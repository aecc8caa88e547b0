import { join } from 'node:path';
import { Store } from '../../sandbox/core/store/store.ts';
import { deliveryStatuses } from '../../sandbox/core/schemas/webhook-deliveries.ts';
import { ended } from '../sandbox/harness/job-client.ts';
import { inProcess, type InProcess, type Json } from '../sandbox/harness/in-process.ts';
import { useFolderOfFile } from '../temporary-folder.ts';

const folder = useFolderOfFile();

const count = 25;
const maxBytes = 2_600_000;

/** A sandbox with messages of half a megabyte. */
async function withLargeMessages(path: string): Promise<InProcess> {
	const sandbox = inProcess({ store: new Store(path) });
	for (let i = 0; i < count; i++) {
		const text = `${i}`.padEnd(250_000, 'x');
		const message = { channel: 'other', direction: 'inbound', to: ['x'], text, html: text };
		expect((await sandbox.post('/v1/messages', message)).status).toBe(201);
	}
	return sandbox;
}

/** The sizes of the pages of a list, and everything on them. */
async function read({ send }: InProcess, path: string): Promise<{ sizes: number[]; data: Json[] }> {
	const sizes: number[] = [];
	const data: Json[] = [];
	for (let cursor = ''; ; ) {
		const { body } = await send('GET', `${path}limit=500${cursor}`);
		sizes.push(JSON.stringify(body).length);
		data.push(...body.data);
		if (body.next_cursor === null) return { sizes, data };
		expect(body.total).toBe(count);
		cursor = `&cursor=${body.next_cursor}`;
	}
}

test.each([':memory:', 'file.db'])('a page of large records ends at some megabytes, with a cursor (%s)', async (name) => {
	const sandbox = await withLargeMessages(name === ':memory:' ? name : join(folder, name));
	for (const path of [
		'/v1/messages?',
		'/v1/messages?channel=other&',
		'/v1/messages?sort=-updated_at&',
		'/v1/events?type=message.created&',
		'/v1/events?type=message.created&sort=-sequence&',
	]) {
		const { sizes, data } = await read(sandbox, path);
		expect(sizes.length).toBeGreaterThan(2);
		expect(Math.max(...sizes)).toBeLessThan(maxBytes);
		const ids = data.map(({ id }: Json) => id);
		expect([new Set(ids).size, ids.length]).toEqual([count, count]);
	}
	sandbox.store.close();
});

test('an export of large records has all of them', async () => {
	const sandbox = await withLargeMessages(':memory:');
	const { body: job } = await sandbox.post('/v1/jobs?resource=messages&operation=export', undefined);
	await ended(sandbox, job.id);
	const { body } = await sandbox.get(`/v1/jobs/${job.id}/results`);
	expect(new Set(body.map(({ id }: Json) => id)).size).toBe(count);
	sandbox.store.close();
});

test('a page of deliveries with very many attempts ends at some megabytes, with a cursor', async () => {
	const { store, post, get, all } = inProcess();
	const { body: hook } = await post('/v1/webhooks', { url: 'https://x.example/hook', events: ['contact.*'], status: 'active' });
	for (let i = 0; i < count; i++) await post('/v1/contacts', { last_name: `${i}` });
	await post(`/v1/webhooks/${hook.id}/recover`, { since: new Date(Date.now() - 60_000).toISOString() });
	const path = `/v1/webhooks/${hook.id}/deliveries`;
	const attempt = { started_at: new Date().toISOString(), duration_ms: 1, response_status: 500, error: 'x'.repeat(1000) };
	for (const delivery of (await store.deliveries.list(hook.id, deliveryStatuses, undefined, 100)).deliveries) {
		store.deliveries.save({ ...delivery, status: 'failed', nextAttemptAt: null, attempts: Array(500).fill(attempt) });
	}
	const { body } = await get(`${path}?limit=500`);
	expect([body.data.length < count, body.next_cursor === null, body.total]).toEqual([true, false, count]);
	expect(JSON.stringify(body).length).toBeLessThan(maxBytes);
	expect(new Set((await all(`${path}?limit=500`)).map(({ id }) => id)).size).toBe(count);
	store.close();
});
