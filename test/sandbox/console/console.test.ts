import { resources } from '../../../sandbox/core/schemas/index.ts';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { adminId, type Console, fillIn, memberId, startConsole } from '../harness/console.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Browser, hiddenValue } from '../harness/scripted-browser.ts';

const machines = 'custom-objects/machines/records';

let crm: Console;
let receiver: Receiver;
beforeAll(async () => {
	receiver = await startReceiver();
	crm = await startConsole({ allowPrivateWebhooks: true });
});
afterAll(async () => {
	await crm?.close();
	await receiver?.close();
});

test('a program that requests / gets the address of the API, a person sees the records', async () => {
	expect(await (await fetch(crm.url)).json()).toMatchObject({ documentation: '/docs' });
	const browser = crm.browse({ Accept: 'text/html' });
	expect((await browser.open('/')).location).toBe('/sign-in?return_to=%2F');
	await browser.signIn('admin');
	const { html } = await browser.open('/');
	expect(html).toMatch(/<strong>60<\/strong>\s+Contacts/);
});

test('a user who is not signed in signs in and then gets the page they wanted', async () => {
	const browser = crm.browse();
	const targetPath = '/records/contacts?q=ana';
	const { location } = await browser.open(targetPath);
	expect(location).toBe(`/sign-in?return_to=${encodeURIComponent(targetPath)}`);
	const page = await browser.open(location);
	const { email, password } = demoMembers[0]!;
	const fields = { email, password, return_to: hiddenValue(page, 'return_to') };
	expect((await browser.submit('/sign-in', fields)).location).toBe(targetPath);
});

test.each([...resources.map(({ name }) => name), machines, 'webhooks', 'jobs'])(
	'%s are listed, and each is shown',
	async (name) => {
		const path = `/records/${name.replaceAll('/', '.')}`;
		const list = await crm.admin.open(path);
		expect(list.status).toBe(200);
		const { data } = await crm.api('GET', `/v1/${name}?limit=1`);
		for (const { id } of data) {
			for (const page of [`${path}/${id}`, `${path}/${id}/edit`]) {
				expect((await crm.admin.open(page)).status).toBe(200);
			}
		}
		const isMadeHere = name !== 'jobs';
		expect(list.html.includes(`${path}/new`)).toBe(isMadeHere);
		expect((await crm.admin.open(`${path}/new`)).status).toBe(isMadeHere ? 200 : 403);
	},
);

test('a list takes the parameters of the API’s list, and reports those it does not take', async () => {
	const { id } = await crm.newContact({ first_name: 'Quirin', lifecycle_stage: 'customer' });
	const found = await crm.admin.open('/records/contacts?q=quirin&lifecycle_stage=customer');
	expect(found.html).toContain(`/records/contacts/${id}`);
	const others = await crm.admin.open('/records/contacts?q=quirin&lifecycle_stage=lead');
	expect(others.html).toContain('No records match.');
	const wrong = await crm.admin.open('/records/contacts?lifecycle_stage=nonsense');
	expect(wrong.status).toBe(400);
	expect(wrong.html).toContain('lifecycle_stage');
	const first = await crm.admin.open('/records/contacts');
	const next = /href="([^"]*cursor=[^"]*)"/.exec(first.html)![1]!.replaceAll('&amp;', '&');
	expect((await crm.admin.open(next)).html).not.toContain(`/records/contacts/${id}`);
});

test('a user neither sees nor changes the records of others', async () => {
	const { id } = await crm.newContact({ last_name: 'Hidden', owner_id: adminId });
	const path = `/records/contacts/${id}`;
	expect((await crm.member.open('/records/contacts?q=hidden')).html).not.toContain(id);
	for (const page of [path, `${path}/edit`]) {
		const { status, html } = await crm.member.open(page);
		expect(status).toBe(404);
		expect(html).not.toContain('Hidden');
	}
	for (const to of [path, `${path}/delete`]) {
		expect((await crm.member.submit(to, { version: '1', last_name: 'Seen' })).status).toBe(404);
	}
	expect((await crm.member.open('/events')).html).not.toContain(id);
	expect(await crm.api('GET', `/v1/contacts/${id}`)).toMatchObject({ last_name: 'Hidden', version: 1 });
});

test('a user does not change records that their role does not allow', async () => {
	const page = await crm.member.open('/records/users');
	expect(page.html).not.toContain('/records/users/new');
	expect((await crm.member.open('/records/users/new')).status).toBe(403);
	const response = await crm.member.submit('/records/users', { email: 'new@sandbox.example' });
	expect(response.status).toBe(403);
	expect((await crm.member.submit(`/records/users/${memberId}/delete`, {})).status).toBe(403);
});

test('text that people type is never markup', async () => {
	const hostile = `"><script>alert('x')</script>`;
	const { id } = await crm.newContact({ first_name: hostile, job_title: hostile });
	const company = await crm.api('POST', '/v1/companies', { name: hostile });
	await crm.api('PATCH', `/v1/contacts/${id}`, { company_id: company.id, job_title: `${hostile}2` });
	const query = encodeURIComponent(hostile);
	const pages = [
		await crm.admin.open('/records/contacts'),
		await crm.admin.open(`/records/contacts/${id}`),
		await crm.admin.open(`/records/contacts/${id}/edit`),
		await crm.admin.open(`/records/contacts/new?last_name=${query}`),
		await crm.admin.open(`/records/contacts?q=${query}`),
		await crm.admin.open(`/records/contacts?external_id=${query}`),
		await crm.admin.open('/records/deals/new'),
		await crm.admin.open(`/events?type=${query}`),
		await crm.admin.open('/events'),
		await fillIn(crm.admin, '/records/contacts/new', '/records/contacts', { email: hostile }),
	];
	for (const { html } of pages) expect(html).not.toContain('<script');
	expect(pages[1]!.html).toContain('&lt;script&gt;');
});

test('pages run no script, cannot be framed and are not cached', async () => {
	for (const path of ['/records/contacts', '/events', '/sign-in', '/settings/api', '/oauth/authorize?client_id=unknown']) {
		const { headers } = await crm.admin.open(path);
		const policy = headers.get('Content-Security-Policy');
		expect(policy).toContain("default-src 'none'");
		expect(policy).toContain("frame-ancestors 'none'");
		expect(policy).not.toMatch(/script-src|unsafe/);
		expect(headers.get('Cache-Control')).toBe('no-store');
	}
});

test('events show who caused them, and their deliveries to users who may see those', async () => {
	receiver.answer = (_, response) => void response.writeHead(503).end();
	const { id: webhook } = await crm.api('POST', '/v1/webhooks', { url: receiver.url, events: ['note.*'] });
	const contact = await crm.newContact();
	await crm.api('POST', '/v1/notes', { body: 'Wants an offer', links: [{ resource: 'contacts', id: contact.id }] });
	const seen = async (browser: Browser, words: string): Promise<string> => {
		const { html } = await browser.open('/events?type=note.created');
		return html.includes(words) ? html : seen(browser, words);
	};
	const html = await seen(crm.admin, 'The receiver responded with 503.');
	expect(html).toContain('Wants an offer');
	expect(html).toContain('Command line');
	expect(html).toMatch(/\d attempts?\. .*Next attempt/s);
	const ofMember = await crm.member.open('/events?type=note.created');
	expect(ofMember.html).toContain('Wants an offer');
	expect(ofMember.html).not.toContain(receiver.url);
	expect((await crm.admin.open(`/records/webhooks/${webhook}`)).html).toContain('note.created');
});

test('events show the n8n workflow and execution that caused them, with links to all events of each', async () => {
	const hash = '0123456789abcdef'.repeat(2);
	const change = async (from: string, job_title: string) =>
		await crm.api('PATCH', `/v1/contacts/${id}`, { job_title }, { 'Idempotency-Key': `n8n/a1b2c3d4/${from}/${hash}` });
	const { id } = await crm.newContact();
	await change('leads/4711.mf3k2a', 'First');
	await change('leads/47110.mf3k2b/undo', 'Second');
	await change('leads', 'Third');
	await change('leads2/4711', 'Fourth');
	const { html } = await crm.admin.open(`/records/contacts/${id}`);
	const [, ofWorkflow = ''] = /<a href="([^"]*)">workflow leads<\/a>/.exec(html)!;
	expect(html).toContain('execution 47110</a>');
	const titles = async (path: string) =>
		[...(await crm.admin.open(path.replaceAll('&amp;', '&'))).html.matchAll(/<ins>(\w+)<\/ins>/g)].map(([, title]) => title);
	expect(await titles(ofWorkflow)).toEqual(['Third', 'Second', 'First']);
	expect(await titles('/events?cause=n8n%2Fa1b2c3d4%2Fleads%2F4711.mf3k2a%2F')).toEqual(['First']);
	expect(await titles('/events?type=contact.updated&cause=n8n%2Fa1b2c3d4%2Fleads%2F4711.mf3k2a%2F')).toEqual(['First']);
	expect(await titles('/events?type=contact.deleted&cause=n8n%2Fa1b2c3d4%2Fleads%2F4711.mf3k2a%2F')).toEqual([]);
});

test('an event names the stage and the company that changed', async () => {
	const { id: company_id } = await crm.api('POST', '/v1/companies', { name: 'Tundra Tools' });
	const { id } = await crm.api('POST', '/v1/deals', { title: 'Named', company_id });
	const { stage_id } = await crm.api('POST', `/v1/deals/${id}/win`, {});
	const { html } = await crm.admin.open(`/records/deals/${id}`);
	const [changes = ''] = /<ul class="changes">[^]*?<\/ul>/.exec(html) ?? [];
	expect(changes).toMatch(/stage_id<\/code>:[^]*<ins>[^<]*: Won<\/ins>/);
	expect(changes).not.toContain(String(stage_id));
});

test('a member is led to pages that they may open, and sees only names that they may know', async () => {
	await crm.newContact({ last_name: 'Made By Key', owner_id: memberId });
	const member = crm.browse({ Accept: 'text/html' });
	await member.signIn('member');
	for (const path of ['/', '/events']) {
		const { html } = await member.open(path);
		for (const [, href] of html.matchAll(/href="(\/[^"#]*)"/g)) {
			const { status } = await member.open(href!.replaceAll('&amp;', '&'));
			expect([href, status]).toEqual([href, expect.any(Number)]);
			expect([href, status]).not.toEqual([href, 403]);
		}
		expect(html).toContain('Made By Key');
		expect(html).not.toContain('Command line');
	}
	expect((await crm.admin.open('/events')).html).toContain('Command line');
});
