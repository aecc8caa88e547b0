import type { IDataObject } from 'n8n-workflow';

import { run as runNode } from '../support/node-runs.ts';
import { create, get, getMany, update, upsert } from '../support/parameters.ts';
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
			items: [{ a: 'Ada', b: value('create-1') }, { a: 'Bob', b: value('create-2') }],
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

	test('Get reads one record', async () => {
		const { id } = await sandbox.create(path, { [field]: 'Ada', [unique]: value('get') });
		expect(await jsons({ parameters: get(resource, id) })).toMatchObject([{ id, [field]: 'Ada' }]);
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

	test('the field to match on must have a value', async () => {
		const parameters = upsert('contact', 'email', { first_name: 'Ada' });
		await expect(run({ parameters })).rejects.toThrow('The field to match on, email, has no value');
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
