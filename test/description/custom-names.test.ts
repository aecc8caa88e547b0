import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncOf } from '../support/sync-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const { run } = nodeRuns(sandbox);
const { importOf } = fileRuns(sandbox, useBinaryStore());

/** Custom fields with the names of fields that only the service writes. */
const keys = ['name', 'id', 'version', 'object', 'created_at'];
const values = (text: string) => Object.fromEntries(keys.map((key) => [key, `${text} ${key}`]));
const prefixed = (text: string) => Object.fromEntries(keys.map((key) => [`custom_fields.${key}`, `${text} ${key}`]));

beforeAll(async () => {
	for (const key of keys) await sandbox.create('custom-fields', { resource: 'contacts', key, label: key, type: 'text' });
});

const contact = async (fields: IDataObject = {}) => await sandbox.create('contacts', { last_name: 'Odd', ...fields });
const stored = async (id: unknown) => (await sandbox.read(`contacts/${String(id)}`)).custom_fields;

test.each<[string, IDataObject, IDataObject]>([
	['automatically, by their whole names', automatic, { last_name: 'A', ...prefixed('a') }],
	['automatically, in their object', automatic, { last_name: 'A', custom_fields: values('a') }],
	['as JSON', { fieldsMode: 'json', fieldsJson: JSON.stringify({ last_name: 'A', custom_fields: values('a') }) }, {}],
	['by hand', { last_name: 'A', ...prefixed('a') }, {}],
])('custom fields named like read-only ones are written %s', async (_, how, item) => {
	const result = await run(create('contact', how), [item]);
	expect(result.hints).toEqual([]);
	expect(await stored(result.items[0]?.json.id)).toMatchObject(values('a'));
	const id = (await contact()).id;
	const { hints } = await run(update('contact', id, how), [{ ...item, id, version: 1 }]);
	expect(hints).toEqual([]);
	expect(await stored(id)).toMatchObject(values('a'));
});

test('a name without the prefix means the record’s own field, and a hint tells where the custom field is', async () => {
	const { id } = await contact({ custom_fields: values('c') });
	for (const item of [{ first_name: 'F', name: 'other' }, { id, first_name: 'F', name: 'other' }]) {
		const { hints } = await run(update('contact', id, automatic), [item]);
		expect(hints.join()).toContain('custom_fields.name');
		expect(await stored(id)).toMatchObject(values('c'));
	}
});

test('an import writes custom fields named like read-only ones', async () => {
	const header = keys.map((key) => `custom_fields.${key}`).join();
	const row = Object.values(values('d')).join();
	await importOf(`last_name,external_id,${header}\nD,odd-d,${row}\n`, { importAs: 'upsert', matchOn: 'external_id' });
	const { data } = await sandbox.read('contacts?external_id=odd-d') as { data: IDataObject[] };
	expect(data.map((record) => record.custom_fields)).toEqual([expect.objectContaining(values('d'))]);
	await importOf(`id,${header}\n${String(data[0]!.id)},${Object.values(values('e')).join()}\n`, { importAs: 'update' });
	expect(await stored(data[0]!.id)).toMatchObject(values('e'));
});

test('lists are filtered by custom fields named like read-only ones', async () => {
	const { id } = await contact({ custom_fields: values('f') });
	await contact({ custom_fields: values('g') });
	for (const [field, value] of Object.entries(prefixed('f'))) {
		const { items } = await run(getMany('contact', {}, { [field]: value }));
		expect(items.map(({ json }) => json.id)).toEqual([id]);
	}
});

test('a sync writes custom fields named like read-only ones, and its second run finds nothing to write', async () => {
	const items = [{ external_id: 'odd-h', last_name: 'H', ...prefixed('h') }];
	const sync = async (input: IDataObject[]) =>
		await runSync({ credential: sandbox.credential, parameters: syncOf('contact'), items: input });
	const { created } = await sync(items);
	expect(await stored(created[0]?.json.id)).toMatchObject(values('h'));
	expect((await sync(items)).unchanged).toHaveLength(1);
	expect((await sync([{ ...items[0], 'custom_fields.version': 'other' }])).updated).toHaveLength(1);
	expect(await stored(created[0]?.json.id)).toMatchObject({ ...values('h'), version: 'other' });
});
