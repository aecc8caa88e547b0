import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createApp } from '../../sandbox/app.ts';
import { FormTexts } from '../../sandbox/web/pages/form-texts.ts';
import { Background } from '../../sandbox/core/foundation/background.ts';
import { BackgroundReader } from '../../sandbox/core/store/threads/background-reader.ts';
import { ThreadReader } from '../../sandbox/core/store/threads/thread-reader.ts';
import { Store } from '../../sandbox/core/store/store.ts';
import { until } from '../until.ts';
import { newDatabase, onFile } from './harness/databases.ts';
import { inProcess, type Json } from './harness/in-process.ts';
import { maxPerTurn } from './harness/max-per-turn.ts';
import './harness/quick-passwords.ts';
import { hiddenValue, newBrowser } from './harness/scripted-browser.ts';

afterEach(() => jest.restoreAllMocks());

const turn = async () => await new Promise((resolve) => setImmediate(resolve));

test('between two turns of the event loop there is one piece of work, however much is waiting', async () => {
	const background = new Background();
	let done = 0;
	const work = async () => {
		for (let i = 0; i < 4; i++) await background.run(() => (done += 1));
	};
	const all = Promise.all([work(), work(), work()]);
	for (let before = 0; done < 12; before = done) {
		await turn();
		expect(done - before).toBeLessThanOrEqual(1);
	}
	await all;
});

test('a piece begins when the previous one has ended, and a failing piece does not hold up others', async () => {
	const background = new Background();
	const happened: string[] = [];
	const slow = background.run(async () => {
		await turn();
		happened.push('slow');
		throw new Error('no');
	});
	const next = background.run(() => happened.push('next'));
	await expect(slow).rejects.toThrow('no');
	await next;
	expect(happened).toEqual(['slow', 'next']);
});

test('pieces are short while a client sends one request after another, and longer for polling clients and afterwards', () => {
	let now = 1000;
	jest.spyOn(performance, 'now').mockImplementation(() => now);
	const background = new Background();
	const piece = () => background.endOfPiece() - now;
	const alone = piece();
	const afterRequest = (after: number) => {
		now += after;
		background.noteRequest();
		return piece();
	};
	expect([afterRequest(0), afterRequest(50), afterRequest(50)]).toEqual([alone, alone, alone]);
	// Even if each of them waits for a longer piece.
	const beside = [afterRequest(9), afterRequest(9), afterRequest(1)];
	expect(Math.max(...beside)).toBeLessThan(2);
	now += 10;
	expect(piece()).toBe(alone);
});

test('a record is found by its words immediately, while they change, and once they are indexed, even after a restart', async () => {
	const path = newDatabase();
	const database = new DatabaseSync(path);
	const indexed = () => Number(database.prepare('SELECT count(*) AS count FROM contacts_words_docsize').get()!['count']);
	// The service ends before it indexes anything.
	const maintenance = jest.spyOn(Store.prototype, 'maintain').mockImplementation(function* () {});
	let sandbox = inProcess({ store: new Store(path), contacts: 20 });
	const found = async (text: string) => (await sandbox.get(`/v1/contacts?q=${text}`)).body.total;
	const { body } = await sandbox.post('/v1/contacts', { last_name: 'Quicksilver' });
	expect([indexed(), await found('quicksilver')]).toEqual([20, 1]);
	await sandbox.patch(`/v1/contacts/${body.id}`, { last_name: 'Quartz' });
	expect([await found('quicksilver'), await found('quartz')]).toEqual([0, 1]);
	sandbox.store.close();

	maintenance.mockRestore();
	sandbox = inProcess({ store: new Store(path) });
	expect([indexed(), await found('quartz')]).toEqual([20, 1]);
	await until(() => indexed() === 21);
	await sandbox.patch(`/v1/contacts/${body.id}`, { last_name: 'Quibble' });
	expect([await found('quartz'), await found('quibble')]).toEqual([0, 1]);
	sandbox.store.close();
	database.close();
});

test('many small writes leave few parts of the word index', async () => {
	const { store, post, path } = onFile();
	const words = store.table('contacts')!.words!;
	for (let i = 0; i < 60; i++) {
		await post('/v1/contacts', { last_name: `Person number ${i}` });
		words.indexAll();
	}
	const database = new DatabaseSync(path);
	const parts = () => Number(database.prepare('SELECT count(DISTINCT segid) AS count FROM contacts_words_idx').get()!['count']);
	await until(() => parts() < 20);
	store.close();
	database.close();
});

test('writes are moved into the file by another thread, and not within a request', async () => {
	const { store, post, path } = onFile();
	await post('/v1/contacts', { last_name: 'In the log' });
	await until(() => readFileSync(path).includes('In the log'));
	// Soon after that checkpoint, and without other writes behind it.
	await post('/v1/contacts', { last_name: 'Soon after' });
	await until(() => readFileSync(path).includes('Soon after'));
	store.close();
});

test('checkpoints that jobs wait for have a thread of their own, apart from searches', async () => {
	const path = newDatabase();
	const reader = new BackgroundReader(new DatabaseSync(path), path);
	const { contexts, calls } = jest.spyOn(ThreadReader.prototype, 'read').mock;
	const search = async () => await reader.read([{ sql: 'SELECT 1', values: [] }]);
	await Promise.all([...Array.from({ length: 8 }, search), reader.checkpoint(), reader.checkpoint()]);
	const threadsFor = (word: string) => new Set(contexts.filter((_, i) => calls[i]![0][0]!.sql.startsWith(word)));
	const [searching, writing] = [threadsFor('SELECT'), threadsFor('PRAGMA')];
	expect([searching.size, writing.size, new Set([...searching, ...writing]).size]).toEqual([4, 1, 5]);
	reader.close();
});

test('a list of deliveries is read and counted while other requests run', async () => {
	const { store, post, get } = onFile();
	const { body } = await post('/v1/webhooks', { url: 'https://x.example/hook', events: ['contact.*'], status: 'paused' });
	const reads = jest.spyOn(BackgroundReader.prototype, 'read');
	expect((await get(`/v1/webhooks/${body.id}/deliveries`)).body).toEqual({ data: [], next_cursor: null, total: 0 });
	expect(reads.mock.calls.flat(2).filter(({ sql }) => sql.includes('FROM deliveries')).length).toBe(2);
	store.close();
});

/** Counts the turns of the event loop from now on. */
function countTurns() {
	const counted = { turns: 0, stop: () => clearImmediate(next) };
	const count = () => {
		counted.turns += 1;
		next = setImmediate(count);
	};
	let next = setImmediate(count);
	return counted;
}

test('a large page is sent in pieces, one per turn of the event loop, whatever characters are at their ends', async () => {
	const sandbox = inProcess();
	const texts = ['x', 'é', '€', '😀', 'x😀'].map((character) => character.repeat(80_000));
	for (const text of texts) {
		await sandbox.post('/v1/messages', { channel: 'other', direction: 'inbound', to: ['x'], text });
	}
	const app = createApp({ store: sandbox.store });
	for (const path of ['/v1/messages?sort=created_at', '/v1/events?type=message.created']) {
		const response = await app.request(path, { headers: { Authorization: 'Bearer test-key' } });
		const counted = countTurns();
		const pieces: Uint8Array[] = [];
		for await (const piece of response.body!) pieces.push(piece);
		counted.stop();
		expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(128 * 1024);
		expect(counted.turns).toBeGreaterThanOrEqual(pieces.length);
		const page = JSON.parse(Buffer.concat(pieces).toString());
		expect([page.total, page.next_cursor]).toEqual([texts.length, null]);
		expect(page.data.map((entry: Json) => (entry.data?.object ?? entry).text)).toEqual(texts);
	}
	sandbox.store.close();
});

/** Opens the form for a contact. @returns a function that sends it with further inputs */
async function newContactForm(store: Store) {
	const app = createApp({ store });
	const browser = newBrowser(async (path, init) => await app.request(path, init));
	await browser.signIn('admin');
	const page = await browser.open('/records/contacts/new');
	const form = hiddenValue(page, 'form');
	return async (inputs: Record<string, string>) => await browser.submit(page, '/records/contacts', { form, ...inputs });
}

test('a large form is read, carried out and shown in separate turns of the event loop', async () => {
	const { store } = inProcess();
	const send = await newContactForm(store);

	const counted = countTurns();
	const { get } = FormTexts.prototype;
	const reads: number[] = [];
	jest.spyOn(FormTexts.prototype, 'get').mockImplementation(function (this: FormTexts, name) {
		reads.push(counted.turns);
		return get.call(this, name);
	});
	const { transaction } = Store.prototype;
	const writes: number[] = [];
	jest.spyOn(store, 'transaction').mockImplementation((...args) => {
		writes.push(counted.turns);
		return transaction.apply(store, args);
	});
	const response = await send({ 'emails.0.value': 'x' });
	counted.stop();
	expect(response.status).toBe(422);
	expect(writes.at(-1)).toBeGreaterThan(reads[0]!);
	expect(reads.at(-1)).toBeGreaterThan(writes.at(-1)!);
	store.close();
});

test('however many rows a form has, few are read or shown between two turns of the event loop', async () => {
	const { store } = inProcess();
	const send = await newContactForm(store);
	// Each look at the clock ends a turn.
	let now = performance.now();
	jest.spyOn(performance, 'now').mockImplementation(() => (now += 1));
	const sizes: number[] = [];
	const added = jest.spyOn(FormTexts.prototype, 'add').mockImplementation(function (this: FormTexts, inputs) {
		const all = [...inputs];
		sizes.push(all.length);
		for (const [name, text] of all) this.set(name, text);
	});
	const rowsOf = (list: string) => Object.fromEntries(Array.from({ length: 1900 }, (_, i) => [`${list}.${i}.value`, 'x']));
	expect(await maxPerTurn(added, send(rowsOf('other')))).toBe(1);
	expect(Math.max(...sizes)).toBeLessThanOrEqual(50);
	added.mockRestore();

	const { transaction } = Store.prototype;
	const { get } = FormTexts.prototype;
	let isHandled = false;
	jest.spyOn(store, 'transaction').mockImplementation((...args) => {
		try {
			return transaction.apply(store, args);
		} finally {
			isHandled = true;
		}
	});
	const lookUps = jest.fn();
	jest.spyOn(FormTexts.prototype, 'get').mockImplementation(function (this: FormTexts, name) {
		if (isHandled && name.startsWith('emails.')) lookUps();
		return get.call(this, name);
	});
	expect(await maxPerTurn(lookUps, send(rowsOf('emails')))).toBeLessThan(10);
	expect(lookUps.mock.calls.length).toBeGreaterThan(20);
	store.close();
});
