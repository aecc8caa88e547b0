import { DatabaseSync, StatementSync } from 'node:sqlite';
import { BackgroundReader } from '../../sandbox/core/store/threads/background-reader.ts';
import { EventReader } from '../../sandbox/core/store/log/event-reader.ts';
import { JobLines } from '../../sandbox/core/store/job-lines.ts';
import { RecordReader } from '../../sandbox/core/store/records/record-reader.ts';
import { Table } from '../../sandbox/core/store/records/table.ts';
import { until } from '../until.ts';
import { newDatabase, onFile } from './harness/databases.ts';
import { inProcess, type Json } from './harness/in-process.ts';
import { ended, startJob } from './harness/job-client.ts';

afterEach(() => jest.restoreAllMocks());


test('two slow searches do not delay a third one', async () => {
	const path = newDatabase();
	const database = new DatabaseSync(path);
	database.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (value); INSERT INTO one VALUES (1)');
	const reader = new BackgroundReader(database, path);
	const slow = {
		sql: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT count(*) AS value FROM n',
		values: [100_000],
	};
	const quick = { sql: 'SELECT value FROM one', values: [] };
	const reads = [slow, slow, quick].map((query) => reader.read([query]));
	// Each has a thread to itself, so none waits for the end of another.
	expect(reader['threads'].map(({ load }) => load)).toEqual([1, 1, 1]);
	expect((await Promise.all(reads)).map(([rows]) => rows![0]!['value'])).toEqual([100_000, 100_000, 1]);
	reader.close();
	database.close();
});

test('a thread that is closed during a read fails it, even if its result is ready', async () => {
	const path = newDatabase();
	const database = new DatabaseSync(path);
	const reader = new BackgroundReader(database, path);
	const query = { sql: 'SELECT 1 AS value', values: [] };
	await reader.read([query]);
	const read = reader.read([query]);
	const answered = jest.fn();
	const thread = reader['threads'][0]!['thread'];
	thread.prependListener('message', answered);
	// The answer arrives while this thread is busy.
	Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
	const closed = new Promise((resolve) => thread.once('exit', resolve));
	reader.close();
	database.close();
	await expect(read).rejects.toThrow('The store was closed.');
	await closed;
	expect(answered).toHaveBeenCalledTimes(1);
});

test('an export reads its records while other requests run', async () => {
	const sandbox = onFile({ contacts: 50 });
	const pages = jest.spyOn(RecordReader.prototype, 'page');
	const reads = jest.spyOn(BackgroundReader.prototype, 'read');
	const counts = jest.spyOn(RecordReader.prototype, 'count');
	const { body } = await startJob(sandbox, 'export&lead_source=referral');
	const job = await ended(sandbox, body.id);
	expect(job.total).toBeGreaterThan(0);
	const ofContacts = pages.mock.contexts.filter((reader) => (reader as RecordReader).resource.name === 'contacts');
	expect([ofContacts.length, counts.mock.calls.length]).toEqual([0, 0]);
	expect(reads.mock.calls.flat(2).filter(({ sql }) => sql.includes('FROM contacts')).length).toBe(3);
	sandbox.store.close();
});

test('the page of a record finds its events by an index', () => {
	const { store, path } = onFile({ contacts: 50 });
	const database = new DatabaseSync(path, { readOnly: true });
	const sql = 'SELECT * FROM events WHERE resource = ? AND record_id = ? ORDER BY sequence DESC LIMIT 11';
	const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all('contacts', 'con_1');
	expect(plan.map(({ detail }) => detail).join()).toContain('USING INDEX events_by_record');
	database.close();
	store.close();
});

test('thousands of messages that are due at once do not hold up a request', async () => {
	let now = Date.parse('2026-03-01T09:30:00Z');
	const { store, post, get, patch } = inProcess({ now: () => now });
	const message = { channel: 'email', direction: 'outbound', text: 'x', to: ['a@x.example'] };
	const { body: scheduled } = await post('/v1/messages', { ...message, scheduled_at: '2026-03-02T00:00:00Z' });
	const table = store.table('messages')!;
	store.transaction(() => {
		for (let i = 0; i < 2000; i++) table.save({ ...scheduled, id: `msg_0${i}` });
	});
	now += 7 * 24 * 60 * 60 * 1000;
	const waiting = () => table.count([{ sql: '"status" = ?', values: ['scheduled'] }]);
	expect((await get('/v1/contacts')).status).toBe(200);
	expect(waiting()).toBeGreaterThan(1900);
	// A record that is read by its ID has its present state.
	expect((await get('/v1/messages/msg_01999')).body.status).toBe('delivered');
	const refused: Json = await patch('/v1/messages/msg_01998', { text: 'Another' });
	expect(refused.body.status ?? refused.body.code).not.toBe('scheduled');
	expect(waiting()).toBeGreaterThan(1500);
	await until(() => waiting() === 0);
	expect((await get('/v1/messages?status=scheduled')).body.total).toBe(0);
	store.close();
});

test('a request waits at most some milliseconds for a job, however long its lines take', async () => {
	const sandbox = inProcess();
	const { store } = sandbox;
	let time = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => time);
	const { add } = Table.prototype;
	// A line takes 3 ms, and nothing else takes any time.
	jest.spyOn(Table.prototype, 'add').mockImplementation(function (this: Table, ...args) {
		time += 3;
		add.apply(this, args);
	});
	const steps = jest.spyOn(JobLines.prototype, 'dropUntil');
	const lines = Array.from({ length: 60 }, (_, i) => ({ last_name: `${i}` }));
	// Two requests within 25 ms: pieces are short for those who ask again soon, not for those who poll.
	await sandbox.get('/v1/contacts?limit=1');
	const { body } = await startJob(sandbox, 'create', lines);
	// A request would make the pieces shorter again.
	while (store.jobLines.last(body.id)) await new Promise((resolve) => setImmediate(resolve));
	const last = steps.mock.calls.map(([, position]) => position).filter((position) => position < 60);
	const sizes = last.map((position, i) => position - (last[i - 1] ?? -1));
	// For 5 ms after the request, a piece ends with the line that exceeds it; later there are three lines in one.
	expect(sizes).toEqual([1, 1, ...Array<number>(19).fill(3), 1]);
	expect((await ended(sandbox, body.id)).succeeded).toBe(60);
	expect((await sandbox.all('/v1/contacts')).map(({ last_name: name }) => name)).toEqual(Array.from({ length: 60 }, (_, i) => `${i}`));
	store.close();
});

test('a request finds its API key by the hash, and reads no other key', async () => {
	const { store, get } = inProcess();
	for (let i = 0; i < 50; i++) store.apiKeys.add(`key_${i}`, `key ${i}`);
	const rows = jest.spyOn(StatementSync.prototype, 'all');
	expect((await get('/v1/contacts')).status).toBe(200);
	const read = (rows.mock.contexts as StatementSync[]).filter(({ sourceSQL }) => sourceSQL.includes('api_keys'));
	expect(read).toEqual([]);
	store.close();
});

test('recovering missed events reads where they are stored, and not their content', async () => {
	const { store, post } = inProcess();
	await post('/v1/contacts', { last_name: 'missed' });
	const { body } = await post('/v1/webhooks', { url: 'https://x.example/hook', events: ['contact.*'] });
	const pages = jest.spyOn(EventReader.prototype, 'page');
	const since = new Date(Date.now() - 60_000).toISOString();
	expect((await post(`/v1/webhooks/${body.id}/recover`, { since })).body).toEqual({ recovered: 1 });
	expect(pages).not.toHaveBeenCalled();
	store.close();
});

test('limits are stated in the document, and enforced', async () => {
	const { store, post, get } = inProcess();
	const { paths } = (await get('/openapi.json')).body;
	const maxCustomFields = paths['/v1/custom-fields'].post['x-limits'].custom_fields;
	const type = paths['/v1/events'].get.parameters.find(({ name }: Json) => name === 'type');
	expect([maxCustomFields, type.schema.maxItems]).toEqual([500, 100]);
	expect(paths['/v1/jobs'].post['x-limits']).toEqual({ lines: 100_000, bytes: 50_000_000, line_bytes: 1_048_576 });
	const field = (i: number) => ({ resource: 'notes', key: `key_${i}`, label: 'x', type: 'text' });
	for (let i = 0; i < maxCustomFields; i += 100) {
		const items = Array.from({ length: 100 }, (_, k) => field(i + k));
		expect((await post('/v1/custom-fields/batch/create', { items })).body.summary.failed).toBe(0);
	}
	const refused = await post('/v1/custom-fields', field(maxCustomFields));
	expect([refused.status, refused.body.errors]).toMatchObject([422, [{ pointer: '/resource', code: 'too_many' }]]);
	expect((await post('/v1/custom-fields', { ...field(0), resource: 'tasks' })).status).toBe(201);
	const types = (count: number) => Array(count).fill('contact.*').join();
	expect((await get(`/v1/events?type=${types(100)}`)).status).toBe(200);
	expect((await get(`/v1/events?type=${types(1500)}`)).body.code).toBe('invalid_parameter');
	const filters = Array.from({ length: 101 }, (_, i) => `custom_fields.key_${i}=x`).join('&');
	expect((await get(`/v1/notes?${filters}`)).body.code).toBe('invalid_parameter');
	store.close();
});
