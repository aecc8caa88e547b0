import type { IDataObject } from 'n8n-workflow';

import * as op from './parameters.ts';
import { useSandbox } from './sandbox.ts';
import { shortenWaits } from './short-waits.ts';
import { undoing } from './undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, undo, results, add } = undoing(sandbox);
const living = async (name: string) => (await sandbox.call('GET', `/v1/contacts?last_name=${name}`)).body.data as IDataObject[];

describe('after several undos, nothing is said to be done that is not', () => {
	test('a created record, whose deletion was undone, is there: conflict', async () => {
		await as('a1', op.create('contact', { last_name: 'A' }));
		await undo('a1', {}, 'a2');
		await undo('a2', {}, 'a3');
		const [{ id } = {}] = await living('A');
		expect((await undo('a1')).items).toMatchObject([{ result: 'conflict', new_id: id, reason: expect.stringContaining('created again') }]);
		expect(results(await undo('a3'))).toEqual(['undone']);
		expect(await living('A')).toEqual([]);
	});

	test('a record that was created again with values of the workflow: conflict', async () => {
		const contact = await add('contacts', { last_name: 'B', first_name: 'a' });
		await as('b1', op.update('contact', contact.id, { first_name: 'b' }));
		await as('b1', op.deleteRecord('contact', contact.id));
		const { body: { data } } = await sandbox.call('GET', '/v1/events?sort=-sequence&limit=2');
		const [deletion, update] = data as [IDataObject, IDataObject];
		await sandbox.faults({ path: '/v1/events', status: 200, contentType: 'application/json', body: JSON.stringify({ data: [deletion], next_cursor: null, total: 1 }) });
		expect(results(await undo('b1'))).toEqual(['undone']);
		await sandbox.clear();
		expect(update.type).toBe('contact.updated');
		expect((await undo('b1')).items).toMatchObject([{ result: 'conflict', changes: [{ field: 'first_name', from: 'b', to: 'a', kept: true }] }]);
	});

	test('fields of a record that another execution deleted, and an undo created again, are restored there', async () => {
		const contact = await add('contacts', { last_name: 'C', first_name: 'a', job_title: 'a' });
		await as('c1', op.update('contact', contact.id, { first_name: 'b', job_title: 'b' }));
		await as('c2', op.deleteRecord('contact', contact.id));
		await undo('c2');
		const [{ id } = {}] = await living('C');
		await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { job_title: 'theirs' });
		expect((await undo('c1')).items).toMatchObject([{ result: 'conflict', new_id: id }]);
		expect(await living('C')).toMatchObject([{ first_name: 'a', job_title: 'theirs' }]);
	});

	test('a created record that someone changed before the workflow deleted it: conflict', async () => {
		const { items: [made] } = await as('d1', op.create('contact', { last_name: 'D' }));
		const id = String(made!.json.id);
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { job_title: 'theirs' });
		await as('d1', op.deleteRecord('contact', id));
		expect((await undo('d1')).items).toMatchObject([{ result: 'conflict', reason: expect.stringContaining('someone else changed it') }]);
	});
});
