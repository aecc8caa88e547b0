import type { IDataObject } from 'n8n-workflow';

import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { shortenWaits } from '../support/short-waits.ts';
import { newIdOf, undoing } from '../support/undo-node.ts';

shortenWaits();
const sandbox = useSandbox({ contacts: 0 });
const { as, undo, results, add, record } = undoing(sandbox);

/** Changes a record as somebody else. */
const person = async (path: string, body: IDataObject) => {
	const response = await sandbox.call('PATCH', `/v1/${path}`, body);
	if (response.status !== 200) throw new Error(JSON.stringify(response.body));
};

describe('in a list of records, whoever changed an entry last decides about it', () => {
	/** A list of a record: how it is written, with entries that name the others. */
	type List = { kind: string; collection: string; base: IDataObject; field: string; others: string; entry: (id: string) => unknown };
	const lists: Array<[string, List]> = [
		['tags', { kind: 'contact', collection: 'contacts', base: { last_name: 'E' }, field: 'tag_ids', others: 'tags', entry: (id) => id }],
		['contacts of a deal', {
			kind: 'deal', collection: 'deals', base: { title: 'E' }, field: 'contact_ids', others: 'contacts', entry: (id) => id,
		}],
		['links', {
			kind: 'task', collection: 'tasks', base: { title: 'E' }, field: 'links', others: 'contacts',
			entry: (id) => ({ resource: 'contacts', id }),
		}],
	];

	describe.each(lists)('%s', (name, { kind, collection, base, field, others, entry }) => {
		let count = 0;
		const other = async () => entry((await add(others, others === 'tags' ? { name: `${name} ${++count}` } : { last_name: 'Entry' })).id);
		const start = async (...entries: unknown[]) => (await add(collection, { ...base, [field]: entries })).id;
		const updateAsWorkflow = async (execution: string, id: string, ...entries: unknown[]) =>
			await as(execution, op.update(kind, id, { [field]: JSON.stringify(entries) }));
		const theirs = async (id: string, ...entries: unknown[]) => await person(`${collection}/${id}`, { [field]: entries });
		const now = async (id: string) => (await record(collection, id))![field];

		test('an entry that a person has added again stays, unless the undo takes precedence', async () => {
			const [addedEntry, id] = [await other(), await start()];
			await updateAsWorkflow(`${name} 1`, id, addedEntry);
			await theirs(id);
			await theirs(id, addedEntry);
			expect(await undo(`${name} 1`)).toMatchObject({
				items: [{ result: 'conflict', changes: [{ field, from: [addedEntry], to: [], kept: true }] }],
			});
			expect(await now(id)).toEqual([addedEntry]);
			expect(results(await undo(`${name} 1`, { options: { undoTakesPrecedence: true } }))).toEqual(['undone']);
			expect(await now(id)).toEqual([]);
		});

		test('an entry that a person has removed again stays removed', async () => {
			const [stays, removedEntry] = [await other(), await other()];
			const id = await start(stays, removedEntry);
			await updateAsWorkflow(`${name} 2`, id, stays);
			await theirs(id, stays, removedEntry);
			await theirs(id, stays);
			expect(results(await undo(`${name} 2`))).toEqual(['conflict']);
			expect(await now(id)).toEqual([stays]);
		});

		test('the workflow’s changes before and after a person’s are undone, and the person’s stay', async () => {
			const [first, mine, hers, last] = [await other(), await other(), await other(), await other()];
			const id = await start(first);
			await updateAsWorkflow(`${name} 3`, id, mine);
			await theirs(id, mine, hers);
			await updateAsWorkflow(`${name} 3`, id, mine, hers, last);
			expect(results(await undo(`${name} 3`))).toEqual(['undone']);
			expect(await now(id)).toHaveLength(2);
			expect(await now(id)).toEqual(expect.arrayContaining([hers, first]));
			expect(results(await undo(`${name} 3`))).toEqual(['already_so']);
		});
	});

	test('a deleted record is created again with the entries of others only', async () => {
		const [mine, hers] = [(await add('tags', { name: 'mine' })).id, (await add('tags', { name: 'hers' })).id];
		const { id } = await add('contacts', { last_name: 'Deleted' });
		await as('d1', op.update('contact', id, { tag_ids: [mine] }));
		await person(`contacts/${id}`, { tag_ids: [mine, hers] });
		await as('d1', op.deleteRecord('contact', id));
		expect(await record('contacts', newIdOf(await undo('d1'), id))).toMatchObject({ tag_ids: [hers] });
	});
});

describe('a value in two fields, of which a person has changed one between two writes of the workflow', () => {
	const entries = (...all: string[]) => all.map((value, i) => ({ value, primary: i === 0 }));

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
