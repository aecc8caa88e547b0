import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOf } from './agent-tools.ts';
import { useSandbox } from './sandbox.ts';

const sandbox = useSandbox();

const made = async (path: string, body: IDataObject) => (await sandbox.call('POST', path, body)).body;
const anyName = () => `reads-${randomUUID()}`;
const textOf = (answers: IDataObject[]) => JSON.stringify(answers);

/** A custom object with one record. */
async function customObject(key: string, name: string): Promise<unknown> {
	await made('/v1/custom-objects', { key, label_singular: key, label_plural: key, primary_field: 'called' });
	await made('/v1/custom-fields', { resource: `custom-objects/${key}/records`, key: 'called', label: 'Called', type: 'text' });
	return (await made(`/v1/custom-objects/${key}/records`, { custom_fields: { called: name } })).id;
}

describe('kinds', () => {
	test('a kind that is named exactly is that one, and a name that fits two is refused', async () => {
		const ids = { spare_part: await customObject('spare_part', 'Bolt'), sparepart: await customObject('sparepart', 'Bolt') };
		const call = await callerOf(sandbox.credential, { kinds: Object.keys(ids).map((key) => `customObjectRecord:${key}`), writes: allWrites });
		expect(textOf(await call('change', { kind: 'Spare Part', action: 'delete', record: 'Bolt' }))).toMatch(/Spare Part.*could be spare_part, sparepart/);
		await call('change', { kind: 'sparepart', action: 'delete', record: 'Bolt' });
		const left = await Promise.all(Object.entries(ids).map(async ([key, id]) => (await sandbox.call('GET', `/v1/custom-objects/${key}/records/${String(id)}`)).status));
		expect(left).toEqual([200, 404]);
	});

	test('a custom object with the key of another kind is not taken for it', async () => {
		await customObject('contact', 'Bolt');
		const call = await callerOf(sandbox.credential, { kinds: ['contact', 'customObjectRecord:contact'] });
		expect(textOf(await call('count', { kind: 'contact' }))).toMatch(/Two kinds are called contact/);
	});
});

describe('names', () => {
	test('of records with one name, all are listed, however many others a search finds before them', async () => {
		const name = anyName();
		const first = await made('/v1/contacts', { last_name: name, email: `old-${name}@x.example` });
		const others = Array.from({ length: 110 }, async (_, i) => await made('/v1/contacts', { last_name: `Other ${i}`, job_title: name }));
		await Promise.all(others);
		const second = await made('/v1/contacts', { last_name: name, email: `new-${name}@x.example` });
		const call = await callerOf(sandbox.credential);
		const text = textOf(await call('get', { kind: 'contact', record: name }));
		for (const { id, email } of [first, second]) expect(text).toContain(`${String(email)} (${String(id)})`);
	});

	test('of kinds that the author has not chosen, an answer has names, and no e-mail addresses', async () => {
		for (const i of [1, 2]) await made('/v1/contacts', { first_name: 'Ann', last_name: 'Twice', email: `ann${i}-${anyName()}@x.example` });
		const call = await callerOf(sandbox.credential, { kinds: ['deal'] });
		for (const filters of [{ contact_id: 'Ann' }, { contact_id: 'Ann Twice' }, { owner: 'zz' }]) {
			const text = textOf(await call('count', { kind: 'deal', filters }));
			expect(text).toMatch(/(usr|con)_/);
			expect(text).not.toContain('@');
		}
	});
});
