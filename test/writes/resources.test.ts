import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, deleteRecord, get, getMany, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { output } = nodeRuns(sandbox);

describe.each([
	['activity', { type: 'call', occurred_at: '2026-03-31T10:00:00.000Z', subject: 'A' }, { subject: 'B' }],
	['customField', { resource: 'contacts', key: 'shoe_size', label: 'A', type: 'number' }, { label: 'B' }],
	['customObject', { key: 'cars', label_singular: 'Car', label_plural: 'A', primary_field: 'plate' }, { label_plural: 'B' }],
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
		const contacts = await sandbox.list('contacts?limit=1');
		const links = [{ resource: 'contacts', id: contacts[0]?.id }];
		const item = { ...values, ...rest[resource], ...(resource === 'note' && { links }) };
		const [createdRecord] = await output(create(resource, automatic), [item]);
		expect(createdRecord).toMatchObject(values);
		const id = String(createdRecord?.id);

		expect(await output(get(resource, id))).toMatchObject([{ id }]);
		const [changed] = await output(update(resource, id, change));
		expect(changed).toMatchObject({ id, ...change });
		const all = await output(getMany(resource));
		expect(all.map((record) => record.id)).toContain(id);
		expect(await output(deleteRecord(resource, id))).toEqual([{ deleted: true }]);
	});
});

describe('records of a custom object', () => {
	const objectKey = { __rl: true, mode: 'list', value: 'boats' };

	beforeAll(async () => {
		await sandbox.create('custom-objects', {
			key: 'boats',
			label_singular: 'Boat',
			label_plural: 'Boats',
			primary_field: 'hull',
		});
		await sandbox.create('custom-fields', {
			resource: 'custom-objects/boats/records',
			key: 'hull',
			label: 'Hull',
			type: 'text',
		});
	});

	test('are written and read like any other, with the fields of the object', async () => {
		const [boat] = await output({ ...create('customObjectRecord', automatic), objectKey }, [{ custom_fields: { hull: 'H1' } }]);
		expect(boat).toMatchObject({ title: 'H1', custom_fields: { hull: 'H1' } });
		const id = String(boat?.id);
		expect(await output({ ...get('customObjectRecord', id), objectKey })).toMatchObject([{ title: 'H1' }]);
		const all = await output({ ...getMany('customObjectRecord'), objectKey });
		expect(all).toMatchObject([{ id }]);
		const gone = await output({ ...deleteRecord('customObjectRecord', id), objectKey });
		expect(gone).toEqual([{ deleted: true }]);
	});
});

test('the account and the current user are read', async () => {
	expect(await output({ resource: 'account', operation: 'get' })).toMatchObject([{ plan: expect.any(String) }]);
	expect(await output({ resource: 'user', operation: 'getCurrent' })).toMatchObject([{ object: 'user', email: expect.any(String) }]);
});

describe('an API request', () => {
	const send = (method: string, path: string, more: IDataObject = {}) => ({
		resource: 'apiRequest',
		operation: 'send',
		method,
		path,
		...more,
	});

	test('reads and writes any path, writes under an idempotency key', async () => {
		const [createdRecord] = await output(send('POST', '/v1/contacts', { body: '{"email":"api@resources.example"}' }));
		expect(createdRecord).toMatchObject({ email: 'api@resources.example' });
		const [list] = await output(send('GET', '/v1/contacts', { query: { email: 'api@resources.example' } }));
		expect(list).toMatchObject({ data: [{ id: createdRecord?.id }], total: 1 });
		const post = (await sandbox.requests()).find(({ method }) => method === 'POST');
		expect(post?.idempotencyKey).toMatch(/^n8n\/[0-9a-f]{8}\/workflow-1\/[\w-]+\/[0-9a-f]{64}$/);
		expect(await output(send('DELETE', `/v1/contacts/${String(createdRecord?.id)}`))).toEqual([{}]);
	});

	test.each([
		'v1/contacts',
		'//elsewhere.example/x',
		'/../x',
		'/v1/%2e%2E/x',
		'/v1/contacts?limit=1',
		'',
	])('to %p is refused before it is sent', async (path) => {
		await expect(output(send('GET', path))).rejects.toThrow(/is not a path such as/);
	});
});
