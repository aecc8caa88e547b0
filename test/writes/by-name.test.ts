import { randomUUID } from 'node:crypto';
import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, getMany, mapped, on, update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox, true);
const { run } = nodeRuns(sandbox);

const byName = (options: IDataObject = {}, resource = 'company', fieldsMatchOn = 'name') =>
	({ resource, operation: 'upsert', fieldsMatchOn, ...automatic, simplify: false, options }) as INodeParameters;

const called = async (name: string) => (await sandbox.list('companies?limit=500')).filter((company) => company.name === name);

describe('Create or Update by a name', () => {
	test('updates the record that has the name in another case or without accents, and creates the others', async () => {
		const cafe = await sandbox.create('companies', { name: 'Café Müller' });
		const items = [{ name: 'cafe MULLER', industry: 'food' }, { name: 'New by Name', industry: 'retail' }];
		const { items: written } = await run(byName(), items);
		expect(written).toMatchObject([
			{ json: { id: cafe.id, industry: 'food', upsert_outcome: 'updated' }, pairedItem: { item: 0 } },
			{ json: { name: 'New by Name', upsert_outcome: 'created' }, pairedItem: { item: 1 } },
		]);
		expect(await called('New by Name')).toHaveLength(1);
		await run(byName(), [{ name: 'new by name', industry: 'media' }]);
		expect(await called('new by name')).toMatchObject([{ industry: 'media' }]);
	});

	test('refuses a name that several records have, with their IDs, and one that two items would create', async () => {
		const twins = [await sandbox.create('companies', { name: 'Twin' }), await sandbox.create('companies', { name: 'TWIN' })];
		const names = [{ name: 'twin' }, { name: 'Twice' }, { name: 'twice' }, { industry: 'food' }];
		const { items } = await run(byName(), names, { continueOnFail: true });
		const [several, created, again, nameless] = items.map(({ json }) => json);
		for (const { id } of twins) expect(several!.error).toContain(id);
		expect(created).toMatchObject({ name: 'Twice', upsert_outcome: 'created' });
		expect(again!.error).toBe('Name: item 1 creates “twice”. Give each record in one item.');
		expect(nameless!.error).toBe('Name: the name to match on is empty.');
		expect(await called('Twice')).toHaveLength(1);
	});

	test('repeats each request on its own path', async () => {
		await sandbox.create('companies', { name: 'Repeated' });
		const more = { context: {}, executionId: randomUUID(), continueOnFail: true };
		const again = async () => (await run(byName(), ['Repeated', 'Repeatedly', 'Repeatable'].map((name) => ({ name })), more)).items;
		await sandbox.faults({ path: '/v1/companies/batch/create', method: 'POST', times: 1, status: 422 });
		expect((await again()).filter(({ json }) => json.error)).toHaveLength(2);
		expect((await again()).map(({ json }) => json.upsert_outcome)).toEqual(['updated', 'created', 'created']);
	});

	test('changes in another attempt what the first one has created', async () => {
		await sandbox.create('companies', { name: 'Already There' });
		const more = { context: {}, executionId: randomUUID(), continueOnFail: true };
		const names = ['Already There', 'Created First', 'Created Second', ''];
		const again = async (some = names) => {
			const { items } = await run(byName(), some.map((name) => ({ name })), more);
			return items.map(({ json }) => json.upsert_outcome ?? /An earlier attempt sent this item/.exec(String(json.error))?.[0]);
		};
		expect(await again()).toEqual(['updated', 'created', 'created', undefined]);
		expect(await again()).toEqual(['updated', 'updated', 'updated', undefined]);
		expect(await again([...names.slice(0, 3), 'Created Third'])).toEqual(['updated', 'updated', 'updated', 'created']);
		// By another name, an item could be written to a second record; its batch is not sent without it.
		const refusal = 'An earlier attempt sent this item';
		expect(await again([names[0]!, 'Renamed', ...names.slice(2)])).toEqual(['updated', undefined, refusal, undefined]);
	});

	test('takes the corrected name of an item that no attempt has sent', async () => {
		const more = { context: {}, executionId: randomUUID() };
		const again = async (...names: string[]) => await run(byName({ batchSize: 1 }), names.map((name) => ({ name, industry: 'food' })), more);
		await sandbox.faults({ path: '/v1/companies', method: 'POST', times: 1, status: 403 });
		await expect(again('Sent', 'Mistyped')).rejects.toThrow();
		expect((await again('Sent', 'Corrected')).items.map(({ json }) => json.name)).toEqual(['Sent', 'Corrected']);
	});

	test('with Write Once Per, leaves what another execution has created as it is', async () => {
		const item = { name: 'Once', industry: 'food', domain: 'ONCE.example' };
		const again = async () => (await run(byName({ writeOncePer: '={{ $json.name }}' }), [item])).items[0]!.json;
		const { id } = await again();
		expect(await again()).toMatchObject({ id, industry: 'food' });
		expect(await called('Once')).toMatchObject([{ id, version: 1 }]);
		await sandbox.call('PATCH', `/v1/companies/${String(id)}`, { industry: 'media' });
		await expect(again()).rejects.toMatchObject({ description: expect.stringContaining('changed since') });
		expect(await called('Once')).toMatchObject([{ id, industry: 'media' }]);
	});

	test('sends no more new records at once than the CRM creates, however many it updates', async () => {
		service.alter({ answer: (body) => body.replace(/("CompanyBatchCreate":.*?"maxItems":)\d+/s, '$12') });
		await nodeRuns(service).run(byName(), ['Small 1', 'Small 2', 'Small 3'].map((name) => ({ name })));
		expect(service.passed.filter((request) => request.startsWith('POST'))).toEqual(['POST /v1/companies/batch/create', 'POST /v1/companies']);
	});

	test('previews what it would update and create, and writes nothing', async () => {
		const { id } = await sandbox.create('companies', { name: 'Seen Before', industry: 'food' });
		await sandbox.clear();
		const { items } = await run(byName({ preview: true }), [{ name: 'seen before', industry: 'retail' }, { name: 'Not Seen' }]);
		expect(items).toMatchObject([{ json: { id, preview: { action: 'update' } } }, { json: { preview: { action: 'create' } } }]);
		expect(await sandbox.writes()).toEqual([]);
	});
});

describe('a linked record by name, created if missing', () => {
	const linked = (name: string, field = 'company_id') => ({ records: [{ field, record: { __rl: true, mode: 'newName', value: name } }] });
	const contacts = (name: string, options: IDataObject = {}, field?: string) =>
		({ ...create('contact', mapped({ last_name: 'Linked' })), fieldsLinked: linked(name, field), options }) as INodeParameters;

	test('is created once for all items, and found from then on', async () => {
		const { items, hints } = await run(contacts('={{ $json.company }}'), [{ company: 'Founded' }, { company: 'founded' }]);
		const [company, ...others] = await called('Founded');
		expect(others).toEqual([]);
		expect(items.map(({ json }) => json.company_id)).toEqual([company!.id, company!.id]);
		expect(JSON.stringify(hints)).toContain('Linked Records: 1 × companies were created');
		await run(contacts('FOUNDED'), [{}]);
		expect(await called('FOUNDED')).toEqual([]);
		await sandbox.faults({ path: '/v1/companies', method: 'POST', times: 1, status: 403 });
		const { items: refused, hints: none } = await run(contacts('Forbidden'), [{}], { continueOnFail: true });
		expect(none).toEqual([]);
		expect(refused[0]!.json.error).toMatch(/“Forbidden” does not exist in companies, and was not created: /);
	});

	test.each<[why: string, parameters: object, item: IDataObject, error: string]>([
		['a required field is empty', create('deal', { title: '={{ $json.title }}' }), {}, 'Title is empty'],
		['another value is invalid', create('deal', { title: 'Orphan', amount: '={{ $json.amount }}' }), { amount: 'much' }, 'not a number'],
		['it has no record to change', update('deal', '={{ $json.id }}', { title: 'Orphan' }), {}, 'expression returned nothing'],
		['another link names nobody', create('deal', { title: 'Orphan', owner_id: 'Nobody Known' }), {}, 'Nobody Known'],
		['it has no value to match on', upsert('contact', 'email', { last_name: 'Orphan' }), {}, 'The field to match on, email, has no value'],
		['several records have its name', upsert('deal', 'title', { title: 'Doubled' }), {}, 'are called “Doubled”'],
	])('is not created for an item that is refused: %s', async (_, parameters, item, error) => {
		for (const title of ['Doubled', 'doubled']) await sandbox.create('deals', { title });
		const { items } = await run({ ...parameters, fieldsLinked: linked('Orphaned') }, [item], { continueOnFail: true });
		expect(items[0]?.json.error).toContain(error);
		expect(await called('Orphaned')).toEqual([]);
	});

	test('is not created for a second item of one new name, even if the record of the first one cannot be', async () => {
		await sandbox.faults({ path: '/v1/companies', method: 'POST', times: 1, status: 403 });
		const parameters = { ...upsert('deal', 'title', { title: 'Twin' }), fieldsLinked: linked('={{ $json.company }}') };
		const { items } = await run(parameters, [{ company: 'Twin A' }, { company: 'Twin B' }], { continueOnFail: true });
		const errors = ['“Twin A” does not exist in companies, and was not created', 'item 0 creates “Twin”'];
		expect(items.map(({ json }) => json.error)).toEqual(errors.map((error) => expect.stringContaining(error) as unknown));
		expect(await sandbox.list('deals?title=Twin')).toEqual([]);
	});

	test('is not created for a stage that it will not have', async () => {
		const fieldsLinked = linked('Newly Piped', 'pipeline_id');
		const deal = (stage: string) => ({ ...create('deal', { title: 'Staged', stage_id: stage }), fieldsLinked });
		const pipelines = async () => (await sandbox.list('pipelines')).filter(({ name }) => name === 'Newly Piped');
		await expect(run(deal('Adopted'), [{}])).rejects.toThrow('“Adopted” does not match any of the stages');
		expect(await pipelines()).toEqual([]);
		const { items } = await run(deal('won'), [{}]);
		expect(await pipelines()).toMatchObject([{ id: items[0]!.json.pipeline_id }]);
	});

	test('is not created for items of several custom objects, which are refused', async () => {
		const titled = '$1"title":{"type":"string"},';
		service.alter({ answer: (text) => text.replace(/("CustomObjectRecordUpsert":.*?"properties":{)/s, titled) });
		const objectKey = { __rl: true, mode: 'id', value: '={{ $json.key }}' };
		const parameters = { ...upsert('customObjectRecord', 'title', { title: 'Several' }), objectKey };
		const running = nodeRuns(service).run({ ...parameters, fieldsLinked: linked('Orphan', 'tag_ids') }, [{ key: 'cars' }, { key: 'boats' }]);
		await expect(running).rejects.toThrow('Custom Object: the expression returns "cars" for item 0, but "boats" for item 1');
		expect(service.passed.filter((request) => request.startsWith('POST'))).toEqual([]);
	});

	test('is not created for another field that links to the same records', async () => {
		const field = { resource: 'contacts', key: 'partner', label: 'Partner', type: 'reference', reference_resource: 'companies' };
		await sandbox.create('custom-fields', field);
		const partner = { field: 'custom_fields.partner', record: { __rl: true, mode: 'name', value: 'Mis Typed' } };
		const parameters = { ...contacts('Named'), fieldsLinked: { records: [...linked('Named').records, partner] } };
		await expect(run(parameters, [{}])).rejects.toThrow('Mis Typed');
		expect(await called('Mis Typed')).toEqual([]);
	});

	test('is created for links to records of several types, and for a custom field', async () => {
		const field = { resource: 'contacts', key: 'parent', label: 'Parent', type: 'reference', reference_resource: 'companies' };
		await sandbox.create('custom-fields', field);
		const custom = (await run(contacts('Parental', {}, 'custom_fields.parent'), [{}])).items[0]!.json.custom_fields;
		expect(custom).toMatchObject({ parent: (await called('Parental'))[0]!.id });
		const note = { ...create('note', { body: 'Linked' }), fieldsLinked: linked('Several', 'links: companies') };
		expect((await run(note, [{}])).items[0]!.json.links).toEqual([{ resource: 'companies', id: (await called('Several'))[0]!.id }]);
	});

	test('is created once with Write Once Per, whichever item names it, and again if it was deleted', async () => {
		const ordering = contacts('Ordering', { writeOncePer: '={{ $json.order }}' });
		const orders = async (...items: IDataObject[]) => await run(ordering, items, { continueOnFail: true });
		const { items } = await orders({}, { order: 'creates-1' });
		expect(items.map(({ json }) => json.error === undefined)).toEqual([false, true]);
		const [first] = await called('Ordering');
		await sandbox.call('DELETE', `/v1/companies/${first!.id}`);
		expect((await orders({ order: 'creates-2' })).items[0]!.json.error).toBeUndefined();
		const [second, ...others] = await called('Ordering');
		expect(second!.id).not.toBe(first!.id);
		expect(others).toEqual([]);
	});

	test('has another key than an item whose value for Write Once Per looks like it', async () => {
		const { items } = await run(contacts('Keyed', { writeOncePer: 'record/companies keyed' }), [{}]);
		expect(items[0]!.json).toMatchObject({ company_id: (await called('Keyed'))[0]!.id });
	});

	test('has the name, even if that is a number', async () => {
		const { items } = await run(contacts('={{ $json.company }}'), [{ company: 4711 }, { company: ' 4711 ' }]);
		const [company] = await called('4711');
		expect(items.map(({ json }) => json.company_id)).toEqual([company!.id, company!.id]);
		const tag = await sandbox.create('tags', { name: '2024' });
		expect((await run(contacts('={{ [2024] }}', {}, 'tag_ids'), [{}])).items[0]!.json.tag_ids).toEqual([tag.id]);
		await expect(run(contacts('={{ 9007199254740993 }}'), [{}])).rejects.toThrow('last digits may already be lost');
	});

	test('is not created by a preview, and not if a name is not enough', async () => {
		await sandbox.clear();
		await run(contacts('Only Previewed', { preview: true }), [{}]);
		expect(await sandbox.writes()).toEqual([]);
		await expect(run(contacts('Nobody', {}, 'owner_id'), [{}])).rejects.toThrow('does not match any record of users');
		const ticket = { ...create('ticket', { subject: 'Of nobody' }), fieldsLinked: linked('Nobody', 'contact_id') };
		for (const preview of [true, false]) {
			const { items } = await run({ ...ticket, options: { preview } }, [{}], { continueOnFail: true });
			expect(JSON.stringify(items)).toContain('does not match any record of contacts');
		}
	});
});

test('Create or Update reports a created record, and a second write of its output neither sends that nor warns about it', async () => {
	const { items } = await run(upsert('contact', 'email', { email: 'new@outcome.example', last_name: 'Lovelace' }));
	const output = items[0]!.json;
	expect(output.upsert_outcome).toBe('created');
	const { items: updated, hints } = await run(update('contact', String(output.id), automatic), [{ ...output, job_title: 'Pilot' }]);
	expect(updated[0]!.json).toMatchObject({ job_title: 'Pilot' });
	expect(updated[0]!.json).not.toHaveProperty('upsert_outcome');
	expect(hints).toEqual([]);
});

const simplified = async (parameters: INodeParameters, items: IDataObject[] = [{}]) => {
	const all = { ...parameters, simplify: true };
	return (await run(all, items)).items;
};

const lean = [
	'id', 'first_name', 'last_name', 'name', 'email', 'phone', 'job_title', 'company_id', 'company_name', 'lifecycle_stage', 'external_id',
	'owner_id', 'owner_name', 'tag_ids', 'updated_at',
];

test('created, updated and upserted records are simplified, with filled custom fields and the outcome', async () => {
	const values = { last_name: 'Lean', email: 'lean@simplify.example', 'custom_fields.nps_score': 9 };
	const [createdItem] = await simplified(create('contact', values));
	expect(Object.keys(createdItem!.json)).toEqual([...lean, 'custom_fields']);
	expect(createdItem!.json.custom_fields).toEqual({ nps_score: 9 });

	const [changed] = await simplified(
		update('contact', String(createdItem!.json.id), { job_title: 'VP', 'custom_fields.nps_score': '={{ null }}' }),
	);
	expect(Object.keys(changed!.json)).toEqual(lean);
	const [found] = await simplified(upsert('contact', 'email', { email: values.email, last_name: 'Again' }));
	expect(Object.keys(found!.json)).toEqual([...lean, 'upsert_outcome']);
	expect(found!.json).toMatchObject({ id: createdItem!.json.id, last_name: 'Again', upsert_outcome: 'updated' });
});

test('a secret that is only shown once is kept, and a response that is not a record is returned whole', async () => {
	const [hook] = await simplified(create('webhook', { url: 'https://hooks.example.com/x', events: 'contact.created' }));
	expect(hook!.json).toMatchObject({ id: expect.any(String), secret: expect.stringMatching(/^whsec_/) });
	const [rotated] = await simplified(on('webhook', 'rotateSecret', hook!.json.id));
	expect(rotated!.json.secret).toMatch(/^whsec_/);
	const [delivery] = await simplified(on('webhook', 'test', hook!.json.id));
	expect(delivery!.json).toMatchObject({ event_type: 'webhook.test', created_at: expect.any(String) });
});

describe('values that the next node needs', () => {

	test('all links of a record are returned, written and read, of every type', async () => {
		const company = await sandbox.create('companies', { name: 'Linked GmbH' });
		const contact = await sandbox.create('contacts', { last_name: 'Linked', company_id: company.id });
		const ticket = await sandbox.create('tickets', { subject: 'Linked', contact_id: contact.id, company_id: company.id });
		const values = { channel: 'email', to: 'a@linked.example', subject: 'Re', text: 'Yes', ticket_id: ticket.id, contact_id: contact.id };
		const [message] = await simplified({ ...create('message', values), operation: 'send' });
		expect(message!.json).toMatchObject({ ticket_id: ticket.id, contact_id: contact.id });
		const [read] = await simplified(on('message', 'get', message!.json.id));
		expect(read!.json).toMatchObject({ ticket_id: ticket.id, contact_id: contact.id });
		const [note] = await simplified(create('note', { body: 'Linked', links: JSON.stringify([{ resource: 'contacts', id: contact.id }]) }));
		expect(note!.json.links).toEqual([{ resource: 'contacts', id: contact.id }]);
		const [deal] = await simplified(create('deal', { title: 'Linked', company_id: company.id }));
		expect(deal!.json).toMatchObject({ company_id: company.id, stage_id: expect.any(String), pipeline_id: expect.any(String) });
	});

	test('values that were filtered by or just written are returned, whatever else a summary has', async () => {
		const filters = { 'source[empty]': false, 'created_at[gte]': '2000-01-01' };
		const { items: [deal] } = await run(getMany('deal', { limit: 1, simplify: true }, filters));
		expect(deal!.json).toMatchObject({ created_at: expect.any(String), source: expect.any(String) });
		const values = { last_name: 'Written', lead_source: 'other', language: 'de', 'address.city': 'Bonn' };
		const [createdItem] = await simplified(create('contact', values));
		expect(createdItem!.json).toMatchObject({ lead_source: 'other', address: { city: 'Bonn' } });
		const [changed] = await simplified(update('contact', String(createdItem!.json.id), { language: 'fr' }));
		expect(changed!.json).toMatchObject({ language: 'fr' });
		expect(changed!.json).not.toHaveProperty('address');
	});
});
