import type { IDataObject } from 'n8n-workflow';

import { type MergedType, mergedValues } from '../../nodes/CrmPlatform/duplicates/mergedValues';
import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { type Alteration, alteredService, beforeFirst, redescribe, withoutEmptyParts } from '../support/altered-service.ts';
import { duplicatesOf } from '../support/duplicates-node.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { newIdOf, undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const { add, as, record, undo } = undoing(sandbox);
const { find, merge } = duplicatesOf(sandbox);
const [service, withoutLog] = [alteredService(sandbox), alteredService(sandbox)];
type Row = Awaited<ReturnType<typeof add>>;
const links = (id: string) => [{ resource: 'contacts', id }];

test('a preview says what a merge then does, the survivor has all values and links, and a further run says that it is done', async () => {
	const company = await add('companies', { name: 'Engines' });
	const survivor = await add('contacts', { last_name: 'King', phone: '+442071838750', job_title: 'Analyst', tag_ids: [] });
	const unique = { email: 'ada@king.example', external_id: 'ada', job_title: 'Countess' };
	const loser = await add('contacts', { first_name: 'Ada', last_name: 'King', phone: '+442071838751', company_id: company.id, ...unique });
	const linking: Record<string, IDataObject> = {
		deals: { title: 'Main', contact_id: loser.id, contact_ids: [loser.id, survivor.id] },
		tickets: { subject: 'Help', contact_id: loser.id },
		messages: { channel: 'email', direction: 'inbound', from: 'ada@king.example', to: ['us@us.example'], text: 'Hi', contact_id: loser.id },
		tasks: { title: 'Call', links: links(loser.id) },
		notes: { body: 'Met', links: links(loser.id) },
		activities: { type: 'call', occurred_at: '2026-01-01T00:00:00Z', links: links(loser.id) },
	};
	const linked: Array<[string, string]> = [];
	for (const [collection, body] of Object.entries(linking)) linked.push([collection, (await add(collection, body)).id]);
	expect((await find(['name', 'email', 'phone'])).items).toEqual([]);
	expect((await find(['last_name'])).items).toMatchObject([{ ids: [survivor.id, loser.id], why: ['Last Name: king'] }]);
	await sandbox.clear();
	const preview = await merge([[survivor.id, loser.id]], { preview: true });
	expect(await sandbox.writes()).toEqual([]);
	const intended = { id: survivor.id, deleted: [loser.id], deleted_names: ['Ada King'], reason: null };
	expect(preview.items).toMatchObject([{ result: 'to_be_merged', ...intended }]);
	expect(preview.items[0]!.not_kept).toEqual([{ field: 'job_title', id: loser.id, value: 'Countess' }]);

	const { items } = await merge([[survivor.id, loser.id]], {}, { executionId: 'm1' });
	expect(items).toMatchObject([{ result: 'merged', ...intended }]);
	expect(items[0]!.links).toEqual(preview.items[0]!.links);
	expect(await record('contacts', survivor.id)).toMatchObject({
		first_name: 'Ada', email: 'ada@king.example', phone: '+442071838750', external_id: 'ada', company_id: company.id,
		phones: [{ value: '+442071838750', primary: true }, { value: '+442071838751', primary: false }],
	});
	for (const [collection, id] of linked) {
		const text = JSON.stringify(await record(collection, id));
		expect([collection, text.includes(survivor.id), text.includes(loser.id)]).toEqual([collection, true, false]);
	}
	expect((await merge([[survivor.id, loser.id]])).items).toMatchObject([
		{ result: 'already_merged', id: survivor.id, reason: expect.stringMatching(`${loser.id} was merged .* by execution m1 of`) as string },
	]);
});

test('merges of contacts in a row, and of their companies, are undone whole one after the other', async () => {
	const rows = async (type: string, field: string) =>
		await Promise.all(['A', 'B', 'C'].map(async (name) => await add(type, { [field]: name }))) as [Row, Row, Row];
	const [[a, b, c], companies] = await Promise.all([rows('contacts', 'last_name'), rows('companies', 'name')]);
	await sandbox.call('PATCH', `/v1/contacts/${b.id}`, { company_id: companies[1].id });
	const note = await add('notes', { body: 'Met', links: links(b.id) });
	await merge([[a.id, b.id]], { survivor: 'id', survivorId: a.id }, { executionId: 'row1' });
	await merge([[a.id, c.id]], { survivor: 'id', survivorId: c.id }, { executionId: 'row2' });
	// Its company is created again twice.
	for (const [i, other] of [companies[0], companies[2]].entries()) {
		const [{ company_id: id }] = await sandbox.list('contacts?last_name=C') as [Row & IDataObject];
		const executionId = `row${3 + i}`;
		await duplicatesOf(sandbox, 'company').merge([[other.id, id]], { survivor: 'id', survivorId: other.id }, { executionId });
		if (i === 0) await undo(executionId);
	}
	for (const execution of ['row4', 'row2', 'row1']) {
		const { items } = await undo(execution);
		expect([execution, ...items.map(({ result, reason }) => [result, reason])]).toEqual([execution, ...items.map(() => ['undone', null])]);
	}
	const [[newB], [newD]] = await Promise.all([sandbox.list('contacts?last_name=B'), sandbox.list('companies?name=B')]);
	expect(newB).toMatchObject({ company_id: newD!.id });
	expect(await sandbox.list('contacts?last_name=A')).toMatchObject([{ company_id: null }]);
	expect(await record('notes', note.id)).toMatchObject({ links: [{ id: newB!.id }] });
});

test('a merge that was undone is not taken for done: the record is another one now', async () => {
	const { id: survivor } = await add('contacts', { last_name: 'Again' });
	const { id: loser } = await add('contacts', { last_name: 'Again', email: 'again@x.example' });
	await merge([[survivor, loser]], {}, { executionId: 'wrong' });
	const newId = newIdOf(await undo('wrong'), loser);
	await sandbox.call('PATCH', `/v1/contacts/${newId}`, { email: 'changed@x.example' });
	const reason = expect.stringContaining(`An undo created it again as ${newId}`) as string;
	expect((await merge([[survivor, loser]])).items).toMatchObject([{ result: 'refused', reason }]);
	expect(await record('contacts', survivor)).toMatchObject({ email: null });
	expect((await merge([[survivor, newId]])).items).toMatchObject([{ result: 'merged' }]);
});

test('a merge that was undone by mistake is taken for done once that undo is undone', async () => {
	const { id: survivor } = await add('contacts', { last_name: 'Mistaken' });
	const { id: loser } = await add('contacts', { last_name: 'Mistaken', email: 'mistaken@x.example' });
	await merge([[survivor, loser]], {}, { executionId: 'meant' });
	await undo('meant', {}, 'mistake');
	await undo('mistake');
	const reason = expect.stringContaining('meant') as string;
	expect((await merge([[survivor, loser]])).items).toMatchObject([{ result: 'already_merged', reason }]);
});

describe('groups that cannot be merged', () => {
	test('get a sentence each, and the others are merged', async () => {
		const people = await Promise.all(Array.from({ length: 6 }, async (_, i) => (await add('contacts', { last_name: `Bad ${i}` })).id));
		await as('merge-of-workflow', op.deleteRecord('contact', people[5]!));
		const pair = (first: number) => [people[first], people[first + 1]];
		const groups = [[people[0]], pair(0), pair(1), [people[2], people[5]], 'con_none, con_other', pair(3)];
		const { items } = await merge(groups);
		expect(items.map(({ result, reason }) => `${String(result)}: ${String(reason)}`)).toEqual([
			expect.stringContaining('fewer than two'), expect.stringContaining('is in several groups (items 0, 1)'),
			expect.stringContaining('in several groups (items 1, 2)'), expect.stringContaining('in several groups (items 2, 3)'),
			expect.stringContaining('There is no record con_none'), 'merged: null',
		]);
		const refusal = (text: string) => ({ result: 'refused', reason: expect.stringContaining(`${people[5]} was deleted ${text}`) as string });
		const others = [[people[2], people[5]], [people[0], people[1]]];
		expect((await merge(others, { preview: true })).items).toMatchObject([
			refusal('by execution merge-of-workflow of workflow '), { result: 'to_be_merged' },
		]);
		redescribe(withoutLog, ({ paths }) => delete paths['/v1/events']);
		expect((await duplicatesOf(withoutLog).merge(others)).items).toMatchObject([refusal('before the log'), { result: 'merged' }]);
	});

	test('are those whose survivor cannot be read', async () => {
		const ids = [(await add('contacts', { last_name: 'Read' })).id, (await add('contacts', { last_name: 'Read' })).id];
		const survivorId = '={{ [$json.ids[1], 2 ** 53][$itemIndex] ?? $("None").first().json.id }}';
		const groups = [ids, ['con_1', 'con_2'], ['con_3', 'con_4']];
		const { items } = await merge(groups, { survivor: 'id', survivorId });
		expect(items).toMatchObject([{ result: 'merged', id: ids[1] }, { result: 'refused' }, { result: 'refused' }]);
		expect(items.map(({ reason }) => reason).join()).toMatch(/Survivor ID: 9007199254740992 is so.*Survivor ID: Referenced node/);
		const unreadable = { survivor: 'id', survivorId: '={{ $itemIndex === 0 ? $json.ids[0] : $("None").first().json.id }}' };
		const reason = expect.stringContaining('in several groups (items 0, 1)') as string;
		expect((await merge([['con_1', 'con_2'], ['con_2', 'con_3']], unreadable)).items).toMatchObject([{ reason }, { result: 'refused' }]);
		await expect(merge(groups, { ids: '={{ $("None").first().json.id }}' })).rejects.toThrow('Records: Referenced node');
	});

	test.each([
		['Newest Change', 'updated_at', { survivor: 'newest' }], ['Oldest', 'created_at', {}],
		['the rule Newest', 'updated_at', { fieldRules: { rows: [{ field: 'job_title', rule: 'newest' }] } }],
	])('are those that %s would decide by a time that the CRM does not return', async (_name, field, rule) => {
		const ids = await Promise.all([0, 1].map(async (i) => (await add('contacts', { last_name: 'Timeless', job_title: `${i}` })).id));
		service.edit(({ body }) => {
			for (const row of (Array.isArray(body.data) ? body.data : []) as IDataObject[]) if (row.id === ids[1]) delete row[field];
		});
		const reason = expect.stringContaining(`${ids[1]} has no`) as string;
		expect((await duplicatesOf(service).merge([ids], rule)).items).toMatchObject([{ result: 'refused', reason }]);
		expect(await record('contacts', ids[1]!)).toBeDefined();
	});

	test('nothing is written beyond Maximum Deletions, nor with a rule that a field cannot have', async () => {
		const ids = await Promise.all([0, 1].map(async (i) => (await add('contacts', { last_name: 'Max', email: `max-${i}@x.example` })).id));
		await sandbox.clear();
		await expect(merge([ids], { maxDeletions: 0 })).rejects.toThrow('1 records would be deleted, and Maximum Deletions allows 0');
		await expect(merge([ids], { fieldRules: { rows: [{ field: 'email', rule: 'newest' }] } })).rejects.toThrow('Email must be unique');
		await expect(merge([ids], { fieldRules: { rows: [{ field: 'last_name', rule: 'all' }] } })).rejects.toThrow('Last Name has one value');
		const other = await add('contacts', { last_name: 'Max' });
		await sandbox.clear();
		const reason = expect.stringContaining('Records: 9007199254740992 is so large') as string;
		const { items } = await merge([[2 ** 53, other.id], ids], { preview: true });
		expect(items).toMatchObject([{ result: 'refused', reason }, { result: 'to_be_merged' }]);
		const twice = ['newest', 'longest'].map((rule) => ({ field: 'last_name', rule }));
		await expect(merge([ids], { fieldRules: { rows: twice } })).rejects.toThrow('Field Rules: last_name has several rules');
		expect(await sandbox.writes()).toEqual([]);
	});
});

test('a link among the merged records is dropped with the object around its ID', () => {
	const link = fieldNamed('links', { kind: 'json', linksTo: ['/contacts', '/companies'] });
	const merged = [{ name: 'links', link, rule: 'all', isUnique: false }];
	const type = { recordList: { path: '/contacts', list: {} }, merged } as unknown as MergedType;
	const company = { resource: 'companies', id: 'b' };
	const duplicates: [Row, Row] = [{ id: 'a', links: [...links('b'), company] }, { id: 'b', links: links('a') }];
	expect(mergedValues(type, duplicates, false)).toEqual({ links: [company] });
	expect(mergedValues(type, [{ id: 'a' }, { id: 'b', links: links('a')[0]! }], false)).toEqual({ links: null });
});

test('an address is one value, even if the CRM omits its empty parts', async () => {
	const older = await add('contacts', { last_name: 'Parts', address: { city: 'Paris', postal_code: '75001' } });
	const { id, address } = await add('contacts', { last_name: 'Parts', address: { city: 'Rome' } });
	service.alter({ answer: withoutEmptyParts });
	await duplicatesOf(service).merge([[older.id, id]], { fieldRules: { rows: [{ field: 'address', rule: 'newest' }] } });
	expect(await record('contacts', older.id)).toMatchObject({ address });
});

test('companies are found by any of their domains, and merged with what belongs to them', async () => {
	const companies = duplicatesOf(sandbox, 'company');
	const first = await add('companies', { name: 'Acme', domain: 'acme.example' });
	const second = await add('companies', {
		name: 'ACME Inc.', domain: 'acme.test', domains: ['acme.test', 'Acme.Example'], parent_company_id: first.id,
	});
	const contact = await add('contacts', { last_name: 'Wile', company_id: second.id });
	const { items: [group] } = await companies.find(['domain']);
	expect(group).toMatchObject({ ids: [first.id, second.id], why: ['Domain: acme.example'] });
	const { items } = await companies.merge([group!.ids], { survivor: 'id', survivorId: second.id });
	expect(items).toMatchObject([{ result: 'merged', id: second.id, name: 'ACME Inc.', deleted: [first.id] }]);
	expect(await record('contacts', contact.id)).toMatchObject({ company_id: second.id });
	expect(await record('companies', second.id)).toMatchObject({ parent_company_id: null, domain: 'acme.test' });
});

describe('a company does not come to be above itself', () => {
	const company = async (name: string, parent?: Row) => await add('companies', { name, ...(parent && { parent_company_id: parent.id }) });
	test.each<[string, () => Promise<{ survivor: Row; loser: Row; below: Row; above: Row }>]>([
		['as it gets a parent below itself', async () => {
			const survivor = await company('Round');
			const below = await company('Middle', survivor);
			return { survivor, below, above: survivor, loser: await company('Round', await company('Below', below)) };
		}],
		['as its own parent is below its duplicate', async () => {
			const loser = await company('Round');
			const below = await company('Middle', loser);
			return { survivor: await company('Round', below), below, above: loser, loser };
		}],
	])('%s', async (_how, create) => {
		const { survivor, loser, below, above } = await create();
		const before = await record('companies', survivor.id);
		const reason = expect.stringContaining(`Parent Company: ${below.id} is below ${above.id}`) as string;
		for (const preview of [true, false]) {
			const parameters = { survivor: 'id', survivorId: survivor.id, preview, maxDeletions: 0 };
			const { items } = await duplicatesOf(sandbox, 'company').merge([[survivor.id, loser.id]], parameters);
			expect(items).toMatchObject([{ result: 'conflict', deleted: [], links: [], reason }]);
		}
		expect(await record('companies', survivor.id)).toEqual(before);
		expect(await record('companies', loser.id)).toBeDefined();
	});
});

describe('nothing is lost', () => {
	const saying = (text: string) => expect.stringContaining(text) as string;
	const contact = async (more: IDataObject = {}) => (await add('contacts', { last_name: 'Kept', ...more })).id;

	test('in fields that cannot be written: the group is left alone, and nothing is merged if such a field has links', async () => {
		const { id: origin } = await add('custom-fields', { resource: 'contacts', key: 'origin', label: 'Origin', type: 'text' });
		const group = [await contact(), await contact({ custom_fields: { origin: 'Rome' } })];
		await sandbox.call('PATCH', `/v1/custom-fields/${origin}`, { read_only: true });
		for (const preview of [true, false]) {
			const reason = saying('has a value in custom_fields.origin');
			expect((await merge([group], { preview })).items).toMatchObject([{ result: 'refused', reason }]);
		}
		const link = await add('custom-fields', {
			resource: 'deals', key: 'buyer', label: 'Buyer', type: 'reference', reference_resource: 'contacts', read_only: true,
		});
		await expect(merge([[await contact(), await contact()]])).rejects.toThrow('Buyer of /v1/deals is read-only, so links');
		await sandbox.call('PATCH', `/v1/custom-fields/${link.id}`, { read_only: false, archived_at: '2026-01-01T00:00:00Z' });
		const { hints } = await merge([[await contact(), await contact()]], { preview: true });
		expect(hints).toContainEqual(expect.stringContaining('Buyer of /v1/deals is archived, so its links stay'));
		await sandbox.call('DELETE', `/v1/custom-fields/${link.id}`);
		for (const id of group) expect(await record('contacts', id)).toBeDefined();
	});

	test('untold: what the survivor does not get is reported, addresses and entries of lists, too, and nothing else', async () => {
		const options = ['en', 'fr', 'de'].map((value) => ({ value, label: value }));
		for (const more of [{ key: 'passport', unique: true }, { key: 'diet' }, { key: 'langs', type: 'multi_select', options }])
			await add('custom-fields', { resource: 'contacts', label: more.key, type: 'text', ...more });
		const more = { custom_fields: { diet: 'vegan', langs: ['en', 'de'] }, phone: '+442071838756' };
		const survivor = await contact({ address: { city: 'Paris' }, ...more });
		const custom = { passport: 'P1', diet: 'vegan', langs: ['en', 'fr'] };
		const id = await contact({ address: { city: 'Rome' }, custom_fields: custom, phone: '+442071838757' });
		const same = await contact({ address: { city: 'Paris' } });
		service.alter({ answer: withoutEmptyParts });
		const rules = { fieldRules: { rows: [{ field: 'custom_fields.langs', rule: 'survivor' }] } };
		const { items } = await duplicatesOf(service).merge([[survivor, id, same]], rules);
		expect(items).toMatchObject([{ result: 'merged', not_kept: [
			{ field: 'address', id, value: { city: 'Rome' } }, { field: 'custom_fields.langs', id, value: 'fr' },
		] }]);
	});

	test('of the main email and phone, wherever they stand in their lists', async () => {
		const lists = (emails: string[], phones: string[]) => Object.fromEntries(Object.entries({ emails, phones }).map(([name, values]) =>
			[name, values.map((value, i) => ({ value, primary: i === values.length - 1 }))]));
		const first = await contact(lists(['old@x.example', 'main@x.example'], ['+442071838752', '+442071838753']));
		await merge([[first, await contact(lists([], ['+442071838754']))]]);
		const main = { email: 'main@x.example', phone: '+442071838753' };
		expect(await record('contacts', first)).toMatchObject({ ...main, emails: [{}, { value: main.email }], phones: [{}, {}, {}] });
	});

	test('in custom fields with definitions that are not understood: the group stays, and none is merged if they are links', async () => {
		await add('custom-fields', { resource: 'contacts', key: 'tier', label: 'Tier', type: 'text' });
		const link = await add('custom-fields', {
			resource: 'deals', key: 'referee', label: 'Referee', type: 'reference', reference_resource: 'contacts',
		});
		const toCompany = { resource: 'deals', key: 'parent', label: 'Parent', type: 'reference', reference_resource: 'companies' };
		const other = await add('custom-fields', toCompany);
		let unread = ['tier', 'parent'];
		service.edit(({ path, body }) => {
			if (!path.startsWith('/v1/custom-fields')) return;
			for (const definition of body.data as IDataObject[]) if (unread.includes(String(definition.key))) definition.options = [{ value: 1 }];
		});
		const group = [await contact(), await contact({ custom_fields: { tier: '1' } })];
		const reason = saying('has a value in custom_fields.tier');
		expect((await duplicatesOf(service).merge([group])).items).toMatchObject([{ result: 'refused', reason }]);
		unread = ['referee'];
		await expect(duplicatesOf(service).merge([group])).rejects.toThrow('referee of /v1/deals is not understood (rule 17');
		for (const { id } of [link, other]) await sandbox.call('DELETE', `/v1/custom-fields/${id}`);
	});

	test('of external IDs, if a text field takes those of the deleted records', async () => {
		await add('custom-fields', { resource: 'contacts', key: 'earlier', label: 'Earlier', type: 'text' });
		const first = await contact({ external_id: 'a', custom_fields: { earlier: 'z,z' } });
		const group = [first, await contact({ external_id: 'b' }), await contact({ external_id: 'c' })];
		const rules = (field: string) => ({ fieldRules: { rows: [{ field, rule: 'externalIds' }] } });
		await expect(merge([group], rules('lifecycle_stage'))).rejects.toThrow('cannot take the external IDs');
		await merge([group], rules('custom_fields.earlier'));
		expect(await record('contacts', first)).toMatchObject({ external_id: 'a', custom_fields: { earlier: 'z,z, b, c' } });
	});

	/** Merges two contacts while somebody changes the survivor, before links are looked for or just before the deletion. */
	async function meanwhile(act: (survivor: string) => Promise<unknown>, more = {}, moment = /^GET .*notes/) {
		const survivor = await add('contacts', { last_name: 'Late' });
		const loser = await add('contacts', { last_name: 'Late', email: 'late@x.example', ...more });
		service.alter({ request: beforeFirst(moment, async () => await act(survivor.id)) });
		const { items } = await duplicatesOf(service).merge([[survivor.id, loser.id]]);
		return { item: items[0]!, survivor: await record('contacts', survivor.id), loser: await record('contacts', loser.id) };
	}

	test('if the survivor is deleted meanwhile: its duplicates stay', async () => {
		const { item, loser } = await meanwhile(async (id) => await sandbox.call('DELETE', `/v1/contacts/${id}`));
		expect(item).toMatchObject({ result: 'conflict', deleted: [], reason: saying('The survivor was deleted') });
		expect(loser).toMatchObject({ email: 'late@x.example' });
		await sandbox.call('DELETE', `/v1/contacts/${String(loser!.id)}`);
	});

	test.each<[string, RegExp, boolean, boolean]>([
		['while others move, also if the CRM clears links to deleted records', /^PATCH .*deals/, false, true],
		['again while others move, also if the CRM clears links to deleted records', /^PATCH .*tickets/, true, true],
		['while the duplicate is deleted', /^DELETE|delete$/, false, false],
	])('if a link is made %s: it moves', async (_, moment, wasLinked, isCleared) => {
		const [survivor, loser] = [await contact({}), await contact({})];
		await add('deals', { title: 'Early', contact_id: loser });
		const { id } = await add('tasks', { title: 'Late', links: wasLinked ? links(loser) : [] });
		await add('tickets', { subject: 'Early', contact_id: loser });
		const setLinks = async (to: IDataObject[]) => await sandbox.call('PATCH', `/v1/tasks/${id}`, { links: to });
		const isLinked = async () => JSON.stringify(await record('tasks', id)).includes(loser);
		const late = beforeFirst(moment, async () => await setLinks(links(loser)));
		const clearing = beforeFirst(/^DELETE|delete$/, async () => isCleared && (await isLinked()) && await setLinks([]));
		service.alter({ request: async (passing) => (await late(passing)) ?? (await clearing(passing)) });
		expect((await duplicatesOf(service).merge([[survivor, loser]])).items).toMatchObject([{ result: 'merged' }]);
		expect(await record('tasks', id)).toMatchObject({ links: links(survivor) });
	});

	const listing = (path: string, data: Row[]): Alteration => ({ edit: (answer) => {
		if (answer.method === 'GET' && answer.path.startsWith(`${path}?`)) answer.body.data = data;
	} });

	test('if the list of tickets lags: a link that has moved is not moved again', async () => {
		const [survivor, loser] = [await contact({}), await contact({})];
		const ticket = await add('tickets', { subject: 'Moved', contact_id: loser });
		service.alter(listing('/v1/tickets', [ticket]));
		const { items } = await duplicatesOf(service).merge([[survivor, loser]]);
		expect(items).toMatchObject([{ result: 'merged', links: [{ collection: 'tickets', id: ticket.id }] }]);
	});

	test('if the list of deals lags: a link to a record that was deleted before is not taken for moved', async () => {
		const [survivor, first, second] = [await contact({}), await contact({}), await contact({})] as const;
		const friend = { resource: 'deals', key: 'friend', label: 'Friend', type: 'reference', reference_resource: 'contacts' };
		const { id: field } = await add('custom-fields', friend);
		const deal = await add('deals', { title: 'Both', custom_fields: { friend: second } });
		const late = async () => await sandbox.call('PATCH', `/v1/deals/${deal.id}`, { contact_id: first });
		service.alter({ ...listing('/v1/deals', [deal]), request: beforeFirst(/^DELETE|delete$/, late) });
		await duplicatesOf(service).merge([[survivor, first]]);
		service.alter(listing('/v1/deals', [(await record('deals', deal.id)) as Row]));
		const { items } = await duplicatesOf(service).merge([[survivor, first, second]]);
		expect(items).toMatchObject([{ result: 'conflict', reason: saying('was changed') }]);
		await merge([[survivor, first, second]]);
		expect(await record('deals', deal.id)).toMatchObject({ contact_id: survivor, custom_fields: { friend: survivor } });
		await sandbox.call('DELETE', `/v1/custom-fields/${field}`);
	});

	test('untold if the survivor is deleted with its duplicates: an undo restores them', async () => {
		const act = async (survivor: string) => {
			const { id } = (await sandbox.list('contacts?last_name=Late')).find((row) => row.id !== survivor)!;
			await add('notes', { body: 'Late', links: links(id) });
			await sandbox.call('DELETE', `/v1/contacts/${survivor}`);
		};
		const { item } = await meanwhile(act, { email: null }, /^DELETE|delete$/);
		expect(service.passed.filter((request) => /^(?!GET).*notes/.test(request))).toEqual([]);
		expect(item).toMatchObject({ result: 'conflict', reason: saying('so their values are in no record. Undo') });
	});

	test('if a duplicate is edited meanwhile: the survivor has the unique values of those that are deleted', async () => {
		const ids: string[] = [];
		for (const i of [0, 1, 2]) ids.push(await contact({ email: `partly-${i}@x.example` }));
		const act = async () => await sandbox.call('PATCH', `/v1/contacts/${ids[2]}`, { job_title: 'New' });
		service.alter({ request: beforeFirst(/^DELETE|delete$/, act) });
		const { items } = await duplicatesOf(service).merge([ids]);
		expect(items).toMatchObject([{ result: 'conflict', deleted: [ids[1]], reason: saying('was changed') }]);
		const emails = ['partly-0@x.example', 'partly-1@x.example', 'partly-2@x.example'].map((value) => ({ value }));
		expect(await record('contacts', ids[0]!)).toMatchObject({ emails: emails.slice(0, 2) });
		expect((await duplicatesOf(service).merge([ids])).items).toMatchObject([{ result: 'merged' }]);
		expect(await record('contacts', ids[0]!)).toMatchObject({ emails, job_title: 'New' });
	});

	test('if the survivor is edited meanwhile: it gets the unique values nevertheless, and keeps the edit', async () => {
		const { item, survivor } = await meanwhile(async (id) => await sandbox.call('PATCH', `/v1/contacts/${id}`, { job_title: 'New' }));
		expect(item).toMatchObject({ result: 'merged', reason: null });
		expect(survivor).toMatchObject({ email: 'late@x.example', job_title: 'New' });
	});
});
