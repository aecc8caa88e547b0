import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOfNewNodes } from '../support/agent-tools.ts';
import { alteredService } from '../support/altered-service.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox, true);

const callTool = callerOfNewNodes(service, { writes: allWrites, options: { maxWait: 1 } });
const callWithPreview = callerOfNewNodes(service, { writes: allWrites, options: { maxWait: 1 }, previewBeforeWriting: true });

const tokenOf = ([answer]: IDataObject[]) => answer!.token as string;
const text = (answer: IDataObject[]) => JSON.stringify(answer);
const changeText = async (change: IDataObject) => text(await callTool('change', change));
const previewText = async (change: IDataObject) => text(await callWithPreview('change', change));
const addContact = async () => await sandbox.create('contacts', { last_name: `Person ${randomUUID()}` });

describe('a preview shows', () => {
	test('where each text ends, so that no text can look like another change', async () => {
		const title = 'X” → “Y”; Amount: 5 → 6';
		const [{ preview } = {}] = await callWithPreview('change', { kind: 'deal', action: 'create', values: { title, amount: 7 } });
		expect(preview).toBe(String.raw`Create deal: Title: “X\” → \“Y\”; Amount: 5 → 6”; Amount: 7`);
	});

	test('what an action does, and the values that it sets', async () => {
		const deal = await sandbox.create('deals', { title: 'Bridge' });
		const [{ preview } = {}] = await callWithPreview('act', { kind: 'deal', action: 'win', record: deal.id });
		expect(preview).toBe(`Win deal “Bridge” (${deal.id}): Close a deal as won; Status: “open” → “won”`);
	});

	test('a difference behind many equal characters', async () => {
		const same = 'Please pay to the account stated in the contract. '.repeat(6);
		const company = await sandbox.create('companies', { name: `Hide ${randomUUID()}`, description: `${same}IBAN CH00 1111 in full` });
		const values = { description: `${same}IBAN CH00 6666 in full` };
		const preview = await previewText({ kind: 'company', action: 'update', record: company.id, values });
		const wrongLinks = { body: 'Linked', links: '["contacts:Nobody"]' };
		expect(await previewText({ kind: 'note', action: 'create', values: wrongLinks })).toContain('“contacts:Nobody” is not a link');
		expect(preview).toMatch(/Description: .*CH00 1111.* → .*CH00 6666/);
		expect(preview.length).toBeLessThan(800);
	});

	test('a link to another record of the same name', async () => {
		const name = `Same ${randomUUID()}`;
		const [firstCompany, secondCompany] = [await sandbox.create('companies', { name }), await sandbox.create('companies', { name })];
		const contact = await sandbox.create('contacts', { last_name: 'Mover', company_id: firstCompany.id });
		const values = { company_id: secondCompany.id };
		const preview = await previewText({ kind: 'contact', action: 'update', record: contact.id, values });
		expect(preview).toContain(`Company: “${name}” (${firstCompany.id}) → “${name}” (${secondCompany.id})`);
	});

	test('an object that is cleared, and every digit of a number', async () => {
		const company = await sandbox.create('companies', { name: `Digits ${randomUUID()}`, address: { city: 'Bern' } });
		const clearing = { kind: 'company', action: 'update', record: company.id, values: { address: null } };
		expect(await previewText(clearing)).toMatch(/Address: .*Bern.* → \(empty\)/);
		const creation = { kind: 'deal', action: 'create', values: { title: 'Digits', amount: 1234.5678 } };
		expect(await previewText(creation)).toMatch(/1,234\.5678/);
	});

	test('the tag; there is no preview for a tag that does not exist', async () => {
		const tag = await sandbox.create('tags', { name: `Tagged ${randomUUID()}` });
		const contact = await addContact();
		const tagging = { kind: 'contact', action: 'tag', record: contact.id, tag: tag.name };
		const preview = await callWithPreview('change', tagging);
		expect(preview[0]!.preview).toContain(`Tags: (empty) → ["${String(tag.name)}"]`);
		expect(await previewText({ ...tagging, token: tokenOf(preview) })).toContain(String(tag.name));
		expect((await sandbox.read(`contacts/${contact.id}`)).tag_ids).toEqual([tag.id]);
		const wrong = await callWithPreview('change', { ...tagging, tag: 'Tagged Nope' });
		expect(text(wrong)).toMatch(/“Tagged Nope” does not match any record of tags.*There are .*Tagged/);
		expect(wrong[0]).not.toHaveProperty('token');
	});

	test('a whole text, and all recipients', async () => {
		const cc = Array.from({ length: 12 }, (_, i) => `somebody.else.${i}@far.away.example`);
		const message = { to: ['a@b.example'], cc, text: `${'word '.repeat(100)}the end`, channel: 'email', subject: 'S' };
		const preview = String((await callWithPreview('act', { kind: 'message', action: 'send', values: message }))[0]!.preview);
		expect(preview).toContain(message.text);
		for (const recipient of cc) expect(preview).toContain(recipient);
	});

	test('the content of a message to be sent', async () => {
		const content = { to: ['a@b.example'], cc: ['c@d.example'], subject: 'S', text: 'Dear Ada' };
		const scheduled_at = '2030-01-01T00:00:00Z';
		const message = await sandbox.create('messages', { channel: 'email', direction: 'outbound', ...content, scheduled_at });
		const preview = String((await callWithPreview('act', { kind: 'message', action: 'sendNow', record: message.id }))[0]!.preview);
		for (const expectedText of ['a@b.example', 'c@d.example', 'Dear Ada']) expect(preview).toContain(expectedText);
	});

	test('everything, or has no token', async () => {
		const creation = { kind: 'note', action: 'create', values: { body: 'x'.repeat(600) } };
		const [answer] = await callWithPreview('change', creation, { maxAnswerLength: 500 });
		expect(answer).not.toHaveProperty('token');
		expect(text([answer!])).toMatch(/longer than the 500 characters.*Maximum Answer Length/);
		expect(await callWithPreview('change', creation)).toHaveProperty('0.token');
	});
});

describe('a blank from a model', () => {
	const blanks: IDataObject = { email: '', phone: ' ', owner: '', tag_ids: [''], address: { city: '', street: 'B', state: ' ' } };
	const stored = { email: 'a@b.example', phone: '+4930123456', address: { city: 'Bern', street: 'A' } };

	test('changes no field, at any depth and in JSON text; null clears', async () => {
		const before = await sandbox.create('contacts', { last_name: 'Blank', ...stored, email: `${randomUUID()}@b.example` });
		for (const values of [blanks, JSON.stringify(blanks), { ...blanks, address: JSON.stringify(blanks.address) }]) {
			await callTool('change', { kind: 'contact', action: 'update', record: before.id, values: values as IDataObject });
			const { email, phone, owner_id, address } = before;
			expect(await sandbox.read(`contacts/${before.id}`)).toMatchObject({
				email, phone, owner_id, address: { ...address as IDataObject, street: 'B' },
			});
		}
		await callTool('change', { kind: 'contact', action: 'update', record: before.id, values: { phone: null, address: { city: null } } });
		expect(await sandbox.read(`contacts/${before.id}`)).toMatchObject({ phone: null, address: { city: null, street: 'B' } });
	});

	test('is no value of an action', async () => {
		const deal = await sandbox.create('deals', { title: 'Blank' });
		for (const stage of ['', ' ', null]) {
			const answer = await callTool('act', { kind: 'deal', action: 'moveToStage', record: deal.id, values: { stage } });
			expect(text(answer)).toMatch(/Stage is empty/);
		}
	});
});

describe('the message about a failed write', () => {
	const failing = async (write: () => Promise<IDataObject[]>, status: number, body: string, type = 'application/problem+json') => {
		service.alter({
			request: async ({ method, url, text: requestText }) => {
				if (method === 'GET') return;
				await sandbox.call(method, url.pathname, requestText === '' ? undefined : JSON.parse(requestText));
				return { status, body, type };
			},
		});
		return text(await write());
	};
	const update = async () => {
		const contact = await addContact();
		return await callTool('change', { kind: 'contact', action: 'update', record: contact.id, values: { job_title: 'Told' } });
	};

	test.each([
		['an earlier attempt that is in progress', 409, '{"code":"idempotency_in_progress","status":409,"detail":"running"}', undefined],
		['success with an error in it', 200, '{"error":{"message":"boom"}}', 'application/json'],
		['a redirection', 302, '', 'text/plain'],
		['a closed connection', 499, '', 'text/plain'],
		['a page of a proxy', 404, '<html>Not here</html>', 'text/html'],
		['a refusal of a proxy', 403, 'Forbidden', 'text/plain'],
	] as const)('for %s does not claim that nothing was written', async (_what, code, body, type) => {
		expect(await failing(update, code, body, type)).not.toMatch(/Nothing was written/);
	});

	test('says so for a refusal of the CRM and for failures before the write', async () => {
		expect(await failing(update, 422, '{"code":"validation_failed","status":422,"detail":"too odd"}')).toMatch(/Nothing was written/);
		service.alter({
			request: ({ url }) => (url.pathname.startsWith('/v1/contacts') ? { status: 403, body: 'x', type: 'text/plain' } : undefined),
		});
		const unsent = { kind: 'contact', action: 'update', record: 'con_1', values: { job_title: 'Told' } };
		expect(await changeText(unsent)).toMatch(/Nothing was written/);
	});
});

test('a value for a field and a value for the custom field of the same name are two values', async () => {
	const key = 'title';
	await sandbox.create('custom-fields', { resource: 'deals', key, label: 'Other title', type: 'text' });
	const title = `Both ${randomUUID()}`;
	const [done] = await callTool('change', { kind: 'deal', action: 'create', values: { title, custom_fields: { [key]: 'Own' } } });
	expect(await sandbox.read(`deals/${String(done!.id)}`)).toMatchObject({ title, custom_fields: { [key]: 'Own' } });
});

test.each<[kind: string, list: string, values: IDataObject]>([
	['pipeline', 'pipelines', { name: `Pipeline ${randomUUID()}`, stages: ['open', 'won', 'lost'].map((kind) => ({ name: kind, kind })) }],
	['customField', 'custom-fields', { resource: 'contacts', key: `k${Date.now()}`, label: 'K', type: 'text' }],
])('a %s, which has no custom fields, is created and changed', async (kind, list, values) => {
	const [created] = await callTool('change', { kind, action: 'create', values }, { kinds: [kind] });
	expect(created).toMatchObject({ done: expect.stringContaining('Create') });
	const change = { [kind === 'pipeline' ? 'name' : 'label']: `Changed ${randomUUID()}` };
	await callTool('change', { kind, action: 'update', record: created!.id, values: change }, { kinds: [kind] });
	expect(await sandbox.read(`${list}/${String(created!.id)}`)).toMatchObject(change);
});
