import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { create, deleteRecord, on, update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

/** Runs a preview, and checks that nothing is written. */
async function preview(parameters: IDataObject, items: IDataObject[] = [{}]): Promise<{ previews: IDataObject[]; hints: string[] }> {
	await sandbox.clear();
	const { items: outputs, hints } = await run({ ...parameters, options: { preview: true } }, items);
	expect(await sandbox.writes()).toEqual([]);
	return { previews: outputs.map(({ json }) => json.preview as IDataObject), hints };
}

let email: string;
beforeEach(() => (email = `${randomUUID()}@preview.example`));

test('Update shows the changes of each record with labels and names, and reads a hundred records with one request', async () => {
	const company = await sandbox.create('companies', { name: 'Altamira' });
	const ids = await Promise.all(
		Array.from({ length: 30 }, async (_, i) => (await sandbox.create('contacts', { first_name: `Ada ${i}`, last_name: 'Old' })).id),
	);
	const { previews, hints } = await preview(
		update('contact', '={{ $json.id }}', { last_name: '={{ $json.name }}', company_id: company.id }),
		ids.map((id, i) => ({ id, name: i === 0 ? 'Old' : 'New' })),
	);
	expect(previews[1]).toEqual({
		action: 'update',
		changes: [
			{ label: 'Last Name', field: 'last_name', from: 'Old', to: 'New' },
			{ label: 'Company', field: 'company_id', from: null, to: company.id, to_name: 'Altamira' },
		],
		reason: null,
	});
	expect((previews[0]!.changes as unknown[])).toHaveLength(1);
	expect(hints).toEqual(['Preview: nothing was written. Turn off Preview to write these: 30 × update.']);
	expect((await sandbox.requests()).filter(({ path }) => path === '/v1/contacts')).toHaveLength(1);
});

test('Create or Update shows which records exist, by the value to match on', async () => {
	await sandbox.create('contacts', { email, first_name: 'Ada', last_name: 'Kent' });
	const { previews, hints } = await preview(
		upsert('contact', 'email', { email: '={{ $json.email }}', first_name: '={{ $json.name }}', last_name: 'Kent' }),
		[{ email, name: 'Ada' }, { email: email.toUpperCase(), name: 'Eve' }, { email: `new-${email}`, name: 'Bob' }],
	);
	expect(previews).toMatchObject([
		{ action: 'unchanged', changes: [] },
		{ action: 'update', changes: [{ field: 'first_name', from: 'Ada', to: 'Eve' }] },
		{ action: 'create' },
	]);
	expect(hints).toContain('Preview: nothing was written. Turn off Preview to write these: 1 × unchanged, 1 × update, 1 × create.');
});

test('an item with a unique value of an earlier one changes the record that this one creates, or is refused', async () => {
	const items = [{ email, name: 'Ada' }, { email: ` ${email.toUpperCase()}`, name: 'Eve' }, { email, name: 'Eve' }];
	const fields = { email: '={{ $json.email }}', last_name: '={{ $json.name }}' };
	expect((await preview(upsert('contact', 'email', fields), items)).previews).toMatchObject([
		{ action: 'create' }, { action: 'update', changes: [{ field: 'last_name', from: 'Ada', to: 'Eve' }] }, { action: 'unchanged' },
	]);
	const { previews } = await preview(create('contact', fields), items);
	expect(previews).toMatchObject([
		{ action: 'create' }, { action: 'refused', reason: expect.stringContaining('Email: an earlier item creates') }, { action: 'refused' },
	]);
});

test('an item finds a record as earlier ones leave it, more than a request of items before it, too', async () => {
	const { id } = await sandbox.create('deals', { title: 'Renewal' });
	const items = Array.from({ length: 101 }, () => ({}));
	const actions = async (parameters: IDataObject) => (await preview(parameters, items)).previews.map(({ action }) => action);
	expect(await actions(update('deal', id, { title: 'New' }))).toEqual(['update', ...items.slice(1).fill('unchanged')]);
	expect(await actions(deleteRecord('deal', id))).toEqual(['delete', ...items.slice(1).fill('refused')]);
});

test('what would be refused is shown with the reason, and the other items too', async () => {
	const { id } = await sandbox.create('contacts', { email, last_name: 'Kent' });
	const { previews } = await preview(create('contact', { email: '={{ $json.email }}', last_name: '={{ $json.name }}' }), [
		{ email, name: 'Taken' },
		{ email: 'no address', name: 'Wrong' },
		{ email: `new-${email}`, name: 'Right' },
	]);
	expect(previews).toMatchObject([
		{ action: 'refused', reason: expect.stringMatching(new RegExp(`Kent \\(${id}\\) already has the value “${email}”`)) },
		{ action: 'refused', reason: expect.stringMatching(/is not an email address/) },
		{ action: 'create', changes: [{ field: 'email' }, { field: 'last_name', from: null, to: 'Right' }] },
	]);
	const { previews: missing } = await preview(update('contact', 'con_01h00000000000000000000000', { last_name: 'Kent' }));
	expect(missing).toMatchObject([{ action: 'refused', reason: expect.stringMatching(/no record with this ID/) }]);
});

test('a link to no record, an empty required field and a missing one are refused', async () => {
	const { id } = await sandbox.create('deals', { title: 'Renewal' });
	const fields = ['owner_id', 'company_id', 'tag_ids', 'stage_id', 'title', 'source'];
	const values = ['usr_gone', true, 'vip', 101, '', {}];
	for (const [i, field] of fields.entries()) {
		const { previews } = await preview(update('deal', id, { [field]: '={{ $json.value }}' }), [{ value: values[i] }] as IDataObject[]);
		expect(previews).toMatchObject([{ action: 'refused' }]);
	}
	const { previews } = await preview(upsert('deal', 'external_id', { external_id: email }));
	expect(previews).toMatchObject([{ action: 'refused', reason: expect.stringContaining('Title is empty') }]);
});

test('Delete and actions show the record that they concern', async () => {
	const { id } = await sandbox.create('deals', { title: 'Renewal' });
	expect((await preview(deleteRecord('deal', id))).previews).toMatchObject([{ action: 'delete', changes: [] }]);
	const { previews, hints } = await preview(on('deal', 'win', id));
	expect(previews).toMatchObject([{ action: 'win' }]);
	expect(hints).toEqual([expect.stringContaining('1 × win')]);
});
