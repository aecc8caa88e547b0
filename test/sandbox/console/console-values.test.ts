import { type Console, startConsole } from '../harness/console.ts';

let crm: Console;
beforeAll(async () => (crm = await startConsole({ contacts: 1 })));
afterAll(() => crm?.close());

test('a value that a field of another type has left in a record is shown as text, and is not a link', async () => {
	const { api, admin } = crm;
	const left = 'javascript:alert(1)';
	for (const type of ['url', 'datetime', 'date', 'number', 'boolean', 'email', 'user', 'select', 'multi_select']) {
		const key = `was_text_${type}`;
		const field = { resource: 'contacts', key, label: 'x' };
		const { id } = await api('POST', '/v1/custom-fields', { ...field, type: 'text' });
		const contact = await crm.newContact({ custom_fields: { [key]: left } });
		await api('DELETE', `/v1/custom-fields/${id}`).catch(() => undefined);
		const options = type.includes('select') ? { options: [{ value: 'a', label: 'A' }] } : {};
		await api('POST', '/v1/custom-fields', { ...field, type, ...options });
		for (const page of ['', '/edit']) {
			const { status, html } = await admin.open(`/records/contacts/${contact.id}${page}`);
			expect([type, page, status, html.includes(`href="${left}"`)]).toEqual([type, page, 200, false]);
		}
	}
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
