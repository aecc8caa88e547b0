import { Store } from '../../../sandbox/core/store/store.ts';
import { until } from '../../support/until.ts';
import { newDatabase } from '../harness/databases.ts';
import { inProcess } from '../harness/in-process.ts';
import { startJob } from '../harness/job-client.ts';
import { DatabaseSync } from 'node:sqlite';
import { contacts } from '../../../sandbox/core/schemas/contacts.ts';
import type { StoredRecord } from '../../../sandbox/core/schemas/resource.ts';
import { startSandbox } from '../../../sandbox/serve.ts';
import { Table } from '../../../sandbox/core/store/records/table.ts';

const noon = Date.parse('2026-03-01T12:00:00.000Z');
const sendable = { channel: 'email', direction: 'outbound', text: 'x', to: ['a@x.example'] };

test('a client that reads records updated since the latest change misses no later change', async () => {
	let now = noon;
	const sandbox = inProcess({ now: () => now });
	const { store, get, post } = sandbox;
	const { body: message } = await post('/v1/messages', sendable);
	now += 60_000;
	// A job does not look at what is due, so its records are written before the message's steps.
	const job = await startJob(sandbox, 'create', [{ last_name: 'x' }]);
	await until(() => store.table('jobs')!.find(job.body.id)!['finished_at']);
	const [contact] = store.table('contacts')!.findAll([], 1);
	expect(contact!.updated_at).toBe('2026-03-01T12:01:00.000Z');

	const { body } = await get(`/v1/messages?updated_since=${contact!.updated_at}`);
	expect(body.data).toMatchObject([{ id: message.id, status: 'delivered' }]);
	// The message keeps the time at which it was sent.
	expect(body.data[0].sent_at).toBe('2026-03-01T12:00:02.000Z');
	const events = (await get('/v1/events')).body.data.map(({ timestamp }: { timestamp: string }) => timestamp);
	expect(events).toEqual(events.toSorted());
});

test('times of changes never decrease, even if the clock does, and after a restart', async () => {
	const path = newDatabase();
	let now = noon;
	const first = inProcess({ store: new Store(path), now: () => now });
	const { body } = await first.post('/v1/contacts', { last_name: 'x' });
	now -= 3_600_000;
	const contactPath = `/v1/contacts/${body.id}`;
	expect((await first.patch(contactPath, { last_name: 'y' })).body.updated_at).toBe(body.updated_at);
	first.store.close();

	const second = inProcess({ store: new Store(path), now: () => now });
	expect((await second.patch(contactPath, { last_name: 'z' })).body.updated_at).toBe(body.updated_at);
	expect((await second.post('/v1/tasks', { title: 'x' })).body.created_at).toBe(body.updated_at);
	second.store.close();
});

test('totals follow creations, deletions and undone changes', async () => {
	const { get, post, delete: remove } = inProcess({ contacts: 3 });
	const totals = async () => {
		const { body: live } = await get('/v1/contacts?limit=1');
		const { body: all } = await get('/v1/contacts?limit=1&include_deleted=true');
		return [live.total, all.total];
	};
	expect(await totals()).toEqual([3, 3]);
	const { body } = await post('/v1/contacts', { last_name: 'x' });
	expect(await totals()).toEqual([4, 4]);
	await remove(`/v1/contacts/${body.id}`);
	expect(await totals()).toEqual([3, 4]);
	const items = [{ last_name: 'x' }, { email: 'no address' }];
	await post('/v1/contacts/batch/create', { items, atomic: true });
	expect(await totals()).toEqual([3, 4]);
	await post('/v1/contacts/batch/create', { items });
	expect(await totals()).toEqual([4, 5]);
});

const record: StoredRecord = {
	id: 'con_1',
	version: 1,
	created_at: '2025-01-01T00:00:00.000Z',
	updated_at: '2025-01-01T00:00:00.000Z',
	deleted_at: null,
	email: 'ana@x.example',
	job_title: 'Buyer',
	tag_ids: [],
};

test('a file of another version is refused, and keeps its records', async () => {
	const path = newDatabase();
	const { job_title: _, ...properties } = contacts.properties;
	const earlier = new DatabaseSync(path);
	new Table(earlier, { ...contacts, properties }).save(record);
	earlier.close();
	await expect(startSandbox({ db: path })).rejects.toThrow(
		`${path} was created by another version of the sandbox and was not changed. Choose another file with --db, or delete this one to start over.`,
	);
	const again = new DatabaseSync(path);
	expect(again.prepare('SELECT id FROM contacts').all()).toMatchObject([{ id: record.id }]);
	again.close();
});
