import { randomUUID } from 'node:crypto';

import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { getFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { getFilterFields } from '../../nodes/CrmPlatform/pickers/filterPickers';
import { getOutputFields } from '../../nodes/CrmPlatform/pickers/listOptions';
import { executeContext, nodeRuns, picker } from '../support/node-runs.ts';
import { automatic, byId, create, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { failure, run } = nodeRuns(sandbox);

test('custom fields mapped as a whole are written, together with one that is mapped individually', async () => {
	const { items } = await run(
		create('contact', { last_name: 'Whole', custom_fields: '={{ $json.fields }}', 'custom_fields.nps_score': '9' }),
		[{ fields: { renewal_date: '2031-01-01' } }, { fields: '{ "vip": true }' }],
	);
	const written = items.map(({ json }) => json.custom_fields);
	expect(written).toMatchObject([{ renewal_date: '2031-01-01', nps_score: 9 }, { vip: true, nps_score: 9 }]);
});

const asJson = (fieldsJson: string, more: IDataObject = {}) =>
	({ resource: 'contact', operation: 'create', fieldsMode: 'json', fieldsJson, ...more }) as never;

test('JSON without custom fields takes one request', async () => {
	await run(asJson('{"last_name":"Single"}'));
	const requests = await sandbox.requests();
	expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /v1/contacts']);
});

test('JSON is evaluated once for each item', async () => {
	const items = Array.from({ length: 101 }, (_, i) => ({
		record: { last_name: `Many ${i}`, custom_fields: { nps_score: '9' } },
	}));
	const { context } = executeContext({
		credential: sandbox.credential,
		parameters: asJson('={{ ({ ...$json.record }) }}'),
		items,
	});
	const evaluate = jest.spyOn(context, 'evaluateExpression');
	const [output] = await new CrmPlatform().execute.call(context as never);
	expect(output?.[100]?.json).toMatchObject({ custom_fields: { nps_score: 9 } });
	expect(evaluate).toHaveBeenCalledTimes(101);
});

describe('if the CRM does not say which custom fields exist,', () => {
	beforeEach(async () => {
		await sandbox.faults({ method: 'GET', path: '/v1/custom-fields', status: 403 });
	});
	const expectedHints = [expect.stringContaining('not allowed to read custom fields')];

	test.each(['two words', 'id:5', ' padded '])('the text %j is not taken for the name or the ID of a record', async (start) => {
		const text = `${start}${randomUUID()} `;
		const item = { last_name: 'Hidden', 'custom_fields.customer_number': text };
		const { items, hints } = await run(create('contact', automatic), [item]);
		expect(items[0]?.json).toMatchObject({ custom_fields: { customer_number: text } });
		expect(hints).toEqual(expectedHints);
	});

	test('a record that is linked by ID may have the prefix of IDs', async () => {
		const id = `acme ${randomUUID()}`;
		const fieldsLinked = { records: [{ field: 'custom_fields.customer_number', record: byId(`id:${id}`) }] };
		const { items } = await run({ ...create('contact', { last_name: 'Hidden' }), fieldsLinked });
		expect(items[0]?.json).toMatchObject({ custom_fields: { customer_number: id } });
	});

	test('a record is not linked by name, because its type is unknown', async () => {
		const record = { __rl: true, mode: 'name', value: 'Altamira' };
		const fieldsLinked = { records: [{ field: 'custom_fields.customer_number', record }] };
		const { message } = await failure({ ...create('contact', { last_name: 'Hidden' }), fieldsLinked });
		expect(message).toContain('a record cannot be looked up by name');
	});

	test.each([
		['automatically', create('contact', automatic)],
		['as JSON', asJson('={{ Object.assign({}, $json) }}')],
	])('values that items set individually, mapped %s, are also written unchanged', async (_, parameters) => {
		const { items, hints } = await run(parameters, [
			{ last_name: 'Hidden', 'custom_fields.nps_score': 9 },
			{ last_name: 'Hidden', 'custom_fields.renewal_date': '2031-01-01' },
		]);
		expect(items.map(({ json }) => json.custom_fields)).toMatchObject([
			{ nps_score: 9 },
			{ renewal_date: '2031-01-01' },
		]);
		expect(hints).toEqual(expectedHints);
	});

	test.each([
		['by hand', create('contact', { last_name: 'Hidden', 'custom_fields.nps_score': 9 })],
		['automatically', create('contact', automatic)],
		['as JSON', asJson('={{ $json }}')],
	])('a picked record is also written, beside values set %s', async (_, parameters) => {
		const key = `met_by_${randomUUID().slice(0, 8)}`;
		const field = { resource: 'contacts', key, label: 'Met By', type: 'reference' };
		await sandbox.create('custom-fields', { ...field, reference_resource: 'contacts' });
		const other = await sandbox.create('contacts', { last_name: 'Other' });
		const record = byId(other.id);
		const { items, hints } = await run(
			{
				...parameters,
				fieldsLinked: { records: [{ field: `custom_fields.${key}`, record }] },
			},
			[{ last_name: 'Hidden', 'custom_fields.nps_score': 9 }],
		);
		expect(items[0]?.json.custom_fields).toMatchObject({ nps_score: 9, [key]: other.id });
		expect(hints).toEqual(expectedHints);
	});

	test('a list is not read without its filter by a custom field', async () => {
		const parameters = getMany('contact', {}, { 'custom_fields.nps_score': 9 });
		await expect(run(parameters)).rejects.toMatchObject({ httpCode: '403' });
	});

	test('the other fields are still offered', async () => {
		const opened = (operation: string) => ({
			credential: sandbox.credential,
			parameters: { resource: 'contact', operation },
		});
		const { fields } = await picker(getFields, opened('create'));
		const filters = await picker(getFilterFields, opened('getMany'));
		for (const names of [fields.map(({ id }) => id), filters.map(({ value }) => value)]) {
			expect(names).toEqual(expect.arrayContaining(['last_name', 'email']));
		}
	});
});

test('a list is filtered by a read-only custom field, and outputs it; a record is not written to it', async () => {
	const key = `computed_${randomUUID().slice(0, 8)}`;
	await sandbox.create('custom-fields', { resource: 'contacts', key, label: 'Computed', type: 'text', read_only: true });
	const rows = [{ field: `custom_fields.${key}`, operator: 'isNotEmpty' }];
	const parameters = { ...getMany('contact'), filters: { rows } } as INodeParameters;
	expect((await run(parameters)).items).toEqual([]);
	const offered = await picker(getFilterFields, { credential: sandbox.credential, parameters });
	expect(offered.map(({ value }) => value)).toContain(`custom_fields.${key}`);
	const outputs = await picker(getOutputFields, { credential: sandbox.credential, parameters });
	expect(outputs).toContainEqual({ name: 'Computed', value: `custom_fields.${key}` });
	const { fields } = await picker(getFields, { credential: sandbox.credential, parameters: { resource: 'contact', operation: 'create' } });
	expect(fields.map(({ id }) => id)).not.toContain(`custom_fields.${key}`);
});
