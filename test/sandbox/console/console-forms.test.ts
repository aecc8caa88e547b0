import { adminId, type Console, fillIn, startConsole } from '../harness/console.ts';
import { hiddenValue } from '../harness/scripted-browser.ts';

let crm: Console;
beforeAll(async () => (crm = await startConsole()));
afterAll(() => crm?.close());

test('a record created in a form equals one that the user has created through the API', async () => {
	const { location } = await fillIn(crm.admin, '/records/contacts/new', '/records/contacts', {
		last_name: 'Okafor',
		email: 'Chidi@Okafor.example',
		company_id: '',
		'custom_fields.nps_score': '9',
		'custom_fields.renewal_date': '',
		address: '{"city":"Lagos"}',
		emails: '',
		tag_ids: '',
	});
	const id = location.split('/').at(-1);
	expect(await crm.api('GET', `/v1/contacts/${id}`)).toMatchObject({
		email: 'chidi@okafor.example',
		custom_fields: { nps_score: 9 },
		address: { city: 'Lagos', street: null },
		created_by: { type: 'user', id: adminId },
	});
	const { html } = await crm.admin.open(location);
	expect(html).toContain('contact.created');
	expect(html).toContain('Lagos');
});

test('a form changes only edited fields, and leaves those that it cannot show exactly', async () => {
	const { id } = await crm.api('POST', '/v1/tasks', {
		title: 'Call',
		due_at: '2026-03-01T09:30:15.123Z',
		description: 'One\r\ntwo',
	});
	const page = `/records/tasks/${id}/edit`;
	const { html } = await crm.admin.open(page);
	expect(html).toContain('value="2026-03-01T09:30:15.123"');
	const same = { title: 'Call', due_at: '2026-03-01T09:30:15.123', description: 'One\r\ntwo' };
	expect((await fillIn(crm.admin, page, `/records/tasks/${id}`, same)).status).toBe(303);
	expect(await crm.api('GET', `/v1/tasks/${id}`)).toMatchObject({ version: 1 });
	await fillIn(crm.admin, page, `/records/tasks/${id}`, { ...same, title: 'Call back' });
	const { data } = await crm.api('GET', '/v1/events?type=task.updated&sort=-sequence&limit=1');
	expect(data[0].data).toMatchObject({ changed: ['title'], previous: { title: 'Call' } });
});

test('errors are shown beside the field, and entered values stay', async () => {
	const refused = await fillIn(crm.admin, '/records/contacts/new', '/records/contacts', {
		last_name: 'Moreno',
		email: 'nonsense',
		'custom_fields.nps_score': 'many',
		emails: '[{"value":"x"}]',
		tag_ids: 'VIP',
	});
	expect(refused.status).toBe(422);
	expect(refused.html).toMatch(/id="email"[^>]*aria-invalid="true"[^>]*value="nonsense"/);
	expect(refused.html).toMatch(/id="email-error">Expected an email address\./);
	expect(refused.html).toMatch(/id="custom_fields\.nps_score-error">Expected a number\./);
	expect(refused.html).toMatch(/id="emails-error">Expected an email address\./);
	expect(refused.html).toMatch(/id="tag_ids-error">Expected a list\./);
	expect(refused.html).toContain('value="many"');
	expect(refused.html).toContain('value="Moreno"');
});

test('a form that shows an earlier version changes nothing', async () => {
	const { id } = await crm.newContact();
	const path = `/records/contacts/${id}`;
	const opened = await crm.admin.open(`${path}/edit`);
	await crm.api('PATCH', `/v1/contacts/${id}`, { job_title: 'Buyer' });
	const fields = { version: hiddenValue(opened, 'version'), job_title: 'Driver' };
	const refused = await crm.admin.submit(path, fields);
	expect(refused.status).toBe(412);
	expect(refused.html).toContain('version 2');
	expect((await crm.admin.submit(path, { job_title: 'Driver' })).status).toBe(412);
	expect(await crm.api('GET', `/v1/contacts/${id}`)).toMatchObject({ job_title: 'Buyer' });
});

const actionsIn = (html: string) => [...html.matchAll(/actions\/(\w+)"/g)].map(([, action]) => action);

test('a message that was received can be neither sent nor canceled', async () => {
	const message = { channel: 'webchat', direction: 'inbound', text: 'Hello', from: 'Ada', to: ['us'] };
	const { id } = await crm.api('POST', '/v1/messages', message);
	expect(actionsIn((await crm.admin.open(`/records/messages/${id}`)).html)).toEqual([]);
});

test('a deal is lost for a reason, and deleted', async () => {
	const { id } = await crm.api('POST', '/v1/deals', { title: 'Fleet' });
	const path = `/records/deals/${id}`;
	await fillIn(crm.admin, path, `${path}/actions/lose`, { lost_reason: 'No budget' });
	expect(await crm.api('GET', `/v1/deals/${id}`)).toMatchObject({ status: 'lost', lost_reason: 'No budget' });
	expect(actionsIn((await crm.admin.open(path)).html)).toEqual(['win', 'reopen']);
	expect((await fillIn(crm.admin, path, `${path}/delete`, {})).location).toBe('/records/deals');
	expect((await crm.admin.open(path)).status).toBe(404);
});

test('an impossible action is reported on the page of the record', async () => {
	const { data } = await crm.api('GET', '/v1/pipelines?is_default=true');
	const path = `/records/pipelines/${data[0].id}`;
	const refused = await fillIn(crm.admin, path, `${path}/delete`, {});
	expect(refused.status).toBe(409);
	expect(refused.html).toMatch(/role="alert"><p>[^<]*make another pipeline the default first/);
});

test.each([{ Origin: 'https://evil.example' }, { Origin: 'null' }, { 'Sec-Fetch-Site': 'cross-site' }])(
	'a form from another site (%j) is refused',
	async (headers: Record<string, string>) => {
		const { id } = await crm.newContact();
		const contacts = ['', `/${id}`, `/${id}/delete`].map((path) => `/records/contacts${path}`);
		for (const path of [...contacts, '/settings/api', '/sign-in', '/oauth/authorize']) {
			const forged = { last_name: 'Forged', version: '1', action: 'create-key', key_name: 'Forged', decision: 'allow' };
			expect((await crm.admin.submit(path, forged, headers)).status).toBe(403);
		}
		expect((await crm.api('GET', '/v1/contacts?q=forged')).total).toBe(0);
		expect(await crm.api('GET', `/v1/contacts/${id}`)).toMatchObject({ last_name: 'Moreno', version: 1 });
	},
);
