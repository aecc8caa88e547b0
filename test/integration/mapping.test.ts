import { randomUUID } from 'node:crypto';

import type { IDataObject, NodeOperationError } from 'n8n-workflow';

import { CrmPlatform } from '../../nodes/CrmPlatform/CrmPlatform.node';
import { executeContext, run, type Setup } from './n8n.ts';
import { automatic, create, getMany, update, upsert } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

/** What the node fails with. */
async function failure(setup: Setup): Promise<NodeOperationError> {
	return (await run(setup).then(
		() => undefined,
		(error: unknown) => error,
	)) as NodeOperationError;
}

test('what is more than a way into the item goes through the engine', async () => {
	const { items } = await run({
		credential: sandbox.credential,
		parameters: create('contact', {
			email: '={{ $json.name.toLowerCase() }}@mapping.example',
			last_name: 'Dear {{ $json.name }}',
			job_title: '=Dear {{ $json.name }}',
			'custom_fields.renewal_date': '={{ $now.set({ year: 2026, month: 3, day: 1 }) }}',
			external_id: '={{ DateTime.fromISO("2026-03-01T00:00:00Z", { zone: "UTC" }) }}',
		}),
		items: [{ name: 'ADA' }],
	});
	expect(items[0]?.json).toMatchObject({
		email: 'ada@mapping.example',
		// Not an expression without the sign that makes it one.
		last_name: 'Dear {{ $json.name }}',
		job_title: 'Dear ADA',
		custom_fields: { renewal_date: '2026-03-01' },
		external_id: '2026-03-01T00:00:00.000Z',
	});
});

describe('a mapping costs', () => {
	/** Runs Create for three items and counts what n8n's engine was asked for. */
	async function evaluations(fields: IDataObject) {
		const items = [1, 2, 3].map((i) => ({
			first_name: `Ada ${i}`,
			last_name: 'Lovelace',
			deep: { mail: `ada${i}.${randomUUID()}@mapping.example` },
		}));
		const parameters = create('contact', fields);
		const { context } = executeContext({ credential: sandbox.credential, parameters, items });
		const evaluate = jest.spyOn(context, 'evaluateExpression');
		const [output] = await new CrmPlatform().execute.call(context as never);
		expect(output).toHaveLength(3);
		return evaluate.mock.calls.length;
	}

	test('nothing where the items are taken as they are', async () => {
		expect(await evaluations(automatic)).toBe(0);
	});

	test('nothing where it is constants, ways into the item, and text with them', async () => {
		const fields = {
			last_name: 'Lovelace',
			first_name: '={{ $json.first_name }}',
			email: '={{ $json["deep"]?.mail }}',
			job_title: '=Dear {{ $json.first_name }} {{ $json.last_name }}!',
			phone: '={{ $json.missing.phone }}',
		};
		expect(await evaluations(fields)).toBe(0);
	});

	test('one evaluation for each item where it is code, missing paths included', async () => {
		const fields = {
			last_name: '={{ $json.last_name.toUpperCase() }}',
			first_name: '={{ $json.first_name || "Ada" }}',
			email: '={{ $json.deep.mail.toLowerCase() }}',
			job_title: '=Dear {{ $json.first_name.trim() }} {{ $json.nobody.at.home() }}',
			phone: '={{ $json.missing.phone.trim() }}',
		};
		expect(await evaluations(fields)).toBe(3);
	});
});

test('an expression that fails is named, with its item', async () => {
	const parameters = create('contact', {
		last_name: '={{ $json.last_name.trim() }}',
		first_name: '={{ $json.first_name.trim() }}',
		job_title: '={{ $("Nowhere").item.json.title }}',
	});
	const items = [{ last_name: 'Lovelace', first_name: 'Ada' }];
	const error = await failure({ credential: sandbox.credential, parameters, items });
	expect(error.message).toBe('Job Title: Referenced node doesn\'t exist');
	expect(error.context.itemIndex).toBe(0);
});

describe('fields given as JSON', () => {
	const asJson = (resource: string, operation: string, json: unknown, more: IDataObject = {}) => ({
		resource,
		operation,
		fieldsMode: 'json',
		fieldsJson: json as string,
		...more,
	});

	test('are written like mapped ones: nested as given, and typed', async () => {
		const json = JSON.stringify({
			last_name: 'Json',
			address: { city: 'Madrid' },
			'address.country': 'ES',
			custom_fields: { renewal_date: '2026-03-01T00:00:00.000Z', nps_score: '9', interests: 'events,training' },
		});
		const { items, hints } = await run({
			credential: sandbox.credential,
			parameters: asJson('contact', 'create', json),
		});
		expect(hints).toEqual([]);
		expect(items[0]?.json).toMatchObject({
			last_name: 'Json',
			address: { city: 'Madrid', country: 'ES' },
			custom_fields: { renewal_date: '2026-03-01', nps_score: 9, interests: ['events', 'training'] },
		});
	});

	test('may be an object an expression gives, as an AI agent does', async () => {
		const { items } = await run({
			credential: sandbox.credential,
			parameters: asJson('contact', 'create', '={{ $json.body }}'),
			items: [{ body: { last_name: 'First' } }, { body: '{"last_name":"Second"}' }],
		});
		expect(items.map(({ json }) => json.last_name)).toEqual(['First', 'Second']);
	});

	test('that the service does not have are not sent, and the user is told', async () => {
		const { items, hints } = await run({
			credential: sandbox.credential,
			parameters: asJson('contact', 'create', '{"last_name":"X","shoe_size":9,"custom_fields":{"gone":1}}'),
		});
		expect(items[0]?.json).toMatchObject({ last_name: 'X' });
		expect(hints.join()).toContain('shoe_size');
		expect(hints.join()).toContain('custom_fields.gone');
	});

	test('clear with null, and leave what they do not name', async () => {
		const { body } = await sandbox.call('POST', '/v1/contacts', {
			last_name: 'Keep',
			job_title: 'Gone',
			address: { city: 'Madrid' },
		});
		const recordId = { __rl: true, mode: 'id', value: body.id as string };
		const { items } = await run({
			credential: sandbox.credential,
			parameters: asJson('contact', 'update', '{"job_title":null,"address":null}', { recordId }),
		});
		expect(items[0]?.json).toMatchObject({ last_name: 'Keep', job_title: null });
		expect(items[0]?.json.address).toBeNull();
	});

	test.each(['', '[1]', 'Ada', '={{ $json.nothing }}'])('are refused where they are %p', async (json) => {
		const parameters = asJson('contact', 'create', json);
		const error = await failure({ credential: sandbox.credential, parameters });
		expect(error.message).toMatch(/JSON: .* is not an object such as/);
	});
});

test('a record read from the service is written to another as it is', async () => {
	const { body: source } = await sandbox.call('POST', '/v1/contacts', {
		first_name: 'Copied',
		last_name: 'Contact',
		address: { city: 'Madrid', country: 'ES' },
		marketing_consent: { email: true },
		lifecycle_stage: 'customer',
		custom_fields: { renewal_date: '2026-03-01', vip: true, interests: ['events'] },
	});
	const { body: target } = await sandbox.call('POST', '/v1/contacts', {
		last_name: 'Target',
		job_title: 'Cleared',
		custom_fields: { renewal_date: '2020-01-01' },
	});
	const { body: stored } = await sandbox.call('GET', `/v1/contacts/${String(source.id)}`);
	const { items, hints } = await run({
		credential: sandbox.credential,
		parameters: update('contact', target.id as string, automatic),
		items: [stored],
	});
	const ofItself = ['id', 'version', 'created_at', 'updated_at', 'created_by', 'updated_by'];
	for (const name of ofItself) delete stored[name];
	expect(items[0]?.json).toMatchObject(stored);
	expect(items[0]?.json.id).toBe(target.id);
	expect(hints).toEqual([]);
});

test('Create or Update finds the record by a unique custom field', async () => {
	const number = `C-${randomUUID()}`;
	const write = async (job_title: string, how: IDataObject) =>
		await run({
			credential: sandbox.credential,
			parameters: { ...upsert('contact', 'custom_fields.customer_number', {}), ...how } as never,
			items: [{ number, job_title }],
		});
	const mapped = upsert('contact', 'custom_fields.customer_number', {
		last_name: 'Unique',
		job_title: '={{ $json.job_title }}',
		'custom_fields.customer_number': '={{ $json.number }}',
	});
	const first = await write('first', mapped);
	const second = await write('second', {
		fieldsMode: 'json',
		fieldsMatchOn: 'custom_fields.customer_number',
		fieldsJson: '={{ ({ job_title: $json.job_title, custom_fields: { customer_number: $json.number } }) }}',
	});
	expect(second.items[0]?.json.id).toBe(first.items[0]?.json.id);
	expect(second.items[0]?.json).toMatchObject({ last_name: 'Unique', job_title: 'second' });
});

test('a list is filtered by custom fields', async () => {
	const write = async (date: string) =>
		await sandbox.call('POST', '/v1/contacts', {
			last_name: 'Filtered',
			custom_fields: { renewal_date: date },
		});
	await write('2031-01-01');
	await write('2033-01-01');
	const { items, hints } = await run({
		credential: sandbox.credential,
		parameters: getMany('contact', {}, {
			last_name: 'Filtered',
			'custom_fields.renewal_date[gte]': '2032-01-01',
		}),
	});
	expect(hints).toEqual([]);
	expect(items.map(({ json }) => (json.custom_fields as IDataObject).renewal_date)).toEqual(['2033-01-01']);
});

test('records of a custom object take the fields of their own object', async () => {
	const object = { key: 'cars', label_singular: 'Car', label_plural: 'Cars', primary_field: 'plate' };
	await sandbox.call('POST', '/v1/custom-objects', object);
	const resource = 'custom-objects/cars/records';
	for (const [key, type] of [['plate', 'text'], ['seats', 'number']]) {
		await sandbox.call('POST', '/v1/custom-fields', { resource, key, label: key, type });
	}
	const { items, hints } = await run({
		credential: sandbox.credential,
		parameters: {
			...create('customObjectRecord', {
				'custom_fields.plate': '={{ $json.plate }}',
				'custom_fields.seats': '4',
			}),
			objectKey: { __rl: true, mode: 'id', value: 'cars' },
		},
		items: [{ plate: 'M-AB 1' }],
	});
	expect(hints).toEqual([]);
	expect(items[0]?.json).toMatchObject({ title: 'M-AB 1', custom_fields: { seats: 4 } });
});
