import type { IDataObject } from 'n8n-workflow';

import { until } from '../until.ts';
import { run } from './harness/node-runs.ts';
import * as op from './harness/parameters.ts';
import { useSandbox } from './harness/sandbox.ts';
import { shortenWaits } from './harness/short-waits.ts';
import { newIdOf, resultsById, undoing } from './harness/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, createAs, undo, results, add, record, logShows } = undoing(sandbox);

describe('a value that the CRM now refuses', () => {
	test('keeps no other value of its record from being undone, and a later undo tries it again', async () => {
		const { id } = await add('contacts', { last_name: 'Refused', email: 'refused@undo.example', job_title: 'Poet' });
		await as('p1', op.update('contact', id, { email: 'other@undo.example', job_title: 'Wrong' }));
		const taker = await add('contacts', { last_name: 'Taker', email: 'refused@undo.example' });
		for (let run = 0; run < 2; run++) {
			const { items: [item] } = await undo('p1');
			expect(item).toMatchObject({ result: 'cannot_be_undone', reason: expect.stringMatching(run ? /must be unique/ : /The CRM refused email, emails; the other values were restored/) });
			expect(await record('contacts', id)).toMatchObject({ email: 'other@undo.example', job_title: 'Poet' });
		}
		await sandbox.call('DELETE', `/v1/contacts/${taker.id}`);
		expect(results(await undo('p1'))).toEqual(['undone']);
		expect(await record('contacts', id)).toMatchObject({ email: 'refused@undo.example' });
	});

	test('keeps no deleted record from being created again', async () => {
		const field = await sandbox.create(
			'custom-fields',
			{ resource: 'contacts', key: 'undo_size', label: 'Size', type: 'select', options: [{ value: 'small', label: 'Small' }, { value: 'large', label: 'Large' }] },
		);
		const { id } = await add('contacts', { last_name: 'Option', custom_fields: { undo_size: 'small', contract_tier: 'gold' } });
		await as('p2', op.deleteRecord('contact', id));
		const { status } = await sandbox.call('PATCH', `/v1/custom-fields/${field.id}`, { options: [{ value: 'large', label: 'Large' }] });
		expect(status).toBe(200);
		const { items } = await undo('p2');
		expect(items).toMatchObject([{ result: 'cannot_be_undone', action: 'create', reason: expect.stringContaining('The CRM refused custom_fields.undo_size; the other values were restored') }]);
		expect(await record('contacts', newIdOf({ items }, id))).toMatchObject({ last_name: 'Option', custom_fields: { contract_tier: 'gold' } });
		expect(results(await undo('p2'))).toEqual(['already_so']);
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
	expect([await record('deals', deals[0]!.id), await record('deals', deals[1]!.id)]).toMatchObject([{ contact_ids: [again] }, { contact_id: again }]);
	expect(results(await undo('m1')).every((result) => result === 'already_so')).toBe(true);
});

describe('in a list that others have changed since, only the workflow’s additions and removals are undone', () => {
	test.each([false, true])('tags and links, with Undo Takes Precedence: %s', async (undoTakesPrecedence) => {
		const name = `tags-${undoTakesPrecedence}`;
		const [keptTag, wrongTag, takenTag, theirTag] = await Promise.all(['kept', 'wrong', 'taken', 'theirs'].map(async (suffix) => (await sandbox.create(
			'tags',
			{ name: `${name}-${suffix}` },
		)).id));
		const contacts = [await add('contacts', { last_name: 'L1' }), await add('contacts', { last_name: 'L2' }), await add('contacts', { last_name: 'L3' })].map((contact) => ({ resource: 'contacts', id: contact.id }));
		const task = await add('tasks', { title: 'Lists', tag_ids: [keptTag!, takenTag!], links: [contacts[0]!] });
		await as(name, op.update('task', task.id, { tag_ids: [keptTag!, wrongTag!], links: [contacts[0]!, contacts[1]!] }));
		await sandbox.call('PATCH', `/v1/tasks/${task.id}`, { tag_ids: [keptTag!, wrongTag!, theirTag!], links: [contacts[1]!, contacts[2]!] });
		const options = { undoTakesPrecedence };
		expect(results(await undo(name, { options }))).toEqual(['undone']);
		expect(await record('tasks', task.id)).toMatchObject({ tag_ids: [keptTag, theirTag, takenTag], links: [contacts[2]] });
		expect(results(await undo(name, { options }))).toEqual(['already_so']);
	});
});

test('Only These Records undoes those, reports unknown IDs, and refuses what is not an ID', async () => {
	const [firstId, secondId] = [await createAs('o1', 'contact', { last_name: 'One' }), await createAs('o1', 'contact', { last_name: 'Two' })];
	const { items, hints } = await undo('o1', { options: { onlyRecords: `${firstId}, con_nobody` } });
	expect(resultsById({ items })).toEqual({ [firstId]: 'undone' });
	expect(hints.join()).toContain('no changes found for con_nobody');
	expect(await record('contacts', secondId)).toBeDefined();
	expect((await undo('o1', { options: { onlyRecords: 'con_nobody' } })).hints.join()).toContain('to the records in Only These Records');
	for (const onlyRecords of ['={{ [] }}', '={{ [{}] }}', ', ,']) await expect(undo('o1', { options: { onlyRecords } })).rejects.toThrow('Only These Records');
	expect(resultsById(await undo('o1', { options: { onlyRecords: `={{ ["${secondId}"] }}` } }))).toEqual({ [secondId]: 'undone' });
});

test('a record that stays outside Only These Records keeps what it links to', async () => {
	const company = await createAs('o2', 'company', { name: 'Kept' });
	await createAs('o2', 'contact', { last_name: 'Holder', company_id: company });
	expect(resultsById(await undo('o2', { options: { onlyRecords: company } }))).toEqual({ [company]: 'conflict' });
});

test.each([
	['a hash', { version: 'a1b2', created_at: '2026-01-10T00:00:00.000Z', updated_at: '2026-01-10T00:00:00.250Z' }, 'conflict'],
	['a time', { version: '1767998400000', created_at: '2026-01-10T00:00:00.000Z', updated_at: '2026-01-10T00:00:00.250Z' }, 'conflict'],
	['a hash, of a record that existed before', { version: 'a1b2', created_at: '2025-01-10T00:00:00.000Z', updated_at: '2026-01-10T00:00:00.250Z' }, 'cannot_be_undone'],
	['a hash, of a record without a time', { version: 'a1b2' }, 'cannot_be_undone'],
])('a created record whose version is %s', async (_, object, result) => {
	const event = { id: 'evt_1', type: 'contact.created', timestamp: '2026-01-10T00:00:00.300Z', sequence: 5, actor: { type: 'api_key', id: 'k' }, request: null, data: { object: { id: 'con_1', ...object }, previous: null, changed: [] } };
	await logShows([event]);
	// The record is not there: what matters is that its creation was understood.
	expect(results(await undo('k', { undoOf: 'actor', since: '2026-01-01', options: { allowPartialUndo: true } }))).toEqual([result]);
});

describe('a value in two fields of a record, if the workflow changed both and somebody else then one', () => {
	const phone = (digits: string) => `+4144${digits}`;
	const entries = (...all: string[]) => all.map((value, i) => ({ value, primary: i === 0 }));
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
			expect(item).toMatchObject({ result: 'conflict', reason: expect.stringContaining('fields that the CRM changes with them') });
			expect((item!.changes as IDataObject[]).map(({ field, kept = false }) => [field, kept]).sort()).toEqual([[single, true], [list, true], ['job_title', false]].sort());
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
		const changes = [([, two]: string[]): IDataObject => ({ [single]: two }), ([, , three]: string[]): IDataObject => ({ [single]: three }), reorder];
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

	test('so does a record that was created again', async () => {
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
		const [firstPipeline, secondPipeline] = await Promise.all(['one', 'two'].map(async (name) => await add('pipelines', { name, stages: ['open', 'open', 'won', 'lost'].map((kind, i) => ({ name: `${name}${i}`, kind })) })));
		const stage = (pipeline: IDataObject | undefined, i: number) => (pipeline!.stages as Array<{ id: string }>)[i]!.id;
		const deal = await add('deals', { title: 'Forms', pipeline_id: firstPipeline!.id, stage_id: stage(firstPipeline, 1) });
		await as('f3', op.update('deal', deal.id, { pipeline_id: secondPipeline!.id, stage_id: stage(secondPipeline, 0) }));
		await sandbox.call('PATCH', `/v1/deals/${deal.id}`, { stage_id: stage(secondPipeline, 1) });
		for (const preview of [true, false]) expect((await undo('f3', { preview })).items).toMatchObject([{ result: 'conflict', action: null }]);
		expect(await record('deals', deal.id)).toMatchObject({ pipeline_id: secondPipeline!.id, stage_id: stage(secondPipeline, 1) });
	});

	test('in the contacts of a deal, only the workflow’s changes are undone', async () => {
		const [firstContact, secondContact, thirdContact] = await Promise.all(['1', '2', '3'].map(async (last_name) => await add('contacts', { last_name })));
		const deal = await add('deals', { title: 'Forms', contact_id: firstContact!.id });
		await as('f4', op.update('deal', deal.id, { contact_id: secondContact!.id }));
		const { contact_ids: writtenIds } = (await record('deals', deal.id))!;
		await sandbox.call('PATCH', `/v1/deals/${deal.id}`, { contact_ids: [...(writtenIds as string[]), thirdContact!.id] });
		expect(results(await undo('f4'))).toEqual(['undone']);
		const now = await record('deals', deal.id);
		expect(now).toMatchObject({ contact_id: firstContact!.id });
		expect((now!.contact_ids as string[]).sort()).toEqual([firstContact!.id, thirdContact!.id].sort());
	});

	test('a field that the CRM computes from several does not make them equivalent', async () => {
		const { id } = await add('contacts', { first_name: 'Ada', last_name: 'Bell', job_title: 'Bell' });
		await as('f6', op.update('contact', id, { first_name: 'Eva', last_name: 'Born', job_title: 'Born' }));
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { job_title: 'Poet' });
		await as('f6', op.deleteRecord('contact', id));
		expect(await record('contacts', newIdOf(await undo('f6'), id))).toMatchObject({ first_name: 'Ada', last_name: 'Bell', job_title: 'Poet' });
	});

	test('other fields of the same update are restored', async () => {
		const { id } = await add('contacts', { first_name: 'ada', last_name: 'Forms', phone: phone('4444444') });
		await as('f5', op.update('contact', id, { first_name: 'eva', phone: phone('5555555'), email: 'eva@forms.example', custom_fields: { contract_tier: 'gold' } }));
		await sandbox.call('PATCH', `/v1/contacts/${id}`, { phone: phone('6666666'), email: 'ada@forms.example' });
		expect(results(await undo('f5'))).toEqual(['conflict']);
		const now = await record('contacts', id);
		expect(now).toMatchObject({ first_name: 'ada', phone: phone('6666666'), email: 'ada@forms.example' });
		expect(now!.custom_fields).not.toHaveProperty('contract_tier');
	});
});

describe('changes that belong to an execution', () => {
	/** A node of an execution sets the job title. */
	const writes = async (id: string, executionId: string, name: string, job_title: string, more: { context?: IDataObject; runIndex?: number } = {}) =>
		await run({ credential: sandbox.credential, parameters: op.update('contact', id, { job_title }), executionId, name, ...more });

	test('a retry: a node that ran before belongs to the first execution, a node that did not to the retry', async () => {
		const [firstContact, secondContact] = [await add('contacts', { last_name: 'R1', job_title: 'a' }), await add('contacts', { last_name: 'R2', job_title: 'a' })];
		const context = {};
		await writes(firstContact.id, '501', 'First', 'b', { context });
		// n8n hands the contexts of the nodes that had run to the retry.
		await writes(firstContact.id, '502', 'First', 'c', { context, runIndex: 1 });
		await writes(secondContact.id, '502', 'Second', 'b');
		expect(resultsById(await undo('501'))).toEqual({ [firstContact.id]: 'undone' });
		expect(resultsById(await undo('502'))).toEqual({ [secondContact.id]: 'undone' });
		expect([await record('contacts', firstContact.id), await record('contacts', secondContact.id)]).toMatchObject([{ job_title: 'a' }, { job_title: 'a' }]);
	});

	test('an execution that waited: its writes before and after; a sub-workflow has its own', async () => {
		const [contact, sub] = [await add('contacts', { last_name: 'W1', job_title: 'a' }), await add('contacts', { last_name: 'W2', job_title: 'a' })];
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
