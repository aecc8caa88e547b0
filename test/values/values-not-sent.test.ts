import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, byId, create, on, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { failure, run } = nodeRuns(sandbox);

const asJson = { fieldsMode: 'json', fieldsJson: '={{ $json }}' };

const created = async (more: IDataObject = {}) => await sandbox.create('contacts', { last_name: 'Left', ...more });

/** What the user is told after the items were written. */
async function hintsOf(parameters: object, items: IDataObject[]): Promise<string[]> {
	return (await run(parameters, items)).hints;
}

test('names that the CRM does not have are reported in one notice, which lists ten', async () => {
	const items = Array.from({ length: 30 }, (_, i) => ({ last_name: `x${i}`, [`k${i}`]: 1, z: 1 }));
	const hints = await hintsOf({ resource: 'contact', operation: 'create', ...asJson }, items);
	expect(hints).toEqual([expect.stringContaining('k0, z, k1, k2, k3, k4, k5, k6, k7, k8 and 21 more.')]);
});

test('names without a field are reported even if an expression of the item fails', async () => {
	const { description } = await failure(create('contact', { first_name: '={{ $("Nope").item.json.x }}', bogus_field: 'x' }));
	expect(description).toContain('bogus_field');
});

test('values of an item that is not written are not reported, even if its names were looked up before', async () => {
	const parameters = { ...create('contact', automatic), options: { batchSize: 1 } };
	const items = [{ company_id: 'No Such Company At All' }, { last_name: 'B', company_id: 'Not One Either', bogus: 1 }];
	const { message, description } = await failure(parameters, items);
	expect(message).toContain('No Such Company At All');
	expect(description).not.toContain('bogus');
});

test('a record that was read is written to another, without a notice about fields that only the CRM sets', async () => {
	const field = { resource: 'contacts', key: 'computed', label: 'Computed', type: 'text' };
	await sandbox.create('custom-fields', { ...field, read_only: true });
	const source = await created({ job_title: 'Pilot' });
	source.custom_fields = { ...(source.custom_fields as IDataObject), computed: 'by the CRM' };
	const target = await created();
	const { items, hints } = await run({ ...on('contact', 'update', target.id), ...asJson }, [source]);
	expect(items[0]?.json).toMatchObject({ id: target.id, job_title: 'Pilot' });
	expect(hints).toEqual([]);
});

test('a value that was entered for a field that only the CRM sets is reported', async () => {
	const { id } = await created();
	const parameters = { ...on('contact', 'update', id), fieldsMode: 'json', fieldsJson: '{"name":"Ada","first_name":"Ada"}' };
	expect((await hintsOf(parameters, [{}])).join()).toMatch(/no such field.*: name\./);
});

describe('an item without anything to send is an error and causes no request', () => {
	const refused = async (parameters: object, items: IDataObject[]) =>
		(await failure(parameters, items)).message;

	test.each([automatic, asJson])('if its names differ from the CRM’s', async (how) => {
		const { id } = await created();
		await sandbox.clear();
		const message = await refused({ ...on('contact', 'update', id), ...how }, [{ Alias: 'Y' }]);
		expect(message).toMatch(/^None of the item’s values match a field.* has Alias; .* first_name, last_name/);
		expect(await sandbox.writes()).toEqual([]);
	});

	test.each([
		['nothing is mapped', {}],
		['every path is mistyped', { job_title: '={{ $json.jobtitel }}' }],
	])('if %s', async (_, fields) => {
		const { id } = await created();
		expect(await refused(update('contact', id, fields), [{}])).toMatch(/no values to write/);
		expect(await refused(create('contact', fields), [{}])).toMatch(/no values to write/);
	});
});

test('a mistyped path leaves the field as it is and is reported, null clears it', async () => {
	const { id } = await created({ job_title: 'Pilot', language: 'es' });
	const fields = { last_name: 'New', job_title: '={{ $json.jobtitel }}', language: '={{ null }}' };
	const { items, hints } = await run(update('contact', id, fields), [{}]);
	expect(items[0]?.json).toMatchObject({ last_name: 'New', job_title: 'Pilot', language: null });
	expect(hints).toEqual([expect.stringMatching(/returned undefined: Job Title\./)]);
});

test('a picked record whose path is mistyped leaves the reference as it is', async () => {
	const [company] = await sandbox.list('companies?limit=1');
	const { id } = await created({ company_id: company!.id });
	const { items, hints } = await run(
		{
			...update('contact', id, { last_name: 'New' }),
			fieldsLinked: { records: [{ field: 'company_id', record: byId('={{ $json.compnay }}') }] },
		},
		[{}],
	);
	expect(items[0]?.json).toMatchObject({ last_name: 'New', company_id: company!.id });
	expect(hints).toEqual([expect.stringMatching(/returned undefined: Company\./)]);
});

test('a value that should be an object is reported, in every way of mapping', async () => {
	const items = [{ last_name: 'x', address: '12 rue X, Lyon', custom_fields: 'nps=1' }];
	for (const parameters of [create('contact', automatic), { ...create('contact', {}), ...asJson }]) {
		const hints = await hintsOf(parameters, items);
		expect(hints).toEqual([expect.stringMatching(/is not an object such as.*: address, custom_fields\.$/)]);
	}
});

test('an empty object is not a mistake', async () => {
	const [deal] = await sandbox.list('deals?status=open&limit=1');
	const parameters = { ...on('deal', 'lose', deal!.id), fieldsMode: 'json', fieldsJson: '{}' };
	expect(await hintsOf(parameters, [{}])).toEqual([]);
});
