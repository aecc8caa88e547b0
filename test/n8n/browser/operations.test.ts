import type { IDataObject, INodeCredentials } from 'n8n-workflow';
import { ofSandbox, theN8n } from '../harness/access.ts';
import { byId, mapped } from '../../support/parameters.ts';
import { filterBy, fromInput, resources } from '../harness/resources.ts';
import { type NodeResult, runN8nNode } from '../harness/run-n8n-node.ts';
import { callSandbox, createRecord } from '../harness/sandbox-calls.ts';

describe.each(resources)('In a real n8n, on a $value,', (resource) => {
	const { path, key, newKey, text, required } = resource;
	const n8n = theN8n();
	let credentials: INodeCredentials;

	beforeAll(async () => void (credentials = await ofSandbox()));

	async function run(
		operation: string,
		parameters: IDataObject,
		input?: IDataObject[],
	): Promise<NodeResult> {
		const all = { resource: resource.value, operation, simplify: false, ...parameters };
		return await runN8nNode(n8n, { credentials, parameters: all, ...(input ? { input } : {}) });
	}

	const newRecord = async (values = {}) =>
		await createRecord(path, { ...required, [key]: newKey(), ...values });

	test('Create writes the mapped fields and gives the new record', async () => {
		const keyValue = newKey();
		const fields = mapped({ ...required, [key]: keyValue, [text]: '={{ $json.title }}' });

		const { status, items } = await run('create', { fields }, [{ title: 'Head of Sales' }]);

		expect(status).toBe('success');
		expect(items).toHaveLength(1);
		expect(items[0]?.json).toMatchObject({ [key]: keyValue, [text]: 'Head of Sales' });
		const stored = await callSandbox('GET', `${path}/${items[0]?.json['id']}`);
		expect(stored.body).toMatchObject({ [key]: keyValue, [text]: 'Head of Sales' });
	});

	test('Create takes fields from the input items and links each output to its item', async () => {
		const input = [1, 2, 3].map(() => ({ ...required, [key]: newKey(), unknown_to_it: 1 }));

		const { status, items } = await run('create', { fields: fromInput }, input);

		expect(status).toBe('success');
		expect(items.map(({ json }) => json[key])).toEqual(input.map((item) => item[key]));
		expect(items.map(({ pairedItem }) => pairedItem)).toEqual([0, 1, 2].map((item) => ({ item })));
	});

	test('Create or Update makes one record and changes it the second time', async () => {
		const keyValue = newKey();
		const fields = mapped({ ...required, [key]: keyValue, [text]: '={{ $json.title }}' }, { matchingColumns: [key] });

		const first = await run('upsert', { fields }, [{ title: 'first' }]);
		const second = await run('upsert', { fields }, [{ title: 'second' }]);

		expect([first.status, second.status]).toEqual(['success', 'success']);
		expect(second.items[0]?.json['id']).toBe(first.items[0]?.json['id']);
		const { body } = await callSandbox('GET', `${path}?${key}=${keyValue}`);
		expect(body).toMatchObject({ total: 1, data: [{ [text]: 'second' }] });
	});

	test('Get gives the record with that id, each item its own', async () => {
		const [firstRecord, secondRecord] = [await newRecord(), await newRecord()];
		const parameters = { recordId: byId('={{ $json.id }}'), simplify: false };

		const { items } = await run('get', parameters, [{ id: firstRecord.id }, { id: secondRecord.id }]);

		expect(items.map(({ json }) => json)).toEqual([firstRecord, secondRecord]);
	});

	test('Get Many gives as many records as the limit says', async () => {
		const { status, items } = await run('getMany', { returnAll: false, limit: 3 });

		expect(status).toBe('success');
		expect(items).toHaveLength(3);
	});

	test('Get Many with Return All gives every record once', async () => {
		const { body } = await callSandbox('GET', `${path}?limit=1`);

		const { items } = await run('getMany', { returnAll: true });

		expect(items).toHaveLength(body.total);
		expect(new Set(items.map(({ json }) => json['id'])).size).toBe(body.total);
	});

	test('Get Many with a filter gives the records that meet it', async () => {
		const record = await newRecord();
		const filters = filterBy(key, String(record[key]));

		const { items } = await run('getMany', { returnAll: true, filters });

		expect(items.map(({ json }) => json['id'])).toEqual([record.id]);
	});

	test('Update changes the mapped fields and leaves the others', async () => {
		const record = await newRecord({ [text]: 'before' });
		const parameters = { recordId: byId(record.id), fields: mapped({ [text]: 'after' }) };

		const { status, items } = await run('update', parameters);

		expect(status).toBe('success');
		expect(items[0]?.json).toMatchObject({ id: record.id, [text]: 'after' });
		const { body } = await callSandbox('GET', `${path}/${record.id}`);
		expect(body).toMatchObject({ [key]: record[key], [text]: 'after' });
	});

	test('Delete removes the record and confirms it', async () => {
		const record = await newRecord();

		const { items } = await run('delete', { recordId: byId(record.id) });

		expect(items.map(({ json }) => json)).toEqual([{ deleted: true }]);
		expect((await callSandbox('GET', `${path}/${record.id}`)).status).toBe(404);
	});
});
