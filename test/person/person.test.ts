import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { IDataObject } from 'n8n-workflow';

import { alteredService, redescribe } from '../support/altered-service.ts';
import { duplicatesOf } from '../support/duplicates-node.ts';
import { nodeRuns } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { useFolderOfFile } from '../support/temporary-folder.ts';
import { newIdOf, undoing } from '../support/undo-node.ts';

const folder = useFolderOfFile();
const sandbox = useSandbox({ contacts: 0, db: join(folder, 'crm.db') });
const { run, output } = nodeRuns(sandbox);
const { add, record, undo } = undoing(sandbox);
const [service, withoutObjects] = [alteredService(sandbox), alteredService(sandbox)];
const links = (...ids: string[]) => ids.map((id) => ({ resource: 'contacts', id }));
type CreationEvent = { type?: string; request: unknown; data: { object: IDataObject } };
const erase = (id: string, more: IDataObject = {}) =>
	op.on('person', 'erase', id, { preview: false, confirmation: id, maxErased: 1000, ...more });

const inbound = { channel: 'email', direction: 'inbound', to: ['us@us.example'], text: 'Hi' };
const identifiers = ['ada@king-sons.example', 'ada.home@king-sons.example', '+442071838750', 'Ada King'];

/** A person with records of every type around, some of which concern others, too. */
async function addPerson() {
	const company = await add('companies', { name: 'Engines', description: 'Founded by Ada King.' });
	const person = await add('contacts', {
		first_name: 'Ada', last_name: 'King', email: 'ada@king-sons.example', phone: '+442071838750', company_id: company.id,
		emails: [{ value: 'ada@king-sons.example', primary: true }, { value: 'ada.home@king-sons.example' }],
	});
	const other = await add('contacts', { last_name: 'Byron' });
	const created: Record<string, string> = { company: company.id, person: person.id, other: other.id };
	const bodies: Record<string, [collection: string, body: IDataObject]> = {
		deal: ['deals', { title: 'Engine for Ada King', contact_id: person.id }],
		ticket: ['tickets', { subject: 'Help', description: 'Call +44 20 7183 8750 or ADA@KING-SONS.EXAMPLE', contact_id: person.id }],
		message: ['messages', { ...inbound, from: 'ada@king-sons.example', contact_id: person.id }],
		task: ['tasks', { title: 'Call Ada King', links: links(person.id) }],
		shared: ['notes', { body: 'Ada King and Byron met', links: links(person.id, other.id) }],
		note: ['notes', { body: 'Met Ada', links: links(person.id) }],
		activity: ['activities', {
			type: 'call', occurred_at: '2026-01-01T00:00:00Z', links: links(person.id),
			participants: [{ name: 'Ada King', email: 'ada@king-sons.example' }],
		}],
		unrelated: ['notes', { body: 'Nevada Kingston and ada@king-sons.example.org', links: links(other.id) }],
	};
	for (const [name, [collection, body]] of Object.entries(bodies)) created[name] = (await add(collection, body)).id;
	return created;
}

test('an export of a person has every place in the account, by link and by text, and who changed what', async () => {
	const created = await addPerson();
	await add('custom-fields', { resource: 'contacts', key: 'diet', label: 'Diet', type: 'text' });
	await sandbox.call('PATCH', `/v1/contacts/${created.person}`, { job_title: 'Mathematician', custom_fields: { diet: 'vegan' } });
	const { items: [item] } = await run(op.on('person', 'export', created.person));
	const fileIn = (field: string) => Buffer.from(item!.binary![field]!.data, 'base64').toString();
	const data = JSON.parse(fileIn('data')) as { records: Array<{ record: IDataObject }>; events: IDataObject[] };
	const ids = data.records.map(({ record: { id } }) => id);
	const expected = ['company', 'person', 'deal', 'ticket', 'message', 'task', 'shared', 'note', 'activity'].map((name) => created[name]);
	expect(new Set(ids)).toEqual(new Set(expected));
	const changes = { job_title: { from: null, to: 'Mathematician' }, 'custom_fields.diet': { from: null, to: 'vegan' } };
	expect(data.events).toContainEqual(expect.objectContaining({ type: 'contact.updated', changes }));
	const text = fileIn('readable');
	expect(text).toContain('# Ada King');
	expect(text).toContain('Engine for Ada King');
	await output(erase(created.person!));
});

test('with whole numbers as IDs, which records of two types may share, nothing but the person is exported and erased', async () => {
	const person = await add('contacts', { first_name: 'Emmy', last_name: 'Noether' });
	const company = await add('companies', { name: 'Rings' });
	const deal = await add('deals', { title: 'Ideals' });
	const note = await add('notes', { body: 'Met', links: [{ resource: 'companies', id: company.id }] });
	const { id } = await add('notes', { body: 'Met', links: links(person.id) });
	const met = await add('activities', { type: 'call', occurred_at: '2026-01-01T00:00:00Z', participants: [{ name: 'No name' }] });
	const referrer = await add('custom-fields', {
		resource: 'deals', key: 'referrer', label: 'Referrer', type: 'reference', reference_resource: 'contacts',
	});
	const referred = await add('deals', { title: 'Referred', custom_fields: { referrer: person.id } });
	await sandbox.call('PATCH', `/v1/custom-fields/${referrer.id}`, { archived_at: '2026-01-01T00:00:00Z' });
	service.alter({
		request: ({ url }) => void (url.pathname = url.pathname.replace('/contacts/12', `/contacts/${person.id}`)),
		answer: (text) => [person, company, deal, note].reduce((json, row) => json.replaceAll(`"${row.id}"`, '12'), text)
			.replace(/"version":\d+/g, '"version":12').replaceAll('"No name"', '"No name","contact_id":12'),
	});
	const [plan] = await nodeRuns(service).output(erase('12', { preview: true }));
	const [erased, keep] = [[{ collection: 'contacts', id: '12' }, { collection: 'notes', id }], [{ id: referred.id }, { id: met.id }]];
	expect(plan).toMatchObject({ erase: erased, make_anonymous: [], keep });
	const { items: [item] } = await nodeRuns(service).run(op.on('person', 'export', '12'));
	expect(item!.json).toMatchObject({ records: { contacts: 1, deals: 1, notes: 1, activities: 1 }, events: 1 });
});

const named = identifiers.map((identifier) => new RegExp(`(?<!\\w)${identifier.replace(/[+.]/g, '\\$&')}(?!\\w|\\.org)`, 'i'));
const isNamed = (text: string) => named.some((pattern) => pattern.test(text));

test('after the erasure of a person whom only own records name, the database, the log, jobs and search know nothing', async () => {
	const person = await add('contacts', {
		first_name: 'Grace', last_name: 'Hopper', email: 'grace@hopper-yard.example', phone: '+12025550142', external_id: 'grace-hopper',
	});
	await sandbox.call('PATCH', `/v1/contacts/${person.id}`, { job_title: 'Admiral' });
	await add('notes', { body: 'Grace Hopper called from +1 202-555-0142', links: links(person.id) });
	await add('messages', { ...inbound, from: 'grace@hopper-yard.example', contact_id: person.id });
	const gone = await add('tasks', { title: 'Write to grace@hopper-yard.example', links: links(person.id) });
	await sandbox.call('DELETE', `/v1/tasks/${gone.id}`);
	const exportAll = { resource: 'file', operation: 'exportFile', kind: 'contact', binaryField: 'data', fileFormat: 'ndjson' };
	await output({ ...exportAll, filters: op.filterRows({ email: 'grace@hopper-yard.example' }), options: {} });
	const items = [{ id: person.id, job_title: 'Rear Admiral' }];
	await sandbox.call('POST', '/v1/contacts/batch/update', { items }, { 'Idempotency-Key': 'grace' });
	const reference = { resource: 'tasks', label: 'Person', type: 'reference', reference_resource: 'contacts' };
	for (const key of ['mentor', 'friend']) await add('custom-fields', { ...reference, key });
	// Duplicates with other names: one with a note, one in a custom field, one without anything, one whose merge was undone, and
	// one whose merge was undone by mistake.
	const mentor = await add('contacts', { first_name: 'Howard', last_name: 'Aiken' });
	await add('tasks', { title: 'Call', links: links(person.id), custom_fields: { mentor: mentor.id, friend: person.id } });
	const linked = await add('contacts', { first_name: 'Brewster', last_name: 'Murray' });
	const plain = await add('contacts', { last_name: 'Vassar' });
	const back = await add('contacts', { first_name: 'Otto', last_name: 'Zuse' });
	await add('notes', { body: 'Brewster Murray called', links: links(linked.id) });
	const company = await add('companies', { name: 'Z', description: 'Founded by Otto Zuse' });
	const { merge } = duplicatesOf(sandbox);
	await merge([[person.id, back.id]], {}, { executionId: 'wrong' });
	await undo('wrong');
	const right = await add('contacts', { first_name: 'Hedy', last_name: 'Lamarr' });
	await merge([[person.id, right.id]], {}, { executionId: 'right' });
	await undo('right', {}, 'mistake');
	await undo('mistake');
	await add('notes', { body: 'Hedy Lamarr wrote', links: links(person.id) });
	await merge([[person.id, linked.id, plain.id, mentor.id]], {}, { executionId: 'merged' });

	const [certificate] = await output(erase(person.id));
	expect(certificate).toMatchObject({ result: 'erased', keep: [], make_anonymous: [], remains: [] });
	expect(certificate!.erase).toHaveLength(12);
	const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1')).join('');
	const traces = ['Hopper', 'hopper', '12025550142', '202-555-0142', 'Murray', 'Vassar', 'Aiken', 'Lamarr'];
	expect(traces.filter((trace) => files.includes(trace))).toEqual([]);
	expect(await sandbox.list('contacts?q=hopper')).toEqual([]);
	expect(await record('companies', company.id)).toMatchObject({ description: 'Founded by Otto Zuse' });
	expect(new Set((await undo('merged')).items.map(({ result }) => result))).toEqual(new Set(['cannot_be_undone']));
});

test('a merge that was undone by mistake is one, even if the CRM created something along with the contact', async () => {
	const [person, merged] = [await add('contacts', { last_name: 'Along' }), await add('contacts', { last_name: 'Lamarr' })];
	await duplicatesOf(sandbox).merge([[person.id, merged.id]], {}, { executionId: 'merge' });
	const newId = newIdOf(await undo('merge', {}, 'error'), merged.id);
	const along = await add('tasks', { title: 'Call the new contact' });
	await undo('error');
	service.edit(({ body: { data } }) => {
		const eventOf = (id: string) => (Array.isArray(data) ? data as CreationEvent[] : []).find(({ type, data: created }) =>
			type?.endsWith('.created') && created.object.id === id);
		if (eventOf(along.id)) eventOf(along.id)!.request = eventOf(newId)!.request;
	});
	const { items: [item] } = await nodeRuns(service).run(op.on('person', 'export', person.id));
	// The person, the merged contact, and its copy.
	expect(item!.json).toMatchObject({ records: { contacts: 3 } });
});

test('an erasure is previewed, confirmed, certified, and cannot be undone', async () => {
	const created = await addPerson();
	await sandbox.clear();
	const [plan] = await output(erase(created.person!, { preview: true }));
	const idsOf = (list: unknown) => new Set((list as IDataObject[]).map(({ id }) => id));
	expect(idsOf(plan!.erase)).toEqual(new Set(['person', 'message', 'task', 'note', 'activity'].map((name) => created[name])));
	expect(idsOf(plan!.make_anonymous)).toEqual(new Set(['company', 'deal', 'ticket', 'shared'].map((name) => created[name])));
	expect(plan!.keep).toEqual([]);
	await expect(run(erase(created.person!, { confirmation: 'byron@king.example' }))).rejects.toThrow('neither an email address nor the ID');
	await expect(run(erase(created.person!, { maxErased: 8 }))).rejects.toThrow('9 records would change, and Maximum Records allows 8');
	expect(await sandbox.writes()).toEqual([]);

	const { items: [item] } = await run(erase(created.person!, { confirmation: 'Ada@King-Sons.example' }), [{}], { executionId: 'erasure' });
	// The log has the earlier texts of records that belong to others, and the certificate says so.
	const events = await sandbox.list<{ data: { object: IDataObject } }>('events?limit=500');
	const remaining = events.filter(({ data }) => isNamed(JSON.stringify(data)));
	const certified = (item!.json.remains as IDataObject[]).map(({ collection, id }) => `${String(collection)} ${String(id)}`);
	expect(certified.sort()).toEqual(remaining.map(({ data: { object: { id } } }) => `events ${String(id)}`).sort());
	expect(item!.json).toMatchObject({ result: 'erased', keep: [], execution: 'erasure' });
	for (const name of ['person', 'message', 'task', 'note', 'activity']) expect(JSON.stringify(item!.json)).not.toContain(created[name]);
	expect(await record('deals', created.deal!)).toMatchObject({ title: 'Engine for [erased]', contact_id: created.person });
	expect(await record('tickets', created.ticket!)).toMatchObject({ description: 'Call [erased] or [erased]' });
	expect(await record('notes', created.shared!)).toMatchObject({ body: '[erased] and Byron met' });
	await expect(undo('erasure', { options: { kinds: ['deal'] } })).rejects.toThrow('permanently, which cannot be undone');
	await expect(run(op.on('person', 'export', created.person))).rejects.toThrow('There is no contact');
});

const addSomebody = async (last_name: string) => await add('contacts', {
	first_name: 'Eva', last_name, email: `eva@${last_name.toLowerCase().replace(/[^a-z]/g, '')}.example`, phone: '+34915550142',
});

test('a note that a colleague makes one about somebody else meanwhile is not erased, and one that is gone is no obstacle', async () => {
	const [person, other] = [await addSomebody('Moreno'), await add('contacts', { last_name: 'Byron' })];
	const note = await add('notes', { body: 'Met', links: links(person.id) });
	const task = await add('tasks', { title: 'Call', links: links(person.id) });
	const signed = { body: 'Contract signed', links: links(person.id, other.id) };
	const left = new Map<string, () => Promise<unknown>>([
		[note.id, async () => await sandbox.call('PATCH', `/v1/notes/${note.id}`, signed)],
		[task.id, async () => await sandbox.call('DELETE', `/v1/tasks/${task.id}?permanent=true`)],
	]);
	service.alter({
		async request({ method, url }) {
			const id = url.pathname.split('/').at(-1)!;
			if (method !== 'DELETE' || !left.has(id)) return;
			await left.get(id)!();
			left.delete(id);
		},
	});
	const throughService = nodeRuns(service);
	await expect(throughService.run(erase(person.id))).rejects.toThrow(`notes/${note.id}: The CRM’s record was changed`);
	await throughService.run(erase(person.id));
	expect(left.size).toBe(0);
	expect(await record('notes', note.id)).toMatchObject({ body: 'Contract signed' });
	expect(await record('contacts', person.id)).toBeUndefined();
});

test('an erasure ends where “[erased]” does not fit, and finds numbers and names in any notation', async () => {
	const [person, other] = [await addSomebody('O\'Düßıart'), await add('contacts', { last_name: 'Byron' })];
	const meeting = await add('activities', {
		type: 'meeting', occurred_at: '2026-01-01T00:00:00Z', links: links(person.id, other.id),
		participants: [{ name: 'Eva O\'Düßıart', email: 'eva@odart.example' }],
	});
	const company = await add('companies', { name: 'Engines', phone: '+34915550142' });
	const phones = ['0034 915 550 142', '+34 (0)915 550142', '+34–915‑550‑142', '＋３４９１５５５０１４２', '915 550 142', '0915/550142'];
	const texts = [...phones, 'Eva&nbsp;<b>O&#39;D&uuml;&szlig;&#305;art', 'EVA O’D\u00dcSSIART', '+43 915 550142'];
	const note = await add('notes', { body: texts.join('; '), links: links(other.id) });
	const [certificate] = await output(erase(person.id));
	expect(certificate).toMatchObject({ result: 'erased', keep: [] });
	expect(await record('activities', meeting.id)).toMatchObject({ participants: [{ name: '[erased]', email: null }] });
	expect(await record('companies', company.id)).toMatchObject({ phone: null });
	expect(await record('notes', note.id)).toMatchObject({ body: `${'[erased]; '.repeat(8)}+43 915 550142` });
	// A run that was interrupted before its certificate is continued by the next.
	const { contact, at, by } = certificate!;
	expect(await output(erase(person.id))).toMatchObject([{ result: 'already_erased', contact, at, by }]);
	// A log that does not say who did it names nobody.
	service.edit(({ path, body }) => {
		if (path.includes('/events')) for (const event of body.data as IDataObject[]) delete event.actor;
	});
	expect(await nodeRuns(service).output(erase(person.id))).toMatchObject([{ result: 'already_erased', by: null }]);
});

test('an undo brings back no name that an erasure removed, not even one that was interrupted', async () => {
	const [person, other] = [await addSomebody('Ibarra'), await add('contacts', { last_name: 'Byron' })];
	const note = await add('notes', { body: 'Met', links: links(person.id, other.id) });
	await run(op.update('note', note.id, { body: 'Eva Ibarra' }), [{}], { executionId: 'named' });
	await run(op.update('note', note.id, { body: 'Eva Ibarra and Byron' }), [{}], { executionId: 'renamed' });
	const call = await add('activities', { type: 'call', occurred_at: '2026-01-01T00:00:00Z', links: links(person.id) });
	const task = await add('tasks', { title: 'Call', links: links(person.id) });
	const refusal = { status: 400, body: '{}' };
	service.alter({ request: ({ method, url }) => (method === 'DELETE' && url.pathname.includes(call.id) ? refusal : undefined) });
	await expect(nodeRuns(service).run(erase(person.id), [{}], { executionId: 'interrupted' })).rejects.toThrow();
	expect(await record('tasks', task.id)).toBeDefined();
	await run(erase(person.id));
	const options = { undoTakesPrecedence: true };
	for (const execution of ['interrupted', 'renamed']) {
		const reason = expect.stringContaining('made this record anonymous') as string;
		expect((await undo(execution, { options })).items).toMatchObject([{ id: note.id, result: 'cannot_be_undone', action: null, reason }]);
	}
	expect(await record('notes', note.id)).toMatchObject({ body: '[erased] and Byron' });
});

test('a credential that may not read custom fields erases a name in them, too, and an export says that links may be missing', async () => {
	await sandbox.create('custom-fields', { resource: 'deals', key: 'buyer', label: 'Buyer', type: 'text' });
	const person = await addSomebody('Prado');
	const deal = await add('deals', { title: 'Engine', custom_fields: { buyer: 'Eva Prado' } });
	service.alter({ request: ({ url }) => (url.pathname === '/v1/custom-fields' ? { status: 403, body: '{}' } : undefined) });
	const { hints } = await nodeRuns(service).run(op.on('person', 'export', person.id));
	expect(hints).toEqual([expect.stringContaining('links in custom fields may be missing')]);
	await nodeRuns(service).run(erase(person.id));
	expect(await record('deals', deal.id)).toMatchObject({ custom_fields: { buyer: '[erased]' } });
});

test('an export says that records of custom objects were not searched if the CRM does not list the objects', async () => {
	const person = await addSomebody('Rivas');
	redescribe(withoutObjects, ({ paths }) => delete paths['/v1/custom-objects']);
	const { hints } = await nodeRuns(withoutObjects).run(op.on('person', 'export', person.id));
	expect(hints).toEqual([expect.stringContaining('Records of custom objects were not searched')]);
});

test('a deleted record that has only the name, another contact, and a note linked to somebody by a custom field are kept', async () => {
	const person = await add('contacts', { first_name: 'Eva', last_name: 'Sanz', email: 'eva@sanz.example', phone: '+442071838799' });
	const other = await add('contacts', { last_name: 'Byron', job_title: 'Assistant of eva@sanz.example' });
	await add('custom-fields', { resource: 'notes', key: 'witness', label: 'Witness', type: 'reference', reference_resource: 'contacts' });
	const note = await add('notes', { body: 'Met', links: links(person.id), custom_fields: { witness: other.id } });
	const [named, mailed] = [await add('deals', { title: 'Eva Sanz, flat' }), await add('deals', { title: 'eva@sanz.example' })];
	const same = await add('contacts', { last_name: 'Twin', phones: [{ value: '+442071838799', primary: true }] });
	for (const { id } of [other, same]) await sandbox.call('DELETE', `/v1/contacts/${id}`);
	for (const { id } of [named, mailed]) await sandbox.call('DELETE', `/v1/deals/${id}`);
	const [plan] = await output(erase(person.id, { preview: true }));
	const expected = [
		[other.id, 'It is deleted, and was another contact'], [named.id, 'only has the person’s name'], [note.id, 'It links to the person'],
	];
	expect((plan!.erase as IDataObject[]).map(({ id }) => id).sort()).toEqual([person.id, same.id, mailed.id].sort());
	const keep = expected.map(([id, text]) => ({ id, reason: expect.stringContaining(text!) as string }));
	expect(plan).toMatchObject({ make_anonymous: [], keep });
});
