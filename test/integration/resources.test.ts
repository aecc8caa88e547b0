import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { run as runNode, type Setup } from './harness/node-runs.ts';
import { automatic, create, deleteRecord, get, getMany, update } from './harness/parameters.ts';
import { useSandbox } from './harness/sandbox.ts';

const sandbox = useSandbox();
const run = async (
	parameters: INodeParameters,
	more: Partial<Setup> = {},
): Promise<IDataObject[]> => {
	const { items } = await runNode({ credential: sandbox.credential, parameters, ...more });
	return items.map(({ json }) => json);
};

async function createRecord(path: string, body: IDataObject): Promise<IDataObject & { id: string }> {
	const { status, body: record } = await sandbox.call('POST', `/v1${path}`, body);
	if (status !== 201) throw new Error(JSON.stringify(record));
	return record as IDataObject & { id: string };
}

const listed = async (path: string): Promise<IDataObject[]> =>
	(await sandbox.call('GET', `/v1${path}`)).body.data as IDataObject[];

describe.each([
	[
		'activity',
		{ type: 'call', occurred_at: '2026-03-31T10:00:00.000Z', subject: 'A' },
		{ subject: 'B' },
	],
	[
		'customField',
		{ resource: 'contacts', key: 'shoe_size', label: 'A', type: 'number' },
		{ label: 'B' },
	],
	[
		'customObject',
		{ key: 'cars', label_singular: 'Car', label_plural: 'A', primary_field: 'plate' },
		{ label_plural: 'B' },
	],
	['deal', { title: 'A', amount: 12.5 }, { title: 'B' }],
	['note', { body: 'A' }, { body: 'B' }],
	['pipeline', { name: 'A' }, { name: 'B' }],
	['tag', { name: 'A' }, { name: 'B' }],
	['task', { title: 'A', due_at: '2027-01-01T10:00:00.000Z' }, { title: 'B' }],
	['ticket', { subject: 'A' }, { subject: 'B' }],
	['user', { email: 'made@resources.example', first_name: 'A' }, { first_name: 'B' }],
])('%s', (resource, values, change) => {
	const rest: Record<string, IDataObject> = {
		note: { links: [] },
		pipeline: {
			stages: ['open', 'won', 'lost'].map((kind) => ({ name: kind, kind })),
		},
	};

	test('is created, read, changed, listed and deleted', async () => {
		const contacts = await listed('/contacts?limit=1');
		const links = [{ resource: 'contacts', id: contacts[0]?.id }];
		const item = { ...values, ...rest[resource], ...(resource === 'note' && { links }) };
		const [createdRecord] = await run(create(resource, automatic), { items: [item] });
		expect(createdRecord).toMatchObject(values);
		const id = String(createdRecord?.id);

		expect(await run(get(resource, id))).toMatchObject([{ id }]);
		const [changed] = await run(update(resource, id, change));
		expect(changed).toMatchObject({ id, ...change });
		const all = await run(getMany(resource));
		expect(all.map((record) => record.id)).toContain(id);
		expect(await run(deleteRecord(resource, id))).toEqual([{ deleted: true }]);
	});
});

describe('records of a custom object', () => {
	const objectKey = { __rl: true, mode: 'list', value: 'boats' };

	beforeAll(async () => {
		await createRecord('/custom-objects', {
			key: 'boats',
			label_singular: 'Boat',
			label_plural: 'Boats',
			primary_field: 'hull',
		});
		await createRecord('/custom-fields', {
			resource: 'custom-objects/boats/records',
			key: 'hull',
			label: 'Hull',
			type: 'text',
		});
	});

	test('are written and read like any other, with the fields of the object', async () => {
		const [boat] = await run(
			{ ...create('customObjectRecord', automatic), objectKey },
			{
				items: [{ custom_fields: { hull: 'H1' } }],
			},
		);
		expect(boat).toMatchObject({ title: 'H1', custom_fields: { hull: 'H1' } });
		const id = String(boat?.id);
		expect(await run({ ...get('customObjectRecord', id), objectKey })).toMatchObject([
			{ title: 'H1' },
		]);
		const all = await run({ ...getMany('customObjectRecord'), objectKey });
		expect(all).toMatchObject([{ id }]);
		const gone = await run({ ...deleteRecord('customObjectRecord', id), objectKey });
		expect(gone).toEqual([{ deleted: true }]);
	});
});

test('the account and the current user are read', async () => {
	expect(await run({ resource: 'account', operation: 'get' })).toMatchObject([
		{ plan: expect.any(String) },
	]);
	expect(await run({ resource: 'user', operation: 'getCurrent' })).toMatchObject([
		{ object: 'user', email: expect.any(String) },
	]);
});

describe('an API request', () => {
	const send = (method: string, path: string, more: IDataObject = {}) =>
		({ resource: 'apiRequest', operation: 'send', method, path, ...more }) as INodeParameters;

	test('reads and writes any path, writes under an idempotency key', async () => {
		const [createdRecord] = await run(
			send('POST', '/v1/contacts', { body: '{"email":"api@resources.example"}' }),
		);
		expect(createdRecord).toMatchObject({ email: 'api@resources.example' });
		const [list] = await run(
			send('GET', '/v1/contacts', { query: { email: 'api@resources.example' } }),
		);
		expect(list).toMatchObject({ data: [{ id: createdRecord?.id }], total: 1 });
		const post = (await sandbox.requests()).find(({ method }) => method === 'POST');
		expect(post?.idempotencyKey).toMatch(/^n8n\/[0-9a-f]{8}\/workflow-1\/[\w-]+\/[0-9a-f]{64}$/);
		expect(await run(send('DELETE', `/v1/contacts/${String(createdRecord?.id)}`))).toEqual([{}]);
	});

	test.each([
		'v1/contacts',
		'//elsewhere.example/x',
		'/../x',
		'/v1/%2e%2E/x',
		'/v1/contacts?limit=1',
		'',
	])('to %p is refused before it is sent', async (path) => {
		await expect(run(send('GET', path))).rejects.toThrow(/is not a path such as/);
	});
});
