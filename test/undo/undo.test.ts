import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { newIdOf, resultsById, undoing } from '../support/undo-node.ts';

const sandbox = useSandbox();
const { failure } = nodeRuns(sandbox);
const { as, createAs, undo, results, add, record, writes, logShows } = undoing(sandbox);

describe('undo of an execution', () => {
	test('a preview shows what it would do, and writes nothing', async () => {
		const contact = await add('contacts', { last_name: 'Lovelace' });
		await as('e1', op.update('contact', contact.id, { last_name: 'King' }));
		await sandbox.clear();
		const { items } = await undo('e1', { preview: true });
		expect(items).toEqual([
			{
				result: 'to_be_undone',
				action: 'update',
				kind: 'contact',
				id: contact.id,
				name: 'King',
				restored: 'last_name: “King” → “Lovelace”',
				kept: null,
				changes: [{ field: 'last_name', from: 'King', to: 'Lovelace' }],
				reason: null,
			},
		]);
		expect(await writes()).toEqual([]);
	});

	test('a preview names the events that start workflows', async () => {
		const { stages } = (await sandbox.first('pipelines')) as unknown as { stages: Array<{ id: string; kind: string }> };
		const stage = (kind: string) => stages.find((candidate) => candidate.kind === kind)!.id;
		const won = await add('deals', { title: 'Won', stage_id: stage('won') });
		const contact = await add('contacts', { last_name: 'Event' });
		await as('e-events', op.update('deal', won.id, { stage_id: stage('lost'), title: 'x' }));
		await as('e-events', op.update('contact', contact.id, { last_name: 'x' }));
		await sandbox.call('PATCH', `/v1/deals/${won.id}`, { stage_id: stage('open') });
		expect((await undo('e-events', { preview: true })).hints).toContainEqual(expect.stringMatching(
			/^This undo will cause 1 × contact.updated, 1 × deal.updated, perhaps also deal.stage_changed, deal.won, .*\. Workflows/,
		));
	});

	test('does not restore a record that was deleted permanently, whatever the workflow did to it', async () => {
		const changed = await add('contacts', { last_name: 'Erased' });
		await as('e-erased', op.update('contact', changed.id, { last_name: 'Changed' }));
		const createdId = await createAs('e-erased', 'contact', { last_name: 'Created' });
		for (const id of [changed.id, createdId]) await sandbox.call('DELETE', `/v1/contacts/${id}?permanent=true`);
		const { items } = await undo('e-erased');
		expect(items.map(({ result, reason }) => [result, reason])).toEqual(
			Array(2).fill(['cannot_be_undone', 'The record was deleted permanently, and its values with it.']),
		);
	});

	test('writes the former values of the fields it has changed, and of no others', async () => {
		const contact = await add('contacts', { last_name: 'Lovelace', job_title: 'Poet', custom_fields: { contract_tier: 'gold' } });
		await as(
			'e2', op.update('contact', contact.id, { last_name: 'King', 'address.city': 'London', 'custom_fields.contract_tier': 'silver' }),
		);
		await as('e2', op.update('contact', contact.id, { last_name: 'Byron' }));
		await sandbox.call('PATCH', `/v1/contacts/${contact.id}`, { job_title: 'Mathematician' });
		expect(results(await undo('e2'))).toEqual(['undone']);
		const { last_name, job_title, custom_fields, address } = (await record('contacts', contact.id))!;
		expect({ last_name, job_title, custom_fields, address }).toEqual({
			last_name: 'Lovelace', job_title: 'Mathematician', custom_fields: { contract_tier: 'gold' }, address: null,
		});
		expect(results(await undo('e2'))).toEqual(['already_so']);
	});

	test('deletes records it has created, and creates those it has deleted, with links that still exist', async () => {
		const company = await add('companies', { name: 'Engines', external_id: 'engines' });
		const contact = await add('contacts', { last_name: 'Babbage', company_id: company.id, external_id: 'babbage' });
		const createdId = await createAs('e3', 'contact', { last_name: 'New' });
		await as('e3', op.deleteRecord('contact', contact.id));
		await as('e3', op.deleteRecord('company', company.id));
		const { items } = await undo('e3');
		expect(items.map(({ result }) => result)).toEqual(['undone', 'undone', 'undone']);
		expect(await record('contacts', createdId)).toBeUndefined();
		expect(await record('contacts', newIdOf({ items }, contact.id))).toMatchObject({
			last_name: 'Babbage', external_id: 'babbage', company_id: newIdOf({ items }, company.id),
		});
		expect(results(await undo('e3'))).toEqual(['already_so', 'already_so', 'already_so']);
	});

	test('includes tickets, notes, activities and records of custom objects', async () => {
		await add('custom-objects', { key: 'ships', label_singular: 'Ship', label_plural: 'Ships', primary_field: 'name' });
		await add('custom-fields', { resource: 'custom-objects/ships/records', key: 'name', label: 'Name', type: 'text' });
		const ships = 'custom-objects/ships/records';
		const ship = await add(ships, { custom_fields: { name: 'Beagle' } });
		const sunk = await add(ships, { custom_fields: { name: 'Sunk' } });
		const contact = await add('contacts', { last_name: 'Darwin' });
		const note = await add('notes', { body: 'a', links: [{ resource: 'contacts', id: contact.id }] });
		const activity = await add('activities', {
			type: 'call', occurred_at: '2026-01-01T00:00:00Z', subject: 'a', links: [{ resource: 'contacts', id: contact.id }],
		});
		const ticket = await add('tickets', { subject: 'a', status: 'open' });
		const ofShips = { objectKey: op.byId('ships') };
		await as('e7', { ...op.update('customObjectRecord', ship.id, { 'custom_fields.name': 'Other' }), ...ofShips });
		await as('e7', { ...op.deleteRecord('customObjectRecord', sunk.id), ...ofShips });
		await as('e7', op.deleteRecord('note', note.id));
		await as('e7', op.update('activity', activity.id, { subject: 'b' }));
		await as('e7', op.update('ticket', ticket.id, { subject: 'b', status: 'pending' }));
		const { items } = await undo('e7');
		expect(items.map(({ kind, result }) => `${String(kind)}: ${String(result)}`)).toEqual(
			['ticket', 'activity', 'note', 'custom.ships', 'custom.ships'].map((kind) => `${kind}: undone`),
		);
		expect(await record(ships, newIdOf({ items }, sunk.id))).toMatchObject({ custom_fields: { name: 'Sunk' } });
		expect(await record(ships, ship.id)).toMatchObject({ custom_fields: { name: 'Beagle' } });
		expect(await record('notes', newIdOf({ items }, note.id))).toMatchObject({ body: 'a', links: [{ id: contact.id }] });
		expect(await record('tickets', ticket.id)).toMatchObject({ subject: 'a', status: 'open' });
	});

	test('written once for a value is undone by its workflow, which its keys name', async () => {
		const since = new Date().toISOString();
		await as('e8', { ...op.create('contact', { last_name: 'Once' }), options: { writeOncePer: 'order-e8' } });
		expect((await undo('e8')).items).toEqual([]);
		expect(results(await undo('workflow-1', { undoOf: 'workflow', since }))).toContain('undone');
	});
});

describe('the work of others is never lost', () => {
	test('a field that someone else has changed since stays, and the others are undone', async () => {
		const contact = await add('contacts', { last_name: 'Lovelace', job_title: 'Poet' });
		await as('f1', op.update('contact', contact.id, { last_name: 'King', job_title: 'Countess' }));
		await sandbox.call('PATCH', `/v1/contacts/${contact.id}`, { last_name: 'Byron' });
		const { items: [item] } = await undo('f1');
		expect(item).toMatchObject({ result: 'conflict', reason: expect.stringContaining('Someone else') });
		expect(item!.changes).toEqual([
			{ field: 'last_name', from: 'Byron', to: 'Lovelace', kept: true },
			{ field: 'job_title', from: 'Countess', to: 'Poet' },
		]);
		expect(await record('contacts', contact.id)).toMatchObject({ last_name: 'Byron', job_title: 'Poet' });
		expect(results(await undo('f1', { options: { undoTakesPrecedence: true } }))).toEqual(['undone']);
		expect(await record('contacts', contact.id)).toMatchObject({ last_name: 'Lovelace' });
	});

	test('a value that someone else has set between two changes is restored, even if it was the first change’s', async () => {
		const { id } = await add('contacts', { last_name: 'First' });
		await as('e-between', op.update('contact', id, { last_name: 'Second' }));
		for (const last_name of ['Other', 'Second']) await sandbox.call('PATCH', `/v1/contacts/${id}`, { last_name });
		await as('e-between', op.update('contact', id, { last_name: 'Third' }));
		await undo('e-between');
		expect(await record('contacts', id)).toMatchObject({ last_name: 'Second' });
	});

	test('a created record that someone has changed, or linked to, stays, together with the records it links to', async () => {
		const company = await createAs('f3', 'company', { name: 'New' });
		const changed = await createAs('f3', 'contact', { last_name: 'New', company_id: company });
		const linked = await createAs('f3', 'contact', { last_name: 'Linked' });
		await sandbox.call('PATCH', `/v1/contacts/${changed}`, { job_title: 'Poet' });
		await sandbox.create('notes', { body: 'x', links: [{ resource: 'contacts', id: linked }] });
		expect(results(await undo('f3'))).toEqual(['conflict', 'conflict', 'conflict']);
		for (const [kind, id] of [['companies', company], ['contacts', changed], ['contacts', linked]] as const) {
			expect(await record(kind, id)).toBeDefined();
		}
	});
});

describe('nothing is written', () => {
	test('for an execution that changed nothing', async () => {
		const { items, hints } = await undo('unknown');
		expect(items).toEqual([]);
		expect(hints.join()).toContain('Nothing to undo: No changes by execution unknown');
		expect(hints.join()).toContain('the last part of the URL in this n8n');
	});

	test('for an execution that only started a job', async () => {
		await as('job', op.update('contact', (await add('contacts', { last_name: 'Job' })).id, { last_name: 'x' }));
		const [event] = await sandbox.list<IDataObject>('events?sort=-sequence&limit=1');
		await logShows([{ ...event, type: 'job.completed' }]);
		expect((await undo('job')).hints.join()).toContain('made 1 change, but none to a record.');
		await sandbox.clear();
	});

	test('if more records would change than Maximum Records allows', async () => {
		const [firstContact, secondContact] = [await add('contacts', { last_name: 'a' }), await add('contacts', { last_name: 'b' })];
		for (const { id } of [firstContact, secondContact]) await as('g1', op.update('contact', id, { last_name: 'x' }));
		await sandbox.clear();
		const options = { options: { maxUndone: 1 } };
		await expect(undo('g1', options)).rejects.toThrow('2 records would change, and Maximum Records allows 1');
		expect(await writes()).toEqual([]);
		expect((await undo('g1', { ...options, preview: true })).hints.join()).toContain('set Maximum Records to 2');
	});

	test.each([
		['workflow', 'workflow-1', 'Since'],
		['execution', '', 'Which One: choose the execution'],
		['execution', 'https://n8n.example/workflow/w/executions/4711', 'Which One: enter only the ID'],
	])('for %s %p without the required values', async (undoOf, undoId, message) => {
		const { message: errorMessage } = await failure({
			resource: 'change', operation: 'undo', preview: true, undoOf, undoId, since: '', options: {},
		});
		expect(errorMessage).toContain(message);
	});
});

test('a merge into a new record, which has taken a unique value and the links, is undone', async () => {
	const { id } = await add('contacts', { last_name: 'Old', email: 'merged@undo.example' });
	const deals = [await add('deals', { title: 'a', contact_ids: [id] }), await add('deals', { title: 'b', contact_id: id })];
	await as('m1', op.update('contact', id, { job_title: 'Merged' }));
	await as('m1', op.deleteRecord('contact', id));
	const merged = await createAs('m1', 'contact', { last_name: 'New', email: 'merged@undo.example' });
	await as('m1', op.update('deal', deals[0]!.id, { contact_ids: [merged] }));
	await as('m1', op.update('deal', deals[1]!.id, { contact_id: merged }));
	const { items } = await undo('m1');
	expect(resultsById({ items })).toEqual({ [id]: 'undone', [merged]: 'undone', [deals[0]!.id]: 'undone', [deals[1]!.id]: 'undone' });
	const again = newIdOf({ items }, id);
	expect(await record('contacts', again)).toMatchObject({ last_name: 'Old', email: 'merged@undo.example', job_title: null });
	expect(await record('contacts', merged)).toBeUndefined();
	expect([await record('deals', deals[0]!.id), await record('deals', deals[1]!.id)]).toMatchObject([
		{ contact_ids: [again] }, { contact_id: again },
	]);
	expect(results(await undo('m1')).every((result) => result === 'already_so')).toBe(true);
});

test('Only These Records undoes those, reports unknown IDs, and refuses what is not an ID', async () => {
	const [firstId, secondId] = [await createAs('o1', 'contact', { last_name: 'One' }), await createAs('o1', 'contact', { last_name: 'Two' })];
	const { items, hints } = await undo('o1', { options: { onlyRecords: `${firstId}, con_nobody` } });
	expect(resultsById({ items })).toEqual({ [firstId]: 'undone' });
	expect(hints.join()).toContain('no changes found for con_nobody');
	expect(await record('contacts', secondId)).toBeDefined();
	expect((await undo('o1', { options: { onlyRecords: 'con_nobody' } })).hints.join()).toContain('to the records in Only These Records');
	for (const onlyRecords of ['={{ [] }}', '={{ [{}] }}', ', ,', '={{ [2 ** 53] }}'])
		await expect(undo('o1', { options: { onlyRecords } })).rejects.toThrow('Only These Records');
	expect(resultsById(await undo('o1', { options: { onlyRecords: `={{ ["${secondId}"] }}` } }))).toEqual({ [secondId]: 'undone' });
});
