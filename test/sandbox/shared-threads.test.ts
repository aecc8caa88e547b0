import dns from 'node:dns/promises';
import { gzipSync } from 'node:zlib';
import { createApp } from '../../sandbox/app.ts';
import { Turns } from '../../sandbox/core/foundation/turns.ts';
import { seed } from '../../sandbox/seed/seed.ts';
import { Store } from '../../sandbox/core/store/store.ts';
import { post } from '../../sandbox/api/webhooks/post.ts';
import { holdTurns } from './harness/held-turns.ts';
import { startReceiver } from './harness/receiver.ts';

afterEach(() => jest.restoreAllMocks());

const turn = async () => await new Promise((resolve) => setImmediate(resolve));

/** Work that continues until `end`. */
function works() {
	const begun: string[] = [];
	const ends = new Map<string, () => void>();
	const work = (name: string) => async () => {
		begun.push(name);
		await new Promise<void>((resolve) => ends.set(name, resolve));
		return name;
	};
	const end = async (name: string) => {
		ends.get(name)!();
		await turn();
	};
	return { begun, work, end };
}

test('waiting callers take turns, each with its newest request first and its oldest refused', async () => {
	const { begun, work, end } = works();
	const turns = new Turns(1, 2);
	const refused: string[] = [];
	const take = (who: string, name: string) =>
		turns.run(who, work(name)).then((done) => (done === undefined ? refused.push(name) : undefined));
	for (const name of ['a1', 'a2', 'a3', 'a4']) void take('a', name);
	void take('b', 'b1');
	await turn();
	expect([begun, refused]).toEqual([['a1'], ['a2']]);
	for (const name of ['a1', 'a4', 'b1', 'a3']) await end(name);
	expect(begun).toEqual(['a1', 'a4', 'b1', 'a3']);
	// All places are free again.
	void take('c', 'c1');
	void take('c', 'c2');
	await turn();
	expect(begun.slice(4)).toEqual(['c1']);
	await end('c1');
	expect(begun.slice(4)).toEqual(['c1', 'c2']);
	await end('c2');
});

test('failed work frees its place', async () => {
	const turns = new Turns(1, 2);
	const fail = async () => await Promise.reject(new Error('no'));
	await expect(turns.run('a', fail)).rejects.toThrow('no');
	expect(await turns.run('a', async () => 'done')).toBe('done');
});

test('a flood of wrong passwords does not delay other bodies, and delays a sign-in by at most three of them', async () => {
	const store = new Store(':memory:');
	seed(store, 0);
	store.apiKeys.add('key_1', 'key');
	const app = createApp({ store });
	const turns = holdTurns();
	const signIn = async (remoteAddress: string, email: string, password: string) => {
		const body = new URLSearchParams({ email, password });
		return (await app.request('/sign-in', { method: 'POST', body }, { incoming: { socket: { remoteAddress } } as never })).status;
	};
	const flood = Array.from({ length: 40 }, (_, i) => signIn('192.0.2.1', `${i}@x.example`, 'wrong'));
	while (turns.requestCount < 40) await turn();
	const body = gzipSync('{"last_name":"x"}');
	const headers = { Authorization: 'Bearer key', 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' };
	expect((await app.request('/v1/contacts', { method: 'POST', headers, body })).status).toBe(201);
	// One thread computes hashes, and the others are free.
	expect(turns.begun).toBe(1);
	// From the same address, the newest sign-in is next; another address takes turns with it.
	for (const address of ['192.0.2.1', '192.0.2.2']) {
		const { requestCount, begun } = turns;
		let isIn = false;
		const signedIn = signIn(address, 'sales@crm-platform.example', 'sandbox-sales').finally(() => (isIn = true));
		while (turns.requestCount === requestCount) await turn();
		while (!isIn) {
			turns.letGo();
			await turn();
		}
		expect(await signedIn).toBe(303);
		expect(turns.begun - begun).toBeLessThanOrEqual(3);
	}
	turns.letAllGo();
	const statuses = await Promise.all(flood);
	expect(statuses.filter((status) => status === 422).length).toBeLessThanOrEqual(10);
	expect(new Set(statuses)).toEqual(new Set([422, 429]));
	store.close();
});

test('slow look-ups of receivers’ names leave threads for everything else', async () => {
	const receiver = await startReceiver();
	const { work, begun, end } = works();
	jest.spyOn(dns, 'lookup').mockImplementation((async (name: string) => {
		await work(name)();
		return [{ address: '127.0.0.1', family: 4 }];
	}) as never);
	const { port } = new URL(receiver.url);
	const names = ['a', 'b', 'c', 'd'].map((name) => `${name}.invalid`);
	const { signal } = new AbortController();
	const posts = names.map((name) => post(`http://${name}:${port}/`, '{}', {}, true, signal));
	await turn();
	const atOnce = [...begun];
	// An address waits for no name.
	expect((await post(receiver.url, '{}', {}, true, signal)).status).toBe(204);
	for (const name of names) await end(name);
	expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([204, 204, 204, 204]);
	await receiver.close();
	expect(atOnce).toEqual(names.slice(0, 2));
});
