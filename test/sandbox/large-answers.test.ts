import { DatabaseSync } from 'node:sqlite';
import threads from 'node:worker_threads';
import { inTurns } from '../../sandbox/core/foundation/background.ts';
import { BackgroundReader } from '../../sandbox/core/store/threads/background-reader.ts';
import { FormTexts } from '../../sandbox/web/pages/form-texts.ts';
import { startConsole } from './harness/console.ts';
import { newDatabase, onFile } from './harness/databases.ts';
import type { Json } from './harness/in-process.ts';
import { maxPerTurn } from './harness/max-per-turn.ts';

const sandbox = onFile({ contacts: 60 });
const text = 'ä'.repeat(200_000);
beforeAll(async () => {
	for (let i = 0; i < 7; i++) {
		await sandbox.post('/v1/messages', { channel: 'other', direction: 'inbound', to: ['x'], text, html: text });
	}
});
afterEach(() => jest.restoreAllMocks());

/** From now on, each reading of the clock is a millisecond later. */
function eachLookTakesLong() {
	let time = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => time++);
}

test('large records that a thread has read are taken one by one, with other requests between them', async () => {
	const parts = jest.spyOn(threads, 'receiveMessageOnPort');
	const list = sandbox.get('/v1/messages?channel=other');
	expect(await maxPerTurn(parts, list)).toBe(1);
	const { body } = await list;
	expect(body.data.map((message: Json) => message.text === text && message.html === text)).toEqual(Array(body.data.length).fill(true));
	expect(parts.mock.calls.length).toBeGreaterThan(body.data.length);
	const all = await sandbox.all('/v1/messages?channel=other&sort=-updated_at');
	expect(new Set(all.map(({ id }) => id)).size).toBe(7);
});

test('a page of large records is read in the thread even if an index has its order', async () => {
	const aside = jest.spyOn(BackgroundReader.prototype, 'read');
	await sandbox.get('/v1/messages?limit=2');
	expect(aside).not.toHaveBeenCalled();
	const { body } = await sandbox.get('/v1/messages?sort=-created_at&limit=500');
	expect(aside).toHaveBeenCalledTimes(1);
	expect([body.data.length > 1, body.total]).toEqual([true, (await sandbox.get('/v1/messages?limit=1')).body.total]);
});

test('if a reader is closed while rows are taken, they are complete or the read fails', async () => {
	const path = newDatabase();
	const database = new DatabaseSync(path);
	database.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (value)');
	for (let i = 0; i < 20; i++) database.prepare('INSERT INTO one VALUES (?)').run(text);
	const reader = new BackgroundReader(database, path);
	const read = reader.read([{ sql: 'SELECT value FROM one', values: [] }]);
	const thread = reader['threads'][0]!['thread'];
	const closed = new Promise((resolve) => thread.once('exit', resolve));
	thread.once('message', () => reader.close());
	const outcome = await read.then(([rows]) => rows!.length, (error: Error) => error.message);
	expect([20, 'The store was closed.']).toContain(outcome);
	await closed;
	database.close();
});

test('long work on many items runs in turns', async () => {
	let time = 0;
	jest.spyOn(performance, 'now').mockImplementation(() => time);
	const effect = jest.fn((i: number) => {
		time += 0.1;
		return 2 * i;
	});
	const done = inTurns([1, 2, 3, 4, 5, 6, 7], effect);
	expect(effect).not.toHaveBeenCalled();
	expect(await maxPerTurn(effect as never, done)).toBe(3);
	expect(await done).toEqual([2, 4, 6, 8, 10, 12, 14]);
});

test('a page of records with only some fields is built in turns', async () => {
	eachLookTakesLong();
	const parsed = jest.spyOn(JSON, 'parse');
	const list = sandbox.get('/v1/contacts?fields=name&limit=50');
	expect(await maxPerTurn(parsed, list)).toBeLessThan(20);
	expect(parsed.mock.calls.length).toBeGreaterThan(50);
	expect((await list).body.data.length).toBe(50);
});

test('a form is shown in turns, field by field', async () => {
	const crm = await startConsole();
	try {
		eachLookTakesLong();
		const texts = jest.spyOn(FormTexts.prototype, 'get');
		const form = crm.admin.open('/records/contacts/new');
		const maxCalls = await maxPerTurn(texts, form);
		expect(maxCalls).toBeLessThan(texts.mock.calls.length / 2);
		expect((await form).html).toContain('</html>');
	} finally {
		await crm.close();
	}
});
