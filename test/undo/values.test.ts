import type { IDataObject } from 'n8n-workflow';

import { alteredService, withoutEmptyParts } from '../support/altered-service.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, undoing } from '../support/undo-node.ts';
import { until } from '../support/until.ts';

shortenWaits();

const sandbox = useSandbox({ contacts: 0 });
const { as, undo, results, add, record } = undoing(sandbox);
const service = alteredService(sandbox);
const entries = (...all: string[]) => all.map((value, i) => ({ value, primary: i === 0 }));

describe('a value in two fields of a record, if the workflow changed both and somebody else then one', () => {
	const phone = (digits: string) => `+4144${digits}`;
	const valuesIn = (list: unknown) => (list as Array<{ value: string }>).map(({ value }) => value);

	test.each([
		['email', 'emails', 'a@forms.example', 'b@forms.example', 'c@forms.example'],
		['phone', 'phones', phone('1111111'), phone('2222222'), phone('3333333')],
	])('%s and %s stay', async (single, list, first, wrong, theirs) => {
		const { id } = await add('contacts', { last_name: 'Forms', job_title: 'Poet', [single]: first });
		await as(single, op.update('contact', id, { [single]: wrong, job_title: 'Wrong' }));
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { [list]: entries(wrong, theirs) });
		for (const preview of [true, false]) {
			const { items: [item] } = await undo(single, { preview });
			const why = `^Someone else, or another execution, has since changed ${list}\\. .* ${single}: kept, because the CRM changes it together`;
			const reason = expect.stringMatching(why) as string;
			expect(item).toMatchObject({ result: 'conflict', reason });
			expect((item!.changes as IDataObject[]).map(({ field, kept = false }) => [field, kept]).sort()).toEqual(
				[[single, true], [list, true], ['job_title', false]].sort(),
			);
		}
		const now = await record('contacts', id);
		expect(now).toMatchObject({ [single]: wrong, job_title: 'Poet' });
		expect(valuesIn(now![list])).toEqual([wrong, theirs]);
		expect(results(await undo(single, { options: { undoTakesPrecedence: true } }))).toEqual(['undone']);
		expect(await record('contacts', id)).toMatchObject({ [single]: first });
	});

	test.each(['email', 'phone'])('a second and a third %s remain when another one was made the main one', async (single) => {
		const list = `${single}s`;
		const values = (at: number) => [1, 2, 3].map((i) => (single === 'email' ? `m${at}${i}@forms.example` : phone(`44${at}333${i}`)));
		const reorder = ([first, second, third]: string[]): IDataObject => ({ [list]: entries(second!, first!, third!) });
		const changes = [
			([, two]: string[]): IDataObject => ({ [single]: two }), ([, , three]: string[]): IDataObject => ({ [single]: three }), reorder,
		];
		for (const [i, change] of changes.entries()) {
			const { id } = await add('contacts', { last_name: 'Main', [list]: entries(...values(i)) });
			const before = await record('contacts', id);
			await as(`${single}${i}`, op.update('contact', id, change(values(i))));
			expect(results(await undo(`${single}${i}`))).toEqual(['undone']);
			expect(await record('contacts', id)).toMatchObject({ [single]: before![single], [list]: before![list] });
			expect(results(await undo(`${single}${i}`))).toEqual(['already_so']);
		}
	});

	test('a deleted record has both as they were at its deletion', async () => {
		const { id } = await add('contacts', { last_name: 'Forms', email: 'd@forms.example' });
		await as('f1', op.update('contact', id, { email: 'e@forms.example' }));
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { emails: entries('e@forms.example', 'f@forms.example') });
		await as('f1', op.deleteRecord('contact', id));
		const { items } = await undo('f1');
		const now = await record('contacts', newIdOf({ items }, id));
		expect(now).toMatchObject({ email: 'e@forms.example' });
		expect(valuesIn(now!.emails)).toEqual(['e@forms.example', 'f@forms.example']);
	});

	test('a record that was created again keeps both as somebody else left them', async () => {
		const { id } = await add('contacts', { last_name: 'Forms', email: 'g@forms.example' });
		await as('f2', op.update('contact', id, { email: 'h@forms.example' }));
		const since = new Date(Date.now() + 5).toISOString();
		await until(() => Date.now() > Date.parse(since));
		await as('f2', op.deleteRecord('contact', id));
		const again = newIdOf(await undo('f2', { since }), id);
		await sandbox.call('PATCH', `/v1/contacts/${again}`, { emails: entries('h@forms.example', 'i@forms.example') });
		expect(results(await undo('f2'))).toEqual(['conflict']);
		const now = await record('contacts', again);
		expect(now).toMatchObject({ email: 'h@forms.example' });
		expect(valuesIn(now!.emails)).toEqual(['h@forms.example', 'i@forms.example']);
	});

	test('the pipeline and the stage of a deal stay', async () => {
		const addPipeline = async (name: string) =>
			await add('pipelines', { name, stages: ['open', 'open', 'won', 'lost'].map((kind, i) => ({ name: `${name}${i}`, kind })) });
		const [firstPipeline, secondPipeline] = [await addPipeline('one'), await addPipeline('two')];
		const stage = (pipeline: IDataObject, i: number) => (pipeline.stages as Array<{ id: string }>)[i]!.id;
		const deal = await add('deals', { title: 'Forms', pipeline_id: firstPipeline.id, stage_id: stage(firstPipeline, 1) });
		await as('f3', op.update('deal', deal.id, { pipeline_id: secondPipeline.id, stage_id: stage(secondPipeline, 0) }));
		await sandbox.call('PATCH', `/v1/deals/${deal.id}`, { stage_id: stage(secondPipeline, 1) });
		for (const preview of [true, false]) expect((await undo('f3', { preview })).items).toMatchObject([{ result: 'conflict', action: null }]);
		expect(await record('deals', deal.id)).toMatchObject({ pipeline_id: secondPipeline.id, stage_id: stage(secondPipeline, 1) });
	});
});

describe('a custom field that was cleared before its record was deleted, which the deleted record does not have', () => {
	const tierOf = async (items: IDataObject[], id: string) =>
		((await record('contacts', newIdOf({ items }, id)))!.custom_fields as IDataObject).contract_tier;

	test('is restored', async () => {
		const { id } = await add('contacts', { last_name: 'Cleared', custom_fields: { contract_tier: 'gold' } });
		await as('c1', op.update('contact', id, { custom_fields: { contract_tier: null } }));
		await as('c1', op.deleteRecord('contact', id));
		const { items } = await undo('c1');
		expect(items).toMatchObject([{ result: 'undone', action: 'create' }]);
		expect(await tierOf(items, id)).toBe('gold');
	});

	test('stays cleared where someone else has cleared it', async () => {
		const { id } = await add('contacts', { last_name: 'Cleared', custom_fields: { contract_tier: 'gold' } });
		await as('c2', op.update('contact', id, { custom_fields: { contract_tier: 'silver' } }));
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { custom_fields: { contract_tier: null } });
		await as('c2', op.deleteRecord('contact', id));
		const { items } = await undo('c2');
		expect(items).toMatchObject([{ action: 'create' }]);
		expect(await tierOf(items, id)).toBeUndefined();
	});
});

/** Changes a record as somebody else. */
const person = async (path: string, body: IDataObject) => {
	const response = await sandbox.call('PATCH', `/v1/${path}`, body);
	if (response.status !== 200) throw new Error(JSON.stringify(response.body));
};

describe('in a list of records, whoever changed an entry last decides about it', () => {
	const other = async () => ({ resource: 'contacts', id: (await add('contacts', { last_name: 'Entry' })).id });
	const start = async (...links: unknown[]) => (await add('tasks', { title: 'E', links })).id;
	const updateAsWorkflow = async (execution: string, id: string, ...links: unknown[]) =>
		await as(execution, op.update('task', id, { links: JSON.stringify(links) }));
	const theirs = async (id: string, ...links: unknown[]) => await person(`tasks/${id}`, { links });
	const now = async (id: string) => (await record('tasks', id))!.links;

	test('an entry that a person has added again stays, unless the undo takes precedence', async () => {
		const [addedEntry, id] = [await other(), await start()];
		await updateAsWorkflow('entry 1', id, addedEntry);
		await theirs(id);
		await theirs(id, addedEntry);
		expect(await undo('entry 1')).toMatchObject({
			items: [{ result: 'conflict', changes: [{ field: 'links', from: [addedEntry], to: [], kept: true }] }],
		});
		expect(await now(id)).toEqual([addedEntry]);
		expect(results(await undo('entry 1', { options: { undoTakesPrecedence: true } }))).toEqual(['undone']);
		expect(await now(id)).toEqual([]);
	});

	test('an entry that a person has removed again stays removed', async () => {
		const [stays, removedEntry] = [await other(), await other()];
		const id = await start(stays, removedEntry);
		await updateAsWorkflow('entry 2', id, stays);
		await theirs(id, stays, removedEntry);
		await theirs(id, stays);
		expect(results(await undo('entry 2'))).toEqual(['conflict']);
		expect(await now(id)).toEqual([stays]);
	});

	test('the workflow’s changes before and after a person’s are undone, and the person’s stay', async () => {
		const [first, mine, hers, last] = [await other(), await other(), await other(), await other()];
		const id = await start(first);
		await updateAsWorkflow('entry 3', id, mine);
		await theirs(id, mine, hers);
		await updateAsWorkflow('entry 3', id, mine, hers, last);
		expect(results(await undo('entry 3'))).toEqual(['undone']);
		expect(await now(id)).toHaveLength(2);
		expect(await now(id)).toEqual(expect.arrayContaining([hers, first]));
		expect(results(await undo('entry 3'))).toEqual(['already_so']);
	});

	test('a deleted record is created again with the entries of others only', async () => {
		const [mine, hers] = [(await add('tags', { name: 'mine' })).id, (await add('tags', { name: 'hers' })).id];
		const { id } = await add('contacts', { last_name: 'Deleted' });
		await as('d1', op.update('contact', id, { tag_ids: [mine] }));
		await person(`contacts/${id}`, { tag_ids: [mine, hers] });
		await as('d1', op.deleteRecord('contact', id));
		expect(await record('contacts', newIdOf(await undo('d1'), id))).toMatchObject({ tag_ids: [hers] });
	});

	const threeContacts = async () =>
		(await Promise.all(['K', 'L', 'M'].map(async (last_name) => (await add('contacts', { last_name })).id))) as [string, string, string];

	test('a deleted record is created again with the list that a person has taken its former main contact out of', async () => {
		const [first, mine, hers] = await threeContacts();
		const { id } = await add('deals', { title: 'Deleted', contact_id: first, contact_ids: [first] });
		await as('d4', op.update('deal', id, { contact_id: mine, contact_ids: JSON.stringify([mine, first]) }));
		await person(`deals/${id}`, { contact_ids: [mine, hers] });
		await as('d4', op.deleteRecord('deal', id));
		const output = await undo('d4');
		expect(output.items).toMatchObject([{ result: 'undone', action: 'create' }]);
		expect(await record('deals', newIdOf(output, id))).toMatchObject({ contact_id: mine, contact_ids: [mine, hers] });
		expect(results(await undo('d4'))).toEqual(['already_so']);
	});

	test('a deleted record is created again with the main contact that its list still has', async () => {
		const [first, mine, hers] = await threeContacts();
		const { id } = await add('deals', { title: 'Deleted', contact_id: first, contact_ids: [first] });
		await as('d2', op.update('deal', id, { contact_id: mine, contact_ids: JSON.stringify([mine, first]) }));
		await person(`deals/${id}`, { contact_ids: [mine, first, hers] });
		await as('d2', op.deleteRecord('deal', id));
		expect(await record('deals', newIdOf(await undo('d2'), id))).toMatchObject({ contact_id: first, contact_ids: [first, hers] });
	});
});

describe('a value in two fields, of which a person has changed one between two writes of the workflow', () => {
	test('an address and the list of all addresses stay, and other fields are restored', async () => {
		const { id } = await add('contacts', { last_name: 'Between', email: 'a@between.example', job_title: 'Poet' });
		await as('b1', op.update('contact', id, { email: 'b@between.example', job_title: 'x' }));
		await person(`contacts/${id}`, { emails: entries('b@between.example', 'y@between.example') });
		await as('b1', op.update('contact', id, { email: 'c@between.example' }));
		const before = (await record('contacts', id))!;
		expect(results(await undo('b1'))).toEqual(['conflict']);
		expect(await record('contacts', id)).toMatchObject({ email: before.email, emails: before.emails, job_title: 'Poet' });
	});

	test('a main contact that a person has removed from the list is not restored', async () => {
		const [k0, k1, k2, k3] = (await Promise.all(Array.from({ length: 4 }, async () => (await add('contacts', { last_name: 'K' })).id))) as [
			string, string, string, string,
		];
		const { id } = await add('deals', { title: 'Main', contact_id: k0, contact_ids: [k0, k1] });
		await as('b2', op.update('deal', id, { contact_id: k2 }));
		await person(`deals/${id}`, { contact_ids: [k2, k3] });
		expect(results(await undo('b2'))).toEqual(['conflict']);
		expect(await record('deals', id)).toMatchObject({ contact_id: k2, contact_ids: [k2, k3] });
	});
});

test('a deleted record is created again with a value that somebody else changed unseen', async () => {
	const { id } = await add('contacts', { last_name: 'Unseen', job_title: 'Poet' });
	await as('d3', op.update('contact', id, { job_title: 'Wrong' }));
	await person(`contacts/${id}`, { job_title: 'Theirs' });
	await as('d3', op.deleteRecord('contact', id));
	service.edit(({ path, body }) => {
		if (!path.startsWith('/v1/events')) return;
		for (const { type, data: { object } } of body.data as Array<{ type: string; data: { object: IDataObject } }>) {
			if (type === 'contact.updated' && object.job_title === 'Theirs') object.id = 'con_unseen';
		}
	});
	const again = newIdOf(await undoing(service).undo('d3'), id);
	expect(await record('contacts', again)).toMatchObject({ job_title: 'Theirs' });
	expect((await undoing(service).undo('d3')).items).toMatchObject([{ result: 'already_so', new_id: again }]);
	const options = { undoTakesPrecedence: true };
	expect((await undoing(service).undo('d3', { options })).items).toMatchObject([{ result: 'undone', action: 'update' }]);
	expect(await record('contacts', again)).toMatchObject({ job_title: 'Poet' });
	service.alter({});
});

test('a deleted record is created again without others’ values if the undo takes precedence, and a later undo leaves it so', async () => {
	const { id } = await add('contacts', { last_name: 'Precedence', job_title: 'Poet', email: 'a@precedence.example' });
	await as('d5', op.update('contact', id, { job_title: 'Wrong', email: 'b@precedence.example' }));
	await person(`contacts/${id}`, { job_title: 'Theirs', emails: entries('b@precedence.example', 'c@precedence.example') });
	await as('d5', op.deleteRecord('contact', id));
	const options = { undoTakesPrecedence: true };
	const again = newIdOf(await undo('d5', { options }), id);
	const undone = { job_title: 'Poet', email: 'a@precedence.example' };
	expect(await record('contacts', again)).toMatchObject(undone);
	for (const more of [{ options }, {}]) expect((await undo('d5', more)).items).toMatchObject([{ result: 'already_so', new_id: again }]);
	expect(await record('contacts', again)).toMatchObject(undone);
});

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
