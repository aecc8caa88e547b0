import { type Console, memberId, startConsole } from '../harness/console.ts';
import { hiddenValue, shownOnce, submitAndFollow } from '../harness/scripted-browser.ts';

let crm: Console;
beforeAll(async () => (crm = await startConsole()));
afterAll(() => crm?.close());

const total = async (path: string) => (await crm.api('GET', path)).total;

test('a double click creates one record, and leads to it', async () => {
	const page = await crm.admin.open('/records/contacts/new');
	const fields = { form: hiddenValue(page, 'form'), last_name: 'Twice' };
	const submit = () => crm.admin.submit(page, '/records/contacts', fields);
	const [first, second] = await Promise.all([submit(), submit()]);
	expect([first.status, second.status]).toEqual([303, 303]);
	expect(second.location).toBe(first.location);
	expect(await total('/v1/contacts?q=twice')).toBe(1);
	// The same page with other values is another form.
	const again = await crm.admin.submit(page, '/records/contacts', { ...fields, last_name: 'Twice Again' });
	expect(again.location).not.toBe(first.location);
	expect(await total('/v1/contacts?q=twice')).toBe(2);
});

test('a change, an action and a deletion that are sent twice lead to the page of the first one', async () => {
	const { id } = await crm.api('POST', '/v1/deals', { title: 'Fleet' });
	const path = `/records/deals/${id}`;
	const steps: Array<[page: string, to: string, fields: Record<string, string>]> = [
		[`${path}/edit`, path, { title: 'Large Fleet' }],
		[path, `${path}/actions/lose`, { lost_reason: 'No budget' }],
		[path, `${path}/delete`, {}],
	];
	for (const [from, to, fields] of steps) {
		const page = await crm.admin.open(from);
		const submission = { version: hiddenValue(page, 'version'), form: hiddenValue(page, 'form'), ...fields };
		const first = await crm.admin.submit(page, to, submission);
		const second = await crm.admin.submit(page, to, submission);
		expect([first.status, second.status, second.location]).toEqual([303, 303, first.location]);
	}
});

test('reloading the settings creates no second key, and no longer shows the first one', async () => {
	const settings = '/settings/api';
	const key = { action: 'create-key', key_name: 'Once' };
	const keys = async () => (await crm.admin.open(settings)).html.split('<strong>Once</strong>').length - 1;
	const page = await crm.admin.open(settings);
	const fields = { form: hiddenValue(page, 'form'), ...key };
	const submit = () => crm.admin.submit(page, settings, fields);
	const [first, second] = await Promise.all([submit(), submit()]);
	expect([first.status, first.location, second.status]).toEqual([303, settings, 303]);
	const settingsPage = await crm.admin.open(settings);
	expect(shownOnce(settingsPage)).toEqual([expect.stringMatching(/^crm_/)]);
	expect((await crm.admin.open(settings)).html).not.toContain('role="status"');
	expect(await keys()).toBe(1);
	// A new form makes a new key.
	await submitAndFollow(crm.admin, settings, key);
	expect(await keys()).toBe(2);
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
