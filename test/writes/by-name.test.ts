import type { IDataObject, INodeParameters, NodeApiError } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, mapped } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

const byName = (options: IDataObject = {}, resource = 'company', fieldsMatchOn = 'name') =>
	({ resource, operation: 'upsert', fieldsMatchOn, ...automatic, simplify: false, options }) as INodeParameters;
const called = async (name: string) => (await sandbox.list('companies?limit=500')).filter((company) => company.name === name);

describe('Create or Update by a name', () => {
	test('updates the record that has the name in another case or without accents, and creates the others', async () => {
		const cafe = await sandbox.create('companies', { name: 'Café Müller' });
		const items = [{ name: 'cafe MULLER', industry: 'food' }, { name: 'New by Name', industry: 'retail' }];
		const { items: written } = await run(byName(), items);
		expect(written).toMatchObject([
			{ json: { id: cafe.id, industry: 'food', upsert_outcome: 'updated' }, pairedItem: { item: 0 } },
			{ json: { name: 'New by Name', upsert_outcome: 'created' }, pairedItem: { item: 1 } },
		]);
		expect(await called('New by Name')).toHaveLength(1);
		await run(byName(), [{ name: 'new by name', industry: 'media' }]);
		expect(await called('new by name')).toMatchObject([{ industry: 'media' }]);
	});

	test('refuses a name that several records have, with their IDs, and one that two items would create', async () => {
		const twins = [await sandbox.create('companies', { name: 'Twin' }), await sandbox.create('companies', { name: 'TWIN' })];
		const names = [{ name: 'twin' }, { name: 'Twice' }, { name: 'twice' }, { industry: 'food' }];
		const { items } = await run(byName(), names, { continueOnFail: true });
		const [several, created, again, nameless] = items.map(({ json }) => json);
		for (const { id } of twins) expect(several!.error).toContain(id);
		expect(created).toMatchObject({ name: 'Twice', upsert_outcome: 'created' });
		expect(again!.error).toBe('Name: item 1 creates “twice”. Give each record in one item.');
		expect(nameless!.error).toBe('Name: the name to match on is empty.');
		expect(await called('Twice')).toHaveLength(1);
	});

	test('previews what it would update and create, and writes nothing', async () => {
		const { id } = await sandbox.create('companies', { name: 'Seen Before', industry: 'food' });
		await sandbox.clear();
		const { items } = await run(byName({ preview: true }), [{ name: 'seen before', industry: 'retail' }, { name: 'Not Seen' }]);
		expect(items).toMatchObject([{ json: { id, preview: { action: 'update' } } }, { json: { preview: { action: 'create' } } }]);
		expect(await sandbox.writes()).toEqual([]);
	});
});

describe('a linked record by name, created if missing', () => {
	const linked = (name: string, field = 'company_id') => ({ records: [{ field, record: { __rl: true, mode: 'newName', value: name } }] });
	const contacts = (name: string, options: IDataObject = {}, field?: string) =>
		({ ...create('contact', mapped({ last_name: 'Linked' })), fieldsLinked: linked(name, field), options }) as INodeParameters;

	test('is created once for all items, and found from then on', async () => {
		const { items, hints } = await run(contacts('={{ $json.company }}'), [{ company: 'Founded' }, { company: 'founded' }]);
		const [company, ...others] = await called('Founded');
		expect(others).toEqual([]);
		expect(items.map(({ json }) => json.company_id)).toEqual([company!.id, company!.id]);
		expect(JSON.stringify(hints)).toContain('Linked Records: 1 × companies were created');
		await run(contacts('FOUNDED'), [{}]);
		expect(await called('FOUNDED')).toEqual([]);
	});

	test('is not created by a preview, and not if a name is not enough', async () => {
		await sandbox.clear();
		await run(contacts('Only Previewed', { preview: true }), [{}]);
		expect(await sandbox.writes()).toEqual([]);
		await expect(run(contacts('Nobody Known', {}, 'owner_id'), [{}])).rejects.toThrow('does not match any record of users');
	});
});

test('a link to no record is refused with its label, its value and the names that exist', async () => {
	await sandbox.create('tags', { name: 'Existing tag' });
	const tagged = create('contact', mapped({ last_name: 'Tagged', tag_ids: 'tag_00000000000000000000000000' }));
	const { message, description } = (await run(tagged).catch((error: unknown) => error)) as NodeApiError;
	expect(message).toContain('Tags: no record of tags has the ID “tag_00000000000000000000000000”');
	expect(description).toMatch(/Tags: there are .*Existing tag/);
});
