import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';
import { nodeRuns } from '../support/node-runs.ts';
import { mapped } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

/** Creates or updates a contact for each item: its `record`. */
const upsert = async (items: IDataObject[], more: IDataObject = {}, continueOnFail = false) =>
	await run(
		{
			resource: 'contact',
			operation: 'upsert',
			fieldsMode: 'json',
			fieldsJson: '={{ $json.record }}',
			fieldsMatchOn: 'email',
			...more,
		},
		items,
		{ continueOnFail },
	);

/** A contact that is there already, and what finds it. */
async function createContact() {
	const tag = randomUUID();
	const keys = { email: `${tag}@match.example`, external_id: tag };
	const contact = await sandbox.create('contacts', { ...keys, last_name: 'Before' });
	await sandbox.clear();
	return { id: contact.id, ...keys };
}

const nameOf = async (id: string) => (await sandbox.read(`contacts/${id}`)).last_name;

const refused = [[''], [null], ['email', 'external_id']];

test.each(refused)('an expression for the field that returns %p, %p is refused, and changes nothing', async (...fields) => {
	const { id, email, external_id } = await createContact();
	const on = '={{ $json.on }}';
	const items = fields.map((field) => ({ record: { email, external_id, last_name: 'Wrong' }, on: field }));
	const { items: output } = await upsert(items, { fieldsMatchOn: on }, true);
	expect(output[0]?.json.error).toMatch(/^Match On(:| is empty)/);
	expect(await nameOf(id)).toBe('Before');
});

test('a field that the CRM does not find records by is refused before anything is sent', async () => {
	await sandbox.clear();
	const fieldsLinked = { records: [{ field: 'company_id', record: { __rl: true, mode: 'newName', value: 'Not Created' } }] };
	const record = { email: 'a@match.example', last_name: 'Moreno' };
	const { items } = await upsert([{ record }], { fieldsMatchOn: 'last_name', fieldsLinked }, true);
	expect(items[0]?.json.error).toContain('the CRM does not find records by last_name');
	expect(await sandbox.writes()).toEqual([]);
});

test.each(['', '='])('a blank field to match on (%p) is the CRM’s first', async (blank) => {
	const { id, email } = await createContact();
	const { items } = await upsert([{ record: { email } }], { fieldsMatchOn: blank });
	expect(items[0]?.json.id).toBe(id);
});

test('a mapper that was not made in the editor names the field to match on as n8n’s own mappers do', async () => {
	const { id, external_id } = await createContact();
	const fields = mapped({ external_id, last_name: 'After' }, { matchingColumns: ['external_id'] });
	const { items } = await upsert([{}], { fieldsMode: 'each', fieldsMatchOn: '', fields });
	expect(items[0]?.json).toMatchObject({ id, last_name: 'After' });
	const several = mapped({ external_id, last_name: 'Last' }, { matchingColumns: ['external_id', 'email', 'email'] });
	const upserting = (fieldsMatchOn: string) => upsert([{}], { fieldsMode: 'each', fieldsMatchOn, fields: several });
	await expect(upserting('')).rejects.toThrow('several columns to match on: external_id, email. Choose one of them in Match On.');
	expect((await upserting('external_id')).items[0]?.json).toMatchObject({ id, last_name: 'Last' });
	const fieldsToCreate = { ...several, value: { last_name: 'New' } };
	expect((await run({ resource: 'contact', operation: 'create', fieldsMode: 'each', fields: fieldsToCreate }, [{}])).items).toHaveLength(1);
});

test('items of one value overwrite each other, in their order, and a hint names them', async () => {
	const { id, email } = await createContact();
	const people = [email, 'other@match.example', email.toUpperCase()];
	const { hints } = await upsert(people.map((address, i) => ({ record: { email: address, last_name: `Item ${i}` } })));
	expect(hints).toEqual([expect.stringContaining(`the last one wins: 0 and 2 (${email.toUpperCase()})`)]);
	expect(await nameOf(id)).toBe('Item 2');
});

test('so do items of one email address in a custom field, whose case does not count', async () => {
	await sandbox.create('custom-fields', { resource: 'contacts', key: 'second_email', label: 'Second', type: 'email', unique: true });
	const items = ['A@match.example', 'a@match.example'].map((second_email, i) => ({ second_email, last_name: `Item ${i}` }));
	const parameters = { resource: 'contact', operation: 'upsert', fieldsMode: 'automatic', fieldsMatchOn: 'custom_fields.second_email' };
	expect((await run(parameters, items)).hints).toEqual([expect.stringContaining('the last one wins: 0 and 1')]);
});

test('items whose values differ by case are two records if the CRM says so', async () => {
	const key = randomUUID();
	const people = ['a', 'A'].map((end) => ({ record: { external_id: key + end, last_name: 'N' } }));
	const { items, hints } = await upsert(people, { fieldsMatchOn: 'external_id' });
	expect(new Set(items.map(({ json }) => json.id)).size).toBe(2);
	expect(hints).toEqual([]);
});

describe('a value of a unique field', () => {
	const create = { resource: 'contact', operation: 'create', fieldsMode: 'json', fieldsJson: '={{ $json }}' };
	const written = async (external_id: string | boolean) => await run(create, [{ external_id, last_name: 'N' }], { continueOnFail: true });

	test.each(['1,00045E+11', ' 1.00045e+11', 'NULL', true])('that several records may have had is refused: %s', async (value) => {
		await sandbox.clear();
		const upserted = await upsert([{ record: { external_id: value, last_name: 'N' } }], { fieldsMatchOn: 'external_id' }, true);
		for (const { items } of [upserted, await written(value)]) expect(items[0]?.json.error).toMatch(/^External ID: .* identifies no record/);
		expect(await sandbox.writes()).toEqual([]);
	});

	test('is written without white space and invisible characters around it', async () => {
		const key = randomUUID();
		const { items } = await written(`\u200b ${key}\n`);
		expect(items[0]?.json.external_id).toBe(key);
	});
});
