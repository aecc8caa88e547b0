import type { IDataObject } from 'n8n-workflow';

import { run as runNode } from '../support/node-runs.ts';
import { automatic, create, deleteRecord, get, getMany, update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const run = async (setup: Omit<Parameters<typeof runNode>[0], 'credential'>) =>
	await runNode({ credential: sandbox.credential, ...setup });
const jsons = async (setup: Omit<Parameters<typeof runNode>[0], 'credential'>) =>
	(await run(setup)).items.map(({ json }) => json);

describe.each([
	{ resource: 'contact', path: 'contacts', field: 'first_name', unique: 'email', value: (n: string) => `${n}@ops.example` },
	{ resource: 'company', path: 'companies', field: 'name', unique: 'domain', value: (n: string) => `${n}.example` },
])('$resource', ({ resource, path, field, unique, value }) => {
	test('Create adds one record for each item, linked to it', async () => {
		const { items } = await run({
			parameters: create(resource, { [field]: '={{ $json.a }}', [unique]: '={{ $json.b }}' }),
			items: [
				{ a: 'Ada', b: value('create-1') },
				{ a: 'Bob', b: value('create-2') },
			],
		});
		expect(items).toMatchObject([
			{ json: { [field]: 'Ada', [unique]: value('create-1') }, pairedItem: { item: 0 } },
			{ json: { [field]: 'Bob', [unique]: value('create-2') }, pairedItem: { item: 1 } },
		]);
	});

	test('Update changes the given values and leaves the others', async () => {
		const { id } = await sandbox.create(path, { [field]: 'Ada', [unique]: value('update-1') });
		const [changed] = await jsons({ parameters: update(resource, id, { [field]: 'Grace' }) });
		expect(changed).toMatchObject({ id, [field]: 'Grace', [unique]: value('update-1') });
	});

	test('Create or Update finds the record by its unique field', async () => {
		const parameters = upsert(resource, unique, { [field]: '={{ $json.a }}', [unique]: value('upsert') });
		const [first, second] = await jsons({ parameters, items: [{ a: 'Ada' }, { a: 'Grace' }] });
		expect(second).toMatchObject({ id: first?.id, [field]: 'Grace' });
	});

	test('Get reads one record', async () => {
		const { id } = await sandbox.create(path, { [field]: 'Ada', [unique]: value('get') });
		expect(await jsons({ parameters: get(resource, id) })).toMatchObject([{ id, [field]: 'Ada' }]);
	});

	test('Delete removes the record and confirms it', async () => {
		const { id } = await sandbox.create(path, { [field]: 'Ada', [unique]: value('delete') });
		expect(await jsons({ parameters: deleteRecord(resource, id) })).toEqual([{ deleted: true }]);
		expect((await sandbox.call('GET', `/v1/${path}/${id}`)).status).toBe(404);
	});

	test('Get Many reads every record, in the chosen order', async () => {
		const total = (await sandbox.read(`${path}?limit=1`)).total;
		const parameters = getMany(resource, { options: { sort: `-created_at` } });
		const records = await jsons({ parameters });
		expect(records).toHaveLength(total as number);
		const times = records.map((record) => String(record.created_at));
		expect(times).toEqual([...times].sort().reverse());
	});

	test('Simplify keeps at most ten fields besides links and custom fields, including the id and the time of the last change', async () => {
		const [record = {}] = await jsons({ parameters: getMany(resource, { simplify: true }) });
		expect(record).toMatchObject({ id: expect.anything(), updated_at: expect.anything() });
		const { custom_fields: custom = {}, ...others } = record;
		const links = Object.keys(others).filter((name) => /_ids?$/.test(name));
		const plain = Object.keys(others).filter((name) => !links.includes(name.replace(/_name(s?)$/, '_id$1')));
		expect(plain.length).toBeLessThanOrEqual(10);
		expect(plain.length).toBeGreaterThan(3);
		expect(Object.values(custom as IDataObject)).not.toContain(null);
	});
});

describe('mapped manually', () => {
	test('a field left blank is not sent, an expression without a result clears it', async () => {
		const { id } = await sandbox.create('contacts', {
			email: 'blank@ops.example',
			first_name: 'Ada',
			job_title: 'Analyst',
		});
		const fields = { first_name: null, last_name: '', job_title: '={{ null }}' };
		const [record] = await jsons({ parameters: update('contact', id, fields) });
		expect(record).toMatchObject({ first_name: 'Ada', last_name: null, job_title: null });
	});

	test('parts of an object and custom fields are put in their place', async () => {
		const [record] = await jsons({
			parameters: create('contact', {
				email: 'parts@ops.example',
				'address.city': 'London',
				'custom_fields.vip': 'true',
				'custom_fields.renewal_date': '={{ "2026-03-01T00:00:00.000Z" }}',
			}),
			timezone: 'America/New_York',
		});
		expect(record).toMatchObject({
			address: { city: 'London' },
			custom_fields: { vip: true, renewal_date: '2026-03-01' },
		});
	});

	test('a field the CRM does not have is left out and the user is warned', async () => {
		const { items, hints } = await run({
			parameters: create('contact', { email: 'gone@ops.example', shoe_size: '42' }),
		});
		expect(items).toHaveLength(1);
		expect(hints.join()).toContain('shoe_size');
	});

	test('a value of the wrong type is refused with the label of the field, before anything is sent', async () => {
		const parameters = create('company', { name: 'X', employee_count: 'many' });
		await expect(run({ parameters })).rejects.toThrow("Employee Count: “many” is not a number");
		expect(await sandbox.requests()).toEqual([]);
	});

	test('the field to match on must have a value', async () => {
		const parameters = upsert('contact', 'email', { first_name: 'Ada' });
		await expect(run({ parameters })).rejects.toThrow('The field to match on, email, has no value');
	});
});

describe('mapped automatically', () => {
	test('values that the CRM accepts are read from the item, and the others are ignored', async () => {
		const [record] = await jsons({
			parameters: create('contact', automatic),
			items: [
				{
					id: 'con_of_another_system',
					created_at: '2020-01-01T00:00:00Z',
					email: 'auto@ops.example',
					'address.city': 'London',
					address: { country: 'GB' },
					unknown: { a: 1 },
				},
			],
		});
		expect(record).toMatchObject({
			email: 'auto@ops.example',
			address: { city: 'London', country: 'GB' },
		});
		expect(record?.id).not.toBe('con_of_another_system');
	});

	test('a record read by the node can be written back', async () => {
		const { id } = await sandbox.create('contacts', { email: 'back@ops.example', custom_fields: { vip: true } });
		const [record] = await jsons({ parameters: get('contact', id) });
		const [same] = await jsons({ parameters: update('contact', id, automatic), items: [record ?? {}] });
		expect(same).toMatchObject({ email: 'back@ops.example', custom_fields: { vip: true } });
	});
});

describe('filters', () => {
	test('narrow the list by the parameters of the CRM', async () => {
		await sandbox.create('contacts', { email: 'filter@ops.example', lifecycle_stage: 'customer' });
		const records = await jsons({ parameters: getMany('contact', {}, { lifecycle_stage: 'customer' }) });
		expect(records.length).toBeGreaterThan(0);
		for (const record of records) expect(record.lifecycle_stage).toBe('customer');
	});

	test('take several choices from an expression', async () => {
		const choicesExpression = '={{ ["customer", "lead"] }}';
		await run({ parameters: getMany('contact', {}, { lifecycle_stage: choicesExpression }) });
		const [request] = await sandbox.requests();
		expect(decodeURIComponent(request?.query ?? '')).toContain('lifecycle_stage=customer,lead');
	});

	test('of time use the time zone of the workflow', async () => {
		await run({
			parameters: getMany('contact', {}, { 'created_at[gte]': '2026-03-01T00:00:00' }),
			timezone: 'America/New_York',
		});
		const [request] = await sandbox.requests();
		expect(decodeURIComponent(request?.query ?? '')).toContain(
			'created_at[gte]=2026-03-01T05:00:00.000Z',
		);
	});
});

describe('Limit', () => {
	test.each([1, 7, 25])('of %i returns as many records with one request', async (limit) => {
		const parameters = getMany('contact', { returnAll: false, limit });
		expect(await jsons({ parameters })).toHaveLength(limit);
		expect(await sandbox.requests()).toMatchObject([{ query: `limit=${limit}` }]);
	});
});

describe('an item for which the expression of the record returns nothing', () => {
	const items = async () => [{ id: (await sandbox.create('companies', { name: 'Altamira' })).id }, { id: null }, {}];

	test.each(['update', 'get', 'delete'])('fails in %s, with what to do', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation };
		const { items: outputs } = await run({ parameters, items: await items(), continueOnFail: true });
		const failed: unknown = expect.stringMatching(/expression returned nothing.*If Empty/);
		expect(outputs.map(({ json }) => json.error)).toEqual([undefined, failed, failed]);
	});

	test.each(['update', 'get', 'delete'])('is skipped in %s with If Empty, and has no output', async (operation) => {
		const parameters = { ...update('company', '={{ $json.id }}', { name: 'New' }), operation, options: { ifEmpty: 'skip' } };
		const { items: outputs, hints } = await run({ parameters, items: await items() });
		expect(outputs).toMatchObject([{ pairedItem: { item: 0 } }]);
		expect(hints).toEqual(['At least one item was skipped: the expression of its record returned nothing (If Empty).']);
	});
});
