import { type Console, fillIn, startConsole } from '../harness/console.ts';

let crm: Console;
beforeAll(async () => (crm = await startConsole()));
afterAll(() => crm?.close());

const pageOf = async (path: string): Promise<string> => (await crm.admin.open(path)).html;

test('a custom field is added to records that are chosen from a list, custom objects among them', async () => {
	const html = await pageOf('/records/custom-fields/new?resource=custom-objects/machines/records');
	const list = /<select id="resource"[\s\S]*?<\/select>/.exec(html)![0];
	expect(list).toMatch(/value="contacts" >Contacts</);
	expect(list).toMatch(/value="custom-objects\/machines\/records" selected>Machines</);
	expect(html).not.toContain('{key}');
});

test('the page of a custom object leads from the object to its fields, the title first', async () => {
	const values = { key: 'boats', label_singular: 'Boat', label_plural: 'Boats', primary_field: 'hull_number' };
	const { location } = await fillIn(crm.admin, '/records/custom-objects/new', '/records/custom-objects', values);
	const link = /href="([^"]*)">Add field</;
	const first = await pageOf(location);
	expect(first).toMatch(/Add the field <code>hull_number<\/code> first/);
	const form = link.exec(first)![1]!.replaceAll('&amp;', '&');
	expect(await pageOf(form)).toMatch(/name="key"[^>]*value="hull_number"/);
	const field = { resource: 'custom-objects/boats/records', key: 'hull_number', label: 'Hull Number', type: 'text' };
	await fillIn(crm.admin, form, '/records/custom-fields', field);
	const html = await pageOf(location);
	expect(html).toMatch(/>Hull Number<\/a>\s*<code>hull_number<\/code>/);
	expect(html).not.toContain('Add the field');
	expect(html).toMatch(link);
	expect((await crm.member.open(location)).html).not.toMatch(link);
});

test('records of a custom object are listed with their own fields', async () => {
	const html = await pageOf('/records/custom-objects.machines.records');
	for (const label of ['Serial Number', 'Model', 'Operating Hours']) expect(html).toContain(`<th scope="col">${label}`);
});

test('the contact of a deal is chosen and shown by name, even the oldest of many', async () => {
	const oldest = await crm.newContact({ first_name: 'Oldest', last_name: 'Moreno' });
	const { id } = await crm.api('POST', '/v1/deals', { title: 'Fleet', contact_id: oldest.id });
	await Promise.all(Array.from({ length: 210 }, (_, i) => crm.newContact({ last_name: `Okafor ${i}` })));
	const path = `/records/deals/${id}`;
	expect(await pageOf(`${path}/edit`)).toContain(`value="Oldest Moreno (${oldest.id})"`);
	await fillIn(crm.admin, `${path}/edit`, path, { contact_id: 'okafor 209' });
	const named = await crm.api('GET', `/v1/deals/${id}`);
	const { name } = await crm.api('GET', `/v1/contacts/${named.contact_id}`);
	expect(name).toBe('Okafor 209');
});

test('webhooks show their purpose, and a new one is created with a secret that is shown once', async () => {
	const path = '/records/webhooks';
	expect(await pageOf(path)).toContain('CRM Platform Trigger');
	const wrong = await fillIn(crm.member, `${path}/new`, path, { url: 'https://receiver.example/', events: '["contact.nonsense"]' });
	expect(wrong.status).toBe(422);
	expect(wrong.html).toMatch(/id="events-error">[^<]*contact\.nonsense/);
	const fields = { url: 'https://receiver.example/', events: '["contact.*", "deal.won"]' };
	const { location } = await fillIn(crm.member, `${path}/new`, path, fields);
	const page = await crm.member.open(location);
	expect(page.html).toMatch(/<code>whsec_[\w+/=]+<\/code>/);
	expect((await crm.member.open(location)).html).not.toContain('whsec_');
	const stored = await crm.api('GET', `/v1/webhooks/${location.split('/').at(-1)}`);
	expect(stored).toMatchObject({ events: ['contact.*', 'deal.won'], application_id: null });
	expect(page.html).toContain(`…${stored.secret_hint}`.slice(1));
	expect((await fillIn(crm.member, location, `${location}/delete`, {})).location).toBe(path);
	expect((await crm.api('GET', `/v1/webhooks/${stored.id}`)).code).toBe('not_found');
});
