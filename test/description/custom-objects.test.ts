import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { byId, create } from '../support/parameters.ts';
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

test('items about several objects are refused, since a name may mean another field in each', async () => {
	const { items } = await run(
		{ ...create('customObjectRecord', { 'custom_fields.size': '={{ $json.size }}' }), objectKey: byId('={{ $json.object }}') },
		[{ object: 'cars', size: '0012' }, { object: 'boats', size: '7' }],
		{ continueOnFail: true },
	);
	const refusal = expect.stringMatching(/"cars".*"boats".*run the node once for each value/);
	expect(items.map(({ json }) => json.error)).toEqual([refusal, refusal]);
	expect(await sandbox.list('custom-objects/cars/records')).toHaveLength(0);
});
