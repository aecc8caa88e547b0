import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { automatic, create, on, update, upsert } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);
const simplified = async (parameters: INodeParameters, items: IDataObject[] = [{}]) => {
	const all = { ...parameters, simplify: true };
	return (await run(all, items)).items;
};
const lean = [
	'id', 'first_name', 'last_name', 'name', 'email', 'phone', 'job_title', 'company_id', 'lifecycle_stage', 'external_id', 'owner_id',
	'tag_ids', 'updated_at',
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

test('each record of a batch stays linked to its item', async () => {
	const items = await simplified(create('contact', automatic), [{ last_name: 'One' }, { last_name: 'Two' }]);
	expect(items.map(({ json }) => Object.keys(json))).toEqual([lean, lean]);
	expect(items).toMatchObject([
		{ json: { last_name: 'One' }, pairedItem: { item: 0 } },
		{ json: { last_name: 'Two' }, pairedItem: { item: 1 } },
	]);
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

	test('values that were just written are returned, whatever else a summary has', async () => {
		const values = { last_name: 'Written', lead_source: 'other', language: 'de', 'address.city': 'Bonn' };
		const [createdItem] = await simplified(create('contact', values));
		expect(createdItem!.json).toMatchObject({ lead_source: 'other', address: { city: 'Bonn' } });
		const [changed] = await simplified(update('contact', String(createdItem!.json.id), { language: 'fr' }));
		expect(changed!.json).toMatchObject({ language: 'fr' });
		expect(changed!.json).not.toHaveProperty('address');
	});
});
