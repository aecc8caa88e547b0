import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { alteredService, beforeFirst } from '../support/altered-service.ts';
import { executeContext } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, stopLog, undoing } from '../support/undo-node.ts';

shortenWaits();

const sandbox = useSandbox({ contacts: 0 });
const { as, createAs, undo, results, add, living, logShows, record } = undoing(sandbox);

describe('after several undos, no change is reported that did not happen', () => {
	test('a created record, whose deletion was undone, exists: conflict', async () => {
		await as('a1', op.create('contact', { last_name: 'A' }));
		await undo('a1', {}, 'a2');
		await undo('a2', {}, 'a3');
		const [{ id } = {}] = await living('A');
		expect((await undo('a1')).items).toMatchObject([{ result: 'conflict', new_id: id, reason: expect.stringContaining('created again') }]);
		expect(results(await undo('a3'))).toEqual(['undone']);
		expect(await living('A')).toEqual([]);
	});

	test('a record that was created again with values of the workflow keeps them: conflict', async () => {
		const contact = await add('contacts', { last_name: 'B', first_name: 'a' });
		await as('b1', op.update('contact', contact.id, { first_name: 'b' }));
		await as('b1', op.deleteRecord('contact', contact.id));
		const { data } = await sandbox.read('events?sort=-sequence&limit=2');
		const [deletion, update] = data as [IDataObject, IDataObject];
		await logShows([deletion]);
		expect(results(await undo('b1'))).toEqual(['undone']);
		await sandbox.clear();
		expect(update.type).toBe('contact.updated');
		expect((await undo('b1')).items).toMatchObject([
			{ result: 'conflict', action: null, changes: [{ field: 'first_name', from: 'b', to: 'a', kept: true }] },
		]);
		expect(await living('B')).toMatchObject([{ first_name: 'b' }]);
	});

	test('a record that the CRM created along with it is not taken for the one that was created again', async () => {
		const { id } = await add('contacts', { last_name: 'Along' });
		await as('d1', op.deleteRecord('contact', id));
		const newId = newIdOf(await undo('d1'), id);
		const { data } = await sandbox.read('events?sort=-sequence&limit=2');
		const [creation, deletion] = data as [IDataObject & { sequence: number }, IDataObject];
		const along = { ...creation, id: 'evt_along', type: 'task.created', data: { object: { id: 'task_1', version: 1 } } };
		await logShows([deletion, along, { ...creation, sequence: creation.sequence + 1 }]);
		expect((await undo('d1')).items).toMatchObject([{ result: 'already_so', new_id: newId }]);
		await sandbox.clear();
	});

	test('a record that an undo to undo has created stays if a link to it is restored', async () => {
		const [gone, other] = [await add('contacts', { last_name: 'E' }), await add('contacts', { last_name: 'Other' })];
		await as('e1', op.deleteRecord('contact', gone.id));
		const id = newIdOf(await undo('e1', {}, 'e2'), gone.id);
		const deal = await add('deals', { title: 'E', contact_id: id });
		await as('e2', op.update('deal', deal.id, { contact_id: other.id }));
		await undo('e2');
		expect([await record('deals', deal.id), await record('contacts', id)]).toMatchObject([{ contact_id: id }, { last_name: 'E' }]);
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
});

test('executions are undone one after the other, the last one first', async () => {
	const tag = await add('tags', { name: 'Peel' });
	const contact = await add('contacts', { last_name: 'Peel', first_name: 'a', phone: '+442071838750' });
	await as('p1', op.update('contact', contact.id, { first_name: 'b', phone: '', tag_ids: JSON.stringify([tag.id]) }));
	await as('p2', op.update('contact', contact.id, { first_name: 'c', phone: '+442071838751', tag_ids: '[]' }));
	const created = await createAs('p1', 'contact', { last_name: 'Peeled' });
	await as('p3', op.update('contact', created, { first_name: 'x' }));
	for (const execution of ['p3', 'p2']) expect(results(await undo(execution))).toEqual(['undone']);
	expect(results(await undo('p1'))).toEqual(['undone', 'undone']);
	expect(await record('contacts', contact.id)).toMatchObject({ first_name: 'a', phone: '+442071838750', tag_ids: [] });
	expect(await living('Peeled')).toEqual([]);
});

const behindService = alteredService(sandbox, true);
const { undo: undoBehind, results: resultsBehind } = undoing(behindService);

test('an earlier undo that the log does not have yet: conflict, and “already so” once the log has it', async () => {
	const { id } = await add('contacts', { last_name: 'Behind', job_title: 'a' });
	await as('u5', op.update('contact', id, { job_title: 'b' }));
	await stopLog(sandbox, behindService);
	expect(resultsBehind(await undoBehind('u5'))).toEqual(['undone']);
	expect(resultsBehind(await undoBehind('u5'))).toEqual(['conflict']);
	behindService.alter({});
	expect(resultsBehind(await undoBehind('u5'))).toEqual(['already_so']);
	expect(await record('contacts', id)).toMatchObject({ job_title: 'a' });
});

test('if two undos at once create a record again, this undo and the next name the other one, and keep both', async () => {
	const { id: deleted } = await add('contacts', { last_name: 'Twice' });
	await as('copies', op.deleteRecord('contact', deleted));
	const { data: [deletion] } = await sandbox.read('events?type=contact.deleted&sort=-sequence&limit=1') as { data: Array<{ id: string }> };
	const instance = executeContext({ credential: sandbox.credential, parameters: {} }).context.getInstanceId();
	const key = idempotencyKey({ instance, workflow: 'w', execution: 'o', node: 'n', runKey: 0, keyParts: [0], keySubject: deletion!.id });
	let first = '';
	const createFirst = async () => {
		const { body } = await sandbox.call('POST', '/v1/contacts', { last_name: 'Twice' }, { 'idempotency-key': key });
		first = String(body.id);
	};
	behindService.alter({ request: beforeFirst(/^POST/, createFirst) });
	const { items: [item] } = await undoBehind('copies');
	const second = String(item!.new_id);
	expect(item).toMatchObject({ result: 'conflict', action: 'create', reason: `Another undo created it too, as ${first}. Merge the two.` });
	expect((await undo('copies')).items).toMatchObject([
		{ result: 'conflict', new_id: first, reason: expect.stringContaining(`Another undo created it too, as ${second}. Merge the two.`) },
	]);
	expect([await record('contacts', first), await record('contacts', second)]).toEqual([expect.anything(), expect.anything()]);

	const { id: deal } = await add('deals', { title: 'With the copy' });
	await as('linked', op.update('deal', deal, { contact_id: second }));
	expect((await undo('linked')).items).toMatchObject([{ result: 'undone' }]);
});
