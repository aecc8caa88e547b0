import type { IDataObject } from 'n8n-workflow';

import { alteredService, withoutEmptyParts } from '../support/altered-service.ts';
import { run } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, resultsById, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, createAs, undo, results, add, record } = undoing(sandbox);
const service = alteredService(sandbox);

describe('a value that the CRM now refuses', () => {
	test('keeps no other value of its record from being undone, and a later undo tries it again', async () => {
		const { id } = await add('contacts', { last_name: 'Refused', email: 'refused@undo.example', job_title: 'Poet' });
		await as('p1', op.update('contact', id, { email: 'other@undo.example', job_title: 'Wrong' }));
		const taker = await add('contacts', { last_name: 'Taker', email: 'refused@undo.example' });
		for (let run = 0; run < 2; run++) {
			const { items: [item] } = await undo('p1');
			const reason = run ? /must be unique/ : /The CRM refused email, emails; the other values were restored/;
			expect(item).toMatchObject({ result: 'cannot_be_undone', reason: expect.stringMatching(reason) });
			expect(await record('contacts', id)).toMatchObject({ email: 'other@undo.example', job_title: 'Poet' });
		}
		await sandbox.call('DELETE', `/v1/contacts/${taker.id}`);
		expect(results(await undo('p1'))).toEqual(['undone']);
		expect(await record('contacts', id)).toMatchObject({ email: 'refused@undo.example' });
	});

	test('keeps no deleted record from being created again, and a later undo tries it again', async () => {
		const field = await sandbox.create('custom-fields', {
			resource: 'contacts',
			key: 'undo_size',
			label: 'Size',
			type: 'select',
			options: [{ value: 'small', label: 'Small' }, { value: 'large', label: 'Large' }],
		});
		const { id } = await add('contacts', { last_name: 'Option', custom_fields: { undo_size: 'small', contract_tier: 'gold' } });
		await as('p2', op.deleteRecord('contact', id));
		const offer = async (...values: string[]) => {
			const options = values.map((value) => ({ value, label: value }));
			expect((await sandbox.call('PATCH', `/v1/custom-fields/${field.id}`, { options })).status).toBe(200);
		};
		await offer('large');
		const { items } = await undo('p2');
		const reason = expect.stringContaining('The CRM refused custom_fields.undo_size; the other values were restored');
		expect(items).toMatchObject([{ result: 'cannot_be_undone', action: 'create', reason }]);
		const again = newIdOf({ items }, id);
		expect(await record('contacts', again)).toMatchObject({ last_name: 'Option', custom_fields: { contract_tier: 'gold' } });
		expect(results(await undo('p2'))).toEqual(['cannot_be_undone']);
		await offer('large', 'small');
		expect((await undo('p2')).items).toMatchObject([{ result: 'undone', action: 'update', new_id: again }]);
		expect(await record('contacts', again)).toMatchObject({ custom_fields: { undo_size: 'small' } });
	});
});

test.each<[string, IDataObject]>([
	['an object', { 'address.postal_code': 'N1' }],
	['the objects of a list', { phones: '[{ "value": "+442071838750", "label": "work" }]' }],
])('a member that was added to %s is removed, even if the CRM omits empty ones', async (name, changes) => {
	service.alter({ answer: withoutEmptyParts });
	const { id } = await add('contacts', { last_name: 'Gaps', address: { city: 'York' }, phones: [{ value: '+442071838750' }] });
	const { address, phones } = (await record('contacts', id))!;
	await as(name, op.update('contact', id, changes));
	for (const result of ['undone', 'already_so']) expect(results(await undoing(service).undo(name))).toEqual([result]);
	expect(await record('contacts', id)).toMatchObject({ address, phones });
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
	for (const onlyRecords of ['={{ [] }}', '={{ [{}] }}', ', ,'])
		await expect(undo('o1', { options: { onlyRecords } })).rejects.toThrow('Only These Records');
	expect(resultsById(await undo('o1', { options: { onlyRecords: `={{ ["${secondId}"] }}` } }))).toEqual({ [secondId]: 'undone' });
});

describe('changes that belong to an execution', () => {
	const addContact = async (last_name: string) => await add('contacts', { last_name, job_title: 'a' });
	/** A node of an execution sets the job title. */
	const writes = async (
		id: string, executionId: string, name: string, job_title: string, more: { context?: IDataObject; runIndex?: number } = {},
	) => await run({ credential: sandbox.credential, parameters: op.update('contact', id, { job_title }), executionId, name, ...more });

	test('an execution that waited: its writes before and after; a sub-workflow has its own', async () => {
		const [contact, sub] = [await addContact('W1'), await addContact('W2')];
		const context = {};
		await writes(contact.id, '601', 'Before', 'b', { context });
		await writes(sub.id, '602', 'In the sub-workflow', 'b');
		await writes(contact.id, '601', 'Before', 'c', { context, runIndex: 1 });
		await writes(contact.id, '601', 'After', 'd', { runIndex: 2 });
		expect(resultsById(await undo('601'))).toEqual({ [contact.id]: 'undone' });
		expect([await record('contacts', contact.id), await record('contacts', sub.id)]).toMatchObject([{ job_title: 'a' }, { job_title: 'b' }]);
		expect(resultsById(await undo('602'))).toEqual({ [sub.id]: 'undone' });
	});
});
