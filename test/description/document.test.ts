import type { Transport } from '../../nodes/CrmPlatform/api/http/transport';
import { describeResource } from '../../nodes/CrmPlatform/api/openapi/description';
import { loadDocument } from '../../nodes/CrmPlatform/api/openapi/document';
import type { Clock } from '../../nodes/CrmPlatform/base/clock';
import { documentWith, query } from './described-document.ts';

let time = Date.now();
const clock: Clock = { now: () => time, sleep: async () => undefined, random: () => 0 };

/** A service that describes itself to each account, and counts the requests for that. */
function service(address: string, titleFor: (account: string) => string) {
	let loadCount = 0;
	let isDown = false;
	const load = async (account: string) => await loading(account).then(({ document }) => document);
	const loading = async (account: string) => {
		const signed: Transport = async () => {
			loadCount += 1;
			if (isDown) return { connectionError: 'ECONNREFUSED' };
			const document = { openapi: '3.1.0', paths: { '/v1/x': { title: titleFor(account) } } };
			return { status: 200, headers: {}, text: JSON.stringify(document) };
		};
		const url = `${address}/openapi.json`;
		return await loadDocument({ url, address, viewer: account, signed, anonymous: signed }, clock);
	};
	return { load, loading, loadCount: () => loadCount, goDown: () => (isDown = true) };
}

test('a description is read once in five minutes', async () => {
	const { load, loadCount } = service('https://fresh.example', () => 'Same');
	await load('one');
	await load('one');
	expect(loadCount()).toBe(1);
	time += 5 * 60_000;
	await load('one');
	expect(loadCount()).toBe(2);
});

test('a description is read once for all executions that start at once', async () => {
	const { load, loadCount } = service('https://at-once.example', () => 'Same');
	const documents = await Promise.all(Array.from({ length: 200 }, async () => await load('one')));
	expect([new Set(documents).size, loadCount()]).toEqual([1, 1]);
});

test('accounts never see another account’s description', async () => {
	const { load } = service('https://apart.example', (account) => account);
	const [first, second] = [await load('one'), await load('two')];
	expect([first.paths, second.paths, (await load('one')).paths]).toEqual([
		{ '/v1/x': { title: 'one' } },
		{ '/v1/x': { title: 'two' } },
		{ '/v1/x': { title: 'one' } },
	]);
});

test('equal descriptions of two accounts are kept once', async () => {
	const { load } = service('https://equal.example', () => 'Same');
	expect(await load('one')).toBe(await load('two'));
});

test('two addresses with the same description are two services', async () => {
	const [first, second] = ['https://one.example', 'https://other.example'].map((address) =>
		service(address, () => 'Same'),
	);
	expect(await first?.load('account')).not.toBe(await second?.load('account'));
});

describe('while a description cannot be read', () => {
	test('the copy read last is used, however old, and the user is warned', async () => {
		const { load, loading, goDown } = service('https://stale.example', () => 'Same');
		const first = await load('one');
		goDown();
		time += 24 * 60 * 60_000;
		expect(await loading('one')).toMatchObject({
			document: first,
			isPackaged: false,
			notice: expect.stringContaining('The copy from '),
		});
	});

	test('another account does not find the copy, and uses the packaged one', async () => {
		const { load, loading, goDown } = service('https://apart-stale.example', () => 'Same');
		await load('one');
		goDown();
		expect(await loading('two')).toMatchObject({ isPackaged: true });
	});
});

describe('an operation', () => {
	const read = (paths: object, components: object = {}, path: `/${string}` = '/contacts') =>
		describeResource(documentWith(paths, components), path);

	test('overrides the parameters of its path', () => {
		const description = read({
			'/v1/contacts': {
				parameters: [query('limit', { maximum: 10 }), query('status', { type: 'string' })],
				get: { parameters: [query('limit', { maximum: 20 }), query('status', { type: 'boolean' })] },
			},
		});
		expect(description?.list).toMatchObject({ pageSize: { maximum: 20 }, filters: [{ name: 'status', kind: 'boolean' }] });
	});

	test('may be in a path item that is referenced', () => {
		const pathItems = { contacts: { get: {}, post: {} } };
		const paths = { '/v1/contacts': { $ref: '#/components/pathItems/contacts' } };
		expect(read(paths, { pathItems })?.create).toBeDefined();
	});

	test('may have a path with its parameters filled in', () => {
		const paths = { '/v1/custom-objects/{key}/records': { get: {} }, '/v1/{any}': { get: {} } };
		expect(read(paths, {}, '/custom-objects/cars/records')?.list).toBeDefined();
		expect(read(paths)).toBeUndefined();
	});

	test('is sent as JSON, or is absent', () => {
		const schema = { properties: { name: { type: 'string' } } };
		const updateAs = (type: string) =>
			read({ '/v1/contacts': {}, '/v1/contacts/{id}': { patch: { requestBody: { content: { [type]: { schema } } } } } })?.update;
		expect(updateAs('application/json; charset=utf-8')?.fields).toMatchObject([{ name: 'name' }]);
		expect(['application/json-patch+json', 'application/merge-patch+json'].map(updateAs)).toEqual([undefined, undefined]);
	});
});
