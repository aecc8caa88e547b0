import { DatabaseSync } from 'node:sqlite';
import { contacts } from '../../sandbox/core/schemas/contacts.ts';
import { searchConditions } from '../../sandbox/core/store/records/search.ts';
import { onFile } from './harness/databases.ts';
import { inProcess } from './harness/in-process.ts';

/** How SQLite reads contacts for which a condition holds, in the standard order. */
function planOf(path: string, sql: string, values: string[]): string {
	const database = new DatabaseSync(path, { readOnly: true });
	const select = `SELECT document FROM contacts WHERE ${sql} ORDER BY created_at, id LIMIT 50`;
	const rows = database.prepare(`EXPLAIN QUERY PLAN ${select}`).all(...values);
	database.close();
	return rows.map(({ detail }) => detail).join('\n');
}

test('reading among 10,000 scheduled messages parses only the due ones', async () => {
	let now = Date.parse('2026-03-01T09:30:00Z');
	const { store, post, get } = inProcess({ now: () => now });
	const message = { channel: 'email', direction: 'outbound', text: 'x', to: ['a@x.example'] };
	const later = { ...message, scheduled_at: '2027-01-01T00:00:00Z' };
	const { body: scheduled } = await post('/v1/messages', later);
	const table = store.table('messages')!;
	store.transaction(() => {
		for (let i = 0; i < 10_000; i++) table.save({ ...scheduled, id: `msg_0${i}` });
	});
	const { body: createdMessage } = await post('/v1/messages', message);
	now += 60_000;

	const parse = jest.spyOn(JSON, 'parse');
	const { body } = await get(`/v1/messages/${createdMessage.id}`);
	const parsed = parse.mock.calls.length;
	parse.mockRestore();
	expect(body.status).toBe('delivered');
	expect(parsed).toBeLessThan(50);
	expect((await get('/v1/messages?status=scheduled&limit=1')).body.total).toBe(10_001);
});

test('a search uses the search index', () => {
	const { store, path } = onFile({ contacts: 20 });
	const [condition] = searchConditions(contacts, 'moreno');
	const plan = planOf(path, condition!.sql, condition!.values as string[]);
	expect(plan).toContain('contacts_words VIRTUAL TABLE INDEX');
	expect(plan).not.toContain('SCAN contacts\n');
	store.close();
});

test('a batch prepares the table of a new custom object once', async () => {
	const { post } = inProcess();
	const named = { label_singular: 'Car', label_plural: 'Cars', primary_field: 'plate' };
	const { body: object } = await post('/v1/custom-objects', { key: 'cars', ...named });
	const field = { key: 'plate', label: 'Plate', type: 'text' };
	await post('/v1/custom-fields', { ...field, resource: 'custom-objects/cars/records' });

	const exec = jest.spyOn(DatabaseSync.prototype, 'exec');
	const items = Array.from({ length: 50 }, (_, i) => ({ custom_fields: { plate: `${i}` } }));
	const { body } = await post('/v1/custom-objects/cars/records/batch/create', { items });
	const createStatements = exec.mock.calls.filter(([sql]) => sql.includes(`EXISTS ${object.id} (`));
	exec.mockRestore();
	expect(body.summary.succeeded).toBe(50);
	expect(createStatements).toHaveLength(1);
});

test('reads in the thread see earlier writes, with their total', async () => {
	const { store, post, get } = onFile({ contacts: 20 });
	const count = async () => (await get('/v1/contacts?q=zyzzyva')).body.total;
	expect(await count()).toBe(0);
	const { body } = await post('/v1/contacts', { last_name: 'Zyzzyva' });
	expect((await get('/v1/contacts?q=zyzzyva')).body).toMatchObject({ data: [body], total: 1 });
	expect((await get('/v1/events?type=contact.created')).body.total).toBe(1);
	store.close();
});

test('a closed store fails the reads that wait for its thread', async () => {
	const { store } = onFile({ contacts: 20 });
	const order = [{ column: 'id', descending: false }];
	const conditions = searchConditions(contacts, 'moreno');
	const selection = { conditions, order, after: undefined, includeDeleted: false, limit: 1 };
	const reading = store.table('contacts')!.list(selection);
	store.close();
	await expect(reading).rejects.toThrow('The store was closed.');
});
