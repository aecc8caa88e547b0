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

test('the page of a custom object leads to its fields, and first to the one with the title', async () => {
	const values = { key: 'boats', label_singular: 'Boat', label_plural: 'Boats', primary_field: 'hull_number' };
	const { location } = await fillIn(crm.admin, '/records/custom-objects/new', '/records/custom-objects', values);
	const link = /href="([^"]*)" aria-label="New custom field"/;
	const form = link.exec(await pageOf(location))![1]!.replaceAll('&amp;', '&');
	expect(await pageOf(form)).toMatch(/name="key"[^>]*value="hull_number"/);
	const field = { resource: 'custom-objects/boats/records', key: 'hull_number', label: 'Hull Number', type: 'text' };
	await fillIn(crm.admin, form, '/records/custom-fields', field);
	const html = await pageOf(location);
	expect(html).toMatch(/<span>1<\/span>[^]*>Hull Number<\/a>/);
	expect(html).not.toContain('key=hull_number');
	expect((await crm.member.open(location)).html).not.toMatch(link);
});

test('records of a custom object are listed with their own fields', async () => {
	const html = await pageOf('/records/custom-objects.machines.records');
	for (const label of ['Serial Number', 'Model', 'Operating Hours']) expect(html).toContain(`<th scope="col">${label}`);
});

test('the contact of a deal is chosen and shown by name, even the oldest of many', async () => {
	const oldest = await crm.newContact({ first_name: 'Oldest', last_name: 'Moreno' });
	const { id } = await crm.api('POST', '/v1/deals', { title: 'Fleet', contact_id: oldest.id });
	const newer = Array.from({ length: 210 }, (_, i) => ({ last_name: `Okafor ${i}` }));
	await crm.api('POST', '/v1/contacts/batch/create', { items: newer.slice(0, 100) });
	await crm.api('POST', '/v1/contacts/batch/create', { items: newer.slice(100, 200) });
	for (const form of [`/records/deals/${id}/edit`, `/records/deals/new?contact_id=${oldest.id}`]) {
		const html = await pageOf(form);
		expect(html).toMatch(new RegExp(`value="${oldest.id}" selected>Oldest Moreno<`));
		expect(html).toContain('>Okafor 199<');
	}
});

test('the page of a contact shows what hangs on it, and leads to the list of the rest', async () => {
	const { id } = await crm.newContact({ email: 'ada@hanging.example' });
	const links = [{ resource: 'contacts', id }];
	await crm.api('POST', '/v1/deals', { title: 'Hanging deal', contact_id: id });
	await crm.api('POST', '/v1/tasks', { title: 'Hanging task', links });
	for (const i of [1, 2, 3, 4]) await crm.api('POST', '/v1/notes', { body: `Hanging note ${i}`, links });
	const received = { channel: 'email', direction: 'inbound', from: 'ada@hanging.example', to: ['us@x.example'] };
	await crm.api('POST', '/v1/messages', { ...received, subject: 'Hanging message', text: 'x' });
	const html = await pageOf(`/records/contacts/${id}`);
	const [rows = ''] = /<ul class="card related">[^]*?<\/ul>/.exec(html) ?? [];
	for (const title of ['Hanging deal', 'Hanging task', 'Hanging note 4', 'Hanging message']) expect(rows).toContain(`>${title}</a>`);
	expect(rows).not.toContain('Hanging note 1');
	const list = /href="([^"]*)">Notes\s+<small>by Linked To<\/small><\/a>\s+<span>4<\/span>/.exec(rows)![1]!;
	expect(await pageOf(list)).toContain('Hanging note 1');
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
