import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { output } = nodeRuns(sandbox);

const send = async (method: string, path: string, more: IDataObject = {}) =>
	await output({ resource: 'apiRequest', operation: 'send', method, path, ...more });

test('reads and writes any path, writes under an idempotency key', async () => {
	const [createdRecord] = await send('POST', '/v1/contacts', { body: '{"email":"api@resources.example"}' });
	expect(createdRecord).toMatchObject({ email: 'api@resources.example' });
	const [list] = await send('GET', '/v1/contacts', { query: { email: 'api@resources.example' } });
	expect(list).toMatchObject({ data: [{ id: createdRecord?.id }], total: 1 });
	const post = (await sandbox.requests()).find(({ method }) => method === 'POST');
	expect(post?.idempotencyKey).toMatch(/^n8n\/[0-9a-f]{8}\/workflow-1\/[\w-]+\/[0-9a-f]{64}$/);
	expect(await send('DELETE', `/v1/contacts/${String(createdRecord?.id)}`)).toEqual([{}]);
});

test.each([
	'v1/contacts',
	'//elsewhere.example/x',
	'/../x',
	'/v1/%2e%2E/x',
	'/v1/contacts?limit=1',
	'',
])('to %p is refused before it is sent', async (path) => {
	await expect(send('GET', path)).rejects.toThrow(/is not a path such as/);
});

test('a body with a name twice is refused before it is sent', async () => {
	const body = '{"last_name":"A","last_name":"B"}';
	await expect(send('POST', '/v1/contacts', { body })).rejects.toThrow('Body: The JSON has the name “last_name” twice');
	expect(await sandbox.requests()).toEqual([]);
});

test('a list is sent as JSON', async () => {
	// The service looks at a body only where it is JSON.
	const refused = send('POST', '/v1/contacts', { body: '[{ "last_name": "Listed" }]' });
	await expect(refused).rejects.toMatchObject({ httpCode: '422' });
});

describe('query parameters', () => {
	test('leave out what is null', async () => {
		await send('GET', '/v1/contacts', { query: { limit: 1, email: null } });
		expect((await sandbox.requests()).map(({ query }) => query)).toEqual(['limit=1']);
	});

	test('take a date as its text and a list as its members', async () => {
		const moment = new Date('2026-03-31T10:00:00.000Z') as unknown as string;
		await send('GET', '/v1/tickets', { query: { updated_since: moment, status: ['open', 'new'] } });
		const [request] = await sandbox.requests();
		expect([...new URLSearchParams(request?.query)]).toEqual([
			['updated_since', '2026-03-31T10:00:00.000Z'],
			['status', 'open,new'],
		]);
	});

	test.each([{ created_at: { gte: '2026-01-01' } }, { ids: [{ id: 'con_1' }] }])(
		'that are objects are refused with an explanation: %j',
		async (query) => {
			const [name = ''] = Object.keys(query);
			await expect(send('GET', '/v1/contacts', { query })).rejects.toThrow(`Query Parameters: ${name} is an object`);
			expect(await sandbox.requests()).toEqual([]);
		},
	);
});

describe('headers', () => {
	test('allow a write only to the version that the user names', async () => {
		const { id } = await sandbox.create('contacts', { last_name: 'First' });
		const rename = async (name: string) =>
			await send('PATCH', `/v1/contacts/${id}`, {
				body: { last_name: name },
				headers: '{ "If-Match": "\\"1\\"" }',
			});
		expect(await rename('Second')).toMatchObject([{ last_name: 'Second', version: 2 }]);
		await expect(rename('Third')).rejects.toMatchObject({
			message: expect.stringContaining('changed by someone else'),
			httpCode: '412',
		});
	});

	test('set by the user replace the node’s own', async () => {
		const headers = { 'Idempotency-Key': 'the-key-of-the-user', 'X-Nothing': null };
		await send('POST', '/v1/contacts', { body: { last_name: 'Keyed' }, headers });
		const [request] = (await sandbox.requests()).filter(({ method }) => method === 'POST');
		expect(request?.idempotencyKey).toBe('the-key-of-the-user');
	});

	test.each(['Authorization', 'authorization'])('never sign in: %s is refused', async (name) => {
		const headers = { [name]: 'Bearer stolen' };
		await expect(send('GET', '/v1/contacts', { headers })).rejects.toThrow('Authorization is set by the credential');
	});

	test.each([{ 'a b': '1' }, { a: 'two\nlines' }, { a: { b: '1' } }])(
		'that are invalid are refused with an explanation: %j',
		async (headers) => {
			await expect(send('GET', '/v1/contacts', { headers })).rejects.toThrow('is not a valid header');
			expect(await sandbox.requests()).toEqual([]);
		},
	);
});
