import type { IDataObject } from 'n8n-workflow';

import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, undoing } from '../support/undo-node.ts';
import { until } from '../support/until.ts';

shortenWaits();

const sandbox = useSandbox({ contacts: 0 });
const { as, undo, results, add, record } = undoing(sandbox);

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
