import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { byId, create, getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

/** Two objects, each with a name and a size: a text in one, a number in the other. */
beforeAll(async () => {
	for (const [key, type] of [['cars', 'text'], ['boats', 'number']] as const) {
		const label = { label_singular: key, label_plural: key };
		await sandbox.create('custom-objects', { key, ...label, primary_field: 'name' });
		const resource = `custom-objects/${key}/records`;
		const define = async (field: IDataObject) => await sandbox.call('POST', '/v1/custom-fields', { resource, ...field });
		await define({ key: 'name', label: 'Name', type: 'text' });
		await define({ key: 'size', label: 'Size', type });
	}
});

const ofItemsObject = { objectKey: byId('={{ $json.object }}') };

/** Creates a record for each item, in the object it names. */
async function createEach(items: IDataObject[]) {
	const fields = create('customObjectRecord', {
		'custom_fields.name': '={{ $json.name }}',
		'custom_fields.size': '={{ $json.size }}',
	});
	const parameters = { ...fields, ...ofItemsObject };
	return (await run(parameters, items, { continueOnFail: true })).items;
}

test('records of a custom object take the fields of their own object', async () => {
	const { items, hints } = await run(
		{
			...create('customObjectRecord', {
				'custom_fields.name': '={{ $json.plate }}',
				'custom_fields.size': '4',
			}),
			objectKey: byId('boats'),
		},
		[{ plate: 'M-AB 1' }],
	);
	expect(hints).toEqual([]);
	expect(items[0]?.json).toMatchObject({ title: 'M-AB 1', custom_fields: { size: 4 } });
});

describe('if the items are about several objects,', () => {
	test('each item gets the fields of its own object, whatever they are called in others', async () => {
		const items = await createEach([
			{ object: 'cars', name: 'a', size: '0012' },
			{ object: 'boats', name: 'b', size: '7' },
			{ object: 'cars', name: 'c', size: '0034' },
		]);
		const sizes = items.map(({ json }) => (json.custom_fields as IDataObject).size);
		expect(sizes).toEqual(['0012', 7, '0034']);
	});

	test('the definitions of each object are read once', async () => {
		await sandbox.clear();
		const objects = ['cars', 'boats', 'cars', 'boats'];
		await createEach(objects.map((object) => ({ object, name: 'x', size: '1' })));
		const read = (await sandbox.requests()).filter(({ path }) => path === '/v1/custom-fields');
		expect(read).toHaveLength(2);
	});

	test.each(['', 'planes'])('an item about %p fails alone', async (object) => {
		const items = await createEach([
			{ object: 'cars', name: 'a', size: 's' },
			{ object, name: 'b', size: '7' },
		]);
		expect(items.map(({ json }) => json.error === undefined)).toEqual([true, false]);
	});

	test('an item whose object’s fields cannot be read fails alone', async () => {
		await sandbox.faults({ path: '/v1/custom-fields', times: 1, status: 400 });
		const items = await createEach([
			{ object: 'cars', name: 'a', size: '1' },
			{ object: 'boats', name: 'b', size: '2' },
			{ object: 'cars', name: 'c', size: '3' },
		]);
		expect(items.map(({ json }) => json.error === undefined)).toEqual([false, true, false]);
	});

	test('lists are filtered by the fields of their object', async () => {
		await createEach([
			{ object: 'cars', name: 'wanted', size: 'XL' },
			{ object: 'boats', name: 'wanted', size: '77' },
		]);
		const filters = getMany('customObjectRecord', {}, { 'custom_fields.size': '={{ $json.size }}' });
		const { items } = await run({ ...filters, ...ofItemsObject }, [{ object: 'boats', size: 77 }, { object: 'cars', size: 'XL' }]);
		const sizes = items.map(({ json }) => (json.custom_fields as IDataObject).size);
		expect(sizes).toEqual([77, 'XL']);
	});
});
