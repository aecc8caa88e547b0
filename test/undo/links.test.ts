import type { INodeParameters } from 'n8n-workflow';

import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, resultsById, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, createAs, undo, add, record } = undoing(sandbox);

describe('no record that stays links to a deleted one', () => {
	test('a record whose type is not among Record Types', async () => {
		const company = await createAs('m1', 'company', { name: 'K' });
		const contact = await createAs('m1', 'contact', { last_name: 'K', company_id: company });
		expect(resultsById(await undo('m1', { options: { kinds: ['company'] } }))).toEqual({ [company]: 'conflict' });
		expect(resultsById(await undo('m1'))).toEqual({ [company]: 'undone', [contact]: 'undone' });
	});

	test('a record whose former values the CRM refuses', async () => {
		const ticket = await add('tickets', { subject: 'T' });
		const company = await createAs('m2', 'company', { name: 'T' });
		await as('m2', op.update('ticket', ticket.id, { company_id: company, status: 'open' }));
		expect(resultsById(await undo('m2'))).toEqual({ [ticket.id]: 'cannot_be_undone', [company]: 'conflict' });
		expect(await record('companies', company)).toBeDefined();
	});

	test('a message that the workflow sent', async () => {
		const contact = await createAs('m5', 'contact', { last_name: 'M', email: 'm5@undo.example' });
		await as('m5', {
			resource: 'message',
			operation: 'send',
			fields: op.mapped({ channel: 'email', to: ['m5@undo.example'], text: 'x', direction: 'outbound', contact_id: contact }),
		} as INodeParameters);
		expect(resultsById(await undo('m5'))).toMatchObject({ [contact]: 'conflict' });
	});
});

describe('references in custom fields', () => {
	const named = async (collection: string, name: string) =>
		(await sandbox.list(`${collection}?limit=500`)).find((candidate) => candidate.name === name || candidate.last_name === name);
	let other: string;
	beforeAll(async () => {
		({ id: other } = await add('contacts', { last_name: 'C0' }));
		await add('custom-fields', {
			resource: 'companies', key: 'contact_ref', label: 'Ref', type: 'reference', reference_resource: 'contacts',
		});
		await add('custom-fields', {
			resource: 'contacts', key: 'company_ref', label: 'Ref', type: 'reference', reference_resource: 'companies',
		});
		await add('custom-fields', { resource: 'companies', key: 'plain', label: 'Plain', type: 'text' });
	});

	test('lead to the record that is created again, also for a record that was not deleted', async () => {
		const contact = await add('contacts', { last_name: 'C1' });
		const gone = await add('companies', { name: 'C1', custom_fields: { contact_ref: contact.id, plain: 't' } });
		const lives = await add('companies', { name: 'C1b', custom_fields: { contact_ref: contact.id } });
		await as('c1', op.update('company', lives.id, { 'custom_fields.contact_ref': other }));
		await as('c1', op.deleteRecord('company', gone.id));
		await as('c1', op.deleteRecord('contact', contact.id));
		expect(Object.values(resultsById(await undo('c1')))).toEqual(['undone', 'undone', 'undone']);
		const again = (await named('contacts', 'C1'))!.id;
		expect(await named('companies', 'C1')).toMatchObject({ custom_fields: { contact_ref: again, plain: 't' } });
		expect(await record('companies', lives.id)).toMatchObject({ custom_fields: { contact_ref: again } });
	});

	test.each([
		['', 'c4', { result: 'undone', reason: null }, 'already_so'],
		[', also if the CRM refuses another value', 'c5', {
			result: 'cannot_be_undone', reason: expect.stringMatching(/^The CRM refused email, emails; the other values were restored/),
		}, 'cannot_be_undone'],
	])('that form a circle are written afterwards%s', async (more, name, ofContact, later) => {
		const company = await add('companies', { name });
		const email = `${name}@undo.example`;
		const contact = await add('contacts', { last_name: name, email, custom_fields: { company_ref: company.id } });
		await sandbox.call('PATCH', `/v1/companies/${company.id}`, { custom_fields: { contact_ref: contact.id } });
		// The CRM requires the link of a note, which waits for the circle.
		const note = await add('notes', { body: name, links: [{ resource: 'contacts', id: contact.id }] });
		await as(name, op.deleteRecord('company', company.id));
		await as(name, op.deleteRecord('contact', contact.id));
		await as(name, op.deleteRecord('note', note.id));
		if (more) await add('contacts', { last_name: 'Taker', email });
		const undone = { result: 'undone', reason: null };
		expect((await undo(name)).items).toMatchObject([undone, ofContact, undone]);
		const [restoredContact, restoredCompany] = [(await named('contacts', name))!, (await named('companies', name))!];
		expect([restoredContact.custom_fields, restoredCompany.custom_fields]).toMatchObject([
			{ company_ref: restoredCompany.id }, { contact_ref: restoredContact.id },
		]);
		expect(Object.values(resultsById(await undo(name)))).toEqual(['already_so', later, 'already_so']);
	});

	test.each([
		['', true], [', unless somebody has changed them since', false],
	])('to a record that the CRM refused to create are restored by the next undo%s', async (_, isRestored) => {
		const name = `C6 ${isRestored}`;
		const company = await add('companies', { name });
		const contact = await add('contacts', { last_name: name, company_id: company.id });
		await as(name, op.deleteRecord('contact', contact.id));
		await as(name, op.deleteRecord('company', company.id));
		await sandbox.faults({ method: 'POST', path: '/v1/companies', status: 403 });
		const reason = 'company_id: a linked record no longer exists, or is not visible to the credential.';
		expect((await undo(name)).items).toMatchObject([{ result: 'cannot_be_undone', action: null }, { result: 'undone', reason }]);
		await sandbox.clear();
		const { id } = (await named('contacts', name))!;
		const other = await add('companies', { name: 'Other' });
		for (const company_id of isRestored ? [] : [other.id, null]) await sandbox.call('PATCH', `/v1/contacts/${id}`, { company_id });
		const { items } = await undo(name);
		expect(items).toMatchObject([{ result: 'undone', action: 'create' }, { result: isRestored ? 'undone' : 'already_so' }]);
		expect(await record('contacts', id)).toMatchObject({ company_id: isRestored ? newIdOf({ items }, company.id) : null });
		expect(Object.values(resultsById(await undo(name)))).toEqual(['already_so', 'already_so']);
	});

	test('to a deleted record are left out, and the other values restored', async () => {
		const contact = await add('contacts', { last_name: 'C2' });
		const company = await add('companies', { name: 'C2', description: 'a', custom_fields: { contact_ref: contact.id, plain: 't' } });
		const deleted = await add('companies', { name: 'C2b', custom_fields: { contact_ref: contact.id, plain: 't' } });
		await as('c2', op.update('company', company.id, { description: 'b', 'custom_fields.contact_ref': other, 'custom_fields.plain': 'b' }));
		await as('c2', op.deleteRecord('company', deleted.id));
		await sandbox.call('DELETE', `/v1/contacts/${contact.id}`);
		const { items } = await undo('c2');
		expect(
			items.map(({ result, reason }) => [result, String(reason).includes('custom_fields.contact_ref: a linked record no longer exists')]),
		).toEqual([['undone', true], ['undone', true]]);
		expect(await record('companies', company.id)).toMatchObject({ description: 'a', custom_fields: { plain: 't' } });
		expect(await named('companies', 'C2b')).toMatchObject({ custom_fields: { plain: 't' } });
	});

	test('values of a custom field that was deleted since, or is read-only, are left out and reported', async () => {
		const deletedField = await add('custom-fields', { resource: 'companies', key: 'short_lived', label: 'x', type: 'text' });
		const readOnly = await add('custom-fields', { resource: 'companies', key: 'frozen', label: 'x', type: 'text' });
		const company = await add('companies', { name: 'C3', description: 'a', custom_fields: { short_lived: 't', frozen: 't' } });
		const deleted = await add('companies', { name: 'C3b', custom_fields: { short_lived: 't', frozen: 't', plain: 't' } });
		await as('c3', op.update('company', company.id, { description: 'b', 'custom_fields.short_lived': 'b', 'custom_fields.frozen': 'b' }));
		await as('c3', op.deleteRecord('company', deleted.id));
		await sandbox.call('DELETE', `/v1/custom-fields/${deletedField.id}`);
		await sandbox.call('PATCH', `/v1/custom-fields/${readOnly.id}`, { read_only: true });
		const { items } = await undo('c3');
		const reason = expect.stringContaining('The CRM refused custom_fields.short_lived, custom_fields.frozen; the other') as string;
		expect(items).toMatchObject([
			{ result: 'cannot_be_undone', action: 'create', reason }, { result: 'cannot_be_undone', action: 'update', reason },
		]);
		expect(await record('companies', company.id)).toMatchObject({ description: 'a' });
		expect(await named('companies', 'C3b')).toMatchObject({ custom_fields: { plain: 't' } });
	});
});

describe('a record whose former links no longer exist', () => {
	const gone = async () => {
		const contact = await add('contacts', { last_name: 'Gone' });
		return { id: contact.id, leave: async () => await sandbox.call('DELETE', `/v1/contacts/${contact.id}`) };
	};

	test.each([
		['notes', 'note', { body: 'R' }, { pinned: true }, { pinned: false }],
		['tasks', 'task', { title: 'R' }, { title: 'S' }, { title: 'R' }],
	])('of %s gets its other former values, and keeps its links', async (collection, kind, values, changes, former) => {
		const [contact, company] = [await gone(), await add('companies', { name: 'R' })];
		const linkedRecord = await add(collection, { ...values, links: [{ resource: 'contacts', id: contact.id }] });
		await as(
			`r-${kind}`, op.update(kind, linkedRecord.id, { ...changes, links: JSON.stringify([{ resource: 'companies', id: company.id }]) }),
		);
		await contact.leave();
		const preview = (await undo(`r-${kind}`, { preview: true })).items;
		const { items } = await undo(`r-${kind}`);
		expect([preview, items].map(([item]) => [item!.result, item!.reason, item!.changes])).toEqual(
			['to_be_undone', 'undone'].map((result) => [
				result, expect.stringContaining('links: a linked record no longer exists'), preview[0]!.changes,
			]),
		);
		expect(await record(collection, linkedRecord.id)).toMatchObject({ ...former, links: [{ resource: 'companies', id: company.id }] });
	});

	test('gets those that still exist, and a later undo writes nothing', async () => {
		const [contact, company] = [await gone(), await add('companies', { name: 'P' })];
		const links = [{ resource: 'companies', id: company.id }];
		const task = await add('tasks', { title: 'P', links: [...links, { resource: 'contacts', id: contact.id }] });
		await as('l1', op.deleteRecord('task', task.id));
		await contact.leave();
		const { items } = await undo('l1');
		expect(await record('tasks', newIdOf({ items }, task.id))).toMatchObject({ links });
		await sandbox.clear();
		const { items: later } = await undo('l1');
		expect(await sandbox.writes()).toEqual([]);
		expect(later).toMatchObject([{ result: 'cannot_be_undone', reason: items[0]!.reason }]);
	});

	test('is not created again if the CRM requires one of them, and the preview says so', async () => {
		const contact = await gone();
		const note = await add('notes', { body: 'Q', links: [{ resource: 'contacts', id: contact.id }] });
		await as('q1', op.deleteRecord('note', note.id));
		await contact.leave();
		for (const preview of [true, false]) {
			const { items: [item] } = await undo('q1', { preview, options: { maxUndone: 0 } });
			expect(item).toMatchObject({
				result: 'cannot_be_undone', action: null, reason: expect.stringContaining('The CRM requires this link') as string,
			});
			expect(item!.changes).toContainEqual({ field: 'body', from: null, to: 'Q', kept: true });
		}
	});
});

describe('a record is never put where the CRM would put it', () => {
	const stages = ['open', 'won', 'lost'].map((kind) => ({ name: `Place ${kind}`, kind }));
	const elsewhere = expect.stringContaining('would have put the record elsewhere') as string;
	const displaced = { result: 'cannot_be_undone', action: null, reason: elsewhere };
	const tied = expect.stringMatching(/^stage_id: a linked record.* pipeline_id: kept, because/) as string;
	const inPlace = { action: null, restored: null, reason: tied };

	test('a deleted deal whose pipeline is gone is not created again, and the preview says so', async () => {
		const pipeline = await add('pipelines', { name: 'Gone', stages });
		const deal = await add('deals', { title: 'Displaced', pipeline_id: pipeline.id });
		await as('place-1', op.deleteRecord('deal', deal.id));
		expect((await sandbox.call('DELETE', `/v1/pipelines/${pipeline.id}`)).status).toBe(204);
		for (const preview of [true, false]) expect((await undo('place-1', { preview })).items).toMatchObject([displaced]);
		expect(await sandbox.list('deals?title=Displaced')).toEqual([]);
	});

	test('a deal stays in its stage if only the pipeline could be restored; names are beside the IDs', async () => {
		const [from, to] = [await add('pipelines', { name: 'From', stages }), await add('pipelines', { name: 'To', stages })];
		const idsOf = (pipeline: object) => (pipeline as { stages: Array<{ id: string }> }).stages.map(({ id }) => id);
		const deal = await add('deals', { title: 'Moved', pipeline_id: from.id, stage_id: idsOf(from)[0]! });
		await as('place-2', op.update('deal', deal.id, { pipeline_id: to.id, stage_id: idsOf(to)[0]! }));
		const { items: [item] } = await undo('place-2', { preview: true });
		expect(item!.restored).toContain(`pipeline_id: To (${to.id}) → From (${from.id})`);
		const remaining = (from as unknown as { stages: Array<{ id: string }> }).stages.slice(1);
		const added = { name: 'New', kind: 'open' };
		expect((await sandbox.call('PATCH', `/v1/pipelines/${from.id}`, { stages: [added, ...remaining] })).status).toBe(200);
		for (const preview of [true, false]) expect((await undo('place-2', { preview })).items).toMatchObject([inPlace]);
		expect(await record('deals', deal.id)).toMatchObject({ pipeline_id: to.id });
	});
});

test('a deleted record is created again after the record that took its email gives it back, even if that needs another first', async () => {
	const company = await add('companies', { name: 'W' });
	const deleted = await add('contacts', { last_name: 'W1', email: 'waits@undo.example' });
	const other = await add('contacts', { last_name: 'W2', company_id: company.id });
	await as('w1', op.deleteRecord('contact', deleted.id));
	await as('w1', op.deleteRecord('company', company.id));
	await as('w1', op.update('contact', other.id, { email: 'waits@undo.example', job_title: 'b' }));
	const third = await add('companies', { name: 'W3' });
	await as('w1', op.update('contact', other.id, { company_id: third.id }));
	const { items } = await undo('w1');
	expect(items.map(({ result }) => result)).toEqual(['undone', 'undone', 'undone']);
	expect(await record('contacts', newIdOf({ items }, deleted.id))).toMatchObject({ email: 'waits@undo.example' });
	expect(await record('contacts', other.id)).toMatchObject({ email: null, company_id: newIdOf({ items }, company.id) });
});

test.each([false, true])('a link to a record that an undo has created again is undone (others have added one: %s)', async (isShared) => {
	const name = `again ${isShared}`;
	const [linked, other] = [await add('contacts', { last_name: 'X' }), await add('contacts', { last_name: 'Y' })];
	const task = await add('tasks', { title: name });
	const linksTo = (...contacts: Array<{ id: string }>) => contacts.map(({ id }) => ({ resource: 'contacts', id }));
	await as(name, op.update('task', task.id, { links: JSON.stringify(linksTo(linked)) }));
	if (isShared) await sandbox.call('PATCH', `/v1/tasks/${task.id}`, { links: linksTo(linked, other) });
	await as(name, op.deleteRecord('contact', linked.id));
	await undo(name, { options: { onlyRecords: linked.id } });
	expect(resultsById(await undo(name))).toEqual({ [task.id]: 'undone', [linked.id]: 'already_so' });
	expect(await record('tasks', task.id)).toMatchObject({ links: isShared ? linksTo(other) : [] });
});
