import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { run } from './n8n.ts';
import { create, getMany, upsert } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

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

test('custom fields mapped as a whole are written, one mapped by itself beside them', async () => {
	const number = `C-${randomUUID()}`;
	const { items } = await run({
		credential: sandbox.credential,
		parameters: create('contact', {
			last_name: 'Whole',
			custom_fields: '={{ $json.fields }}',
			'custom_fields.customer_number': number,
		}),
		items: [{ fields: { renewal_date: '2031-01-01' } }],
	});
	expect(items[0]?.json.custom_fields).toMatchObject({
		renewal_date: '2031-01-01',
		customer_number: number,
	});
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
