import type { IDataObject } from 'n8n-workflow';

import { run } from './n8n.ts';
import { automatic, create, on, update } from './parameters.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

const asJson = { fieldsMode: 'json', fieldsJson: '={{ $json }}' };

const created = async (more: IDataObject = {}) =>
	(await sandbox.call('POST', '/v1/contacts', { last_name: 'Left', ...more })).body;

/** What the user is told after the items were written. */
async function told(parameters: object, items: IDataObject[]): Promise<string[]> {
	const { credential } = sandbox;
	return (await run({ credential, parameters: parameters as never, items })).hints;
}

test('names the service does not have are told in one notice, which names ten', async () => {
	const items = Array.from({ length: 30 }, (_, i) => ({ last_name: `x${i}`, [`k${i}`]: 1, z: 1 }));
	const hints = await told({ resource: 'contact', operation: 'create', ...asJson }, items);
	expect(hints).toEqual([expect.stringContaining('k0, z, k1, k2, k3, k4, k5, k6, k7, k8 and 21 more.')]);
});

test('a record that was read is written to another, without a word of what is the service’s', async () => {
	const field = { resource: 'contacts', key: 'computed', label: 'Computed', type: 'text' };
	await sandbox.call('POST', '/v1/custom-fields', { ...field, read_only: true });
	const source = await created({ job_title: 'Pilot' });
	source.custom_fields = { ...(source.custom_fields as IDataObject), computed: 'by the service' };
	const target = await created();
	const { items, hints } = await run({
		credential: sandbox.credential,
		parameters: { ...on('contact', 'update', target.id), ...asJson },
		items: [source],
	});
	expect(items[0]?.json).toMatchObject({ id: target.id, job_title: 'Pilot' });
	expect(hints).toEqual([]);
});

test('a value of the service’s own that was written out is told', async () => {
	const { id } = await created();
	const parameters = { ...on('contact', 'update', id), fieldsMode: 'json', fieldsJson: '{"name":"Ada"}' };
	expect((await told(parameters, [{}])).join()).toMatch(/no such field.*: name\./);
});

describe('items that match no field', () => {
	test.each([{ fields: automatic }, asJson])('are told of, once', async (how) => {
		const { id } = await created();
		const items = [{ LastName: 'Y' }, { LastName: 'Z' }];
		const hints = await told({ ...on('contact', 'update', id), ...how }, items);
		const notices = hints.filter((hint) => hint.startsWith('Item 0, and perhaps others, had no value'));
		expect(notices).toEqual([expect.stringContaining('such as first_name, last_name')]);
	});

	test('are not told of where nothing was asked for', async () => {
		const { id } = await created();
		expect(await told(update('contact', String(id), {}), [{}])).toEqual([]);
	});
});

test('something else where the service takes an object is told, in every way of mapping', async () => {
	const items = [{ last_name: 'x', address: '12 rue X, Lyon', custom_fields: 'nps=1' }];
	for (const parameters of [create('contact', automatic), { ...create('contact', {}), ...asJson }]) {
		const hints = await told(parameters, items);
		expect(hints).toEqual([expect.stringMatching(/takes an object here.*: address, custom_fields\.$/)]);
	}
});

test('custom fields may be JSON text', async () => {
	const { items, hints } = await run({
		credential: sandbox.credential,
		parameters: create('contact', automatic),
		items: [{ last_name: 'x', custom_fields: '{"nps_score":"9"}' }],
	});
	expect(items[0]?.json).toMatchObject({ custom_fields: { nps_score: 9 } });
	expect(hints).toEqual([]);
});

test('an object with nothing in it is no mistake', async () => {
	const [deal] = (await sandbox.call('GET', '/v1/deals?status=open&limit=1')).body.data as IDataObject[];
	const parameters = { ...on('deal', 'lose', deal!.id), fieldsMode: 'json', fieldsJson: '{}' };
	expect(await told(parameters, [{}])).toEqual([]);
});
