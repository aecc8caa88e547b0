import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { allWrites, callerOfNewNodes } from '../support/agent-tools.ts';
import { alteredService, withoutVersions } from '../support/altered-service.ts';
import type { StoredOAuth2 } from '../support/node-runs.ts';
import { type SignInSandbox, startSignInSandbox } from '../support/oauth2.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();

const options = { writes: allWrites, previewBeforeWriting: true, options: { maxWait: 0 } };
const call = callerOfNewNodes(sandbox, options);

const tokenOf = ([answer]: IDataObject[]) => String(answer!.token);
const isPreview = (answer: IDataObject[]) => expect(JSON.stringify(answer)).toMatch(/Nothing is written yet/);

let deal: IDataObject;
let update: IDataObject;
beforeEach(async () => {
	deal = await sandbox.create('deals', { title: `Renewal ${randomUUID()}`, amount: 1200 });
	update = { kind: 'deal', action: 'update', record: deal.id, values: { amount: 12_000, stage: 'Negotiation' } };
});

test('a call without a token returns a preview in words, and writes nothing', async () => {
	const answer = await call('change', update);
	expect(answer[0]!.preview).toBe(
		`Update deal “${String(deal.title)}” (${String(deal.id)}): Amount: 1,200 → 12,000; Stage: “Qualified” → “Negotiation”`,
	);
	isPreview(answer);
	expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ amount: 1200, version: deal.version });
});

test('a call with the token of its preview writes, and with the same token again writes nothing more', async () => {
	const token = tokenOf(await call('change', update));
	expect(JSON.stringify(await call('change', { ...update, token: `${token}. ` }))).toMatch(/"done":"Update deal/);
	expect(JSON.stringify(await call('change', { ...update, token }))).toMatch(/has these values already/);
	expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ amount: 12_000, version: Number(deal.version) + 1 });
});

test.each<[string, (token: string) => IDataObject]>([
	['other values', (token) => ({ ...update, values: { amount: 13 }, token })],
	['something else for a token', () => ({ ...update, token: 'yes' })],
	['a token with another time in it', (token) => ({ ...update, token: token.replace(/^./, 'z') })],
	['a token followed by more than a full stop', (token) => ({ ...update, token: `${token}.x.` })],
])('with %s, nothing is written and there is a new preview', async (_what, inputOf) => {
	isPreview(await call('change', inputOf(tokenOf(await call('change', update)))));
	expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ amount: 1200, version: deal.version });
});

test('a tag that was renamed after its preview is shown again under its new name', async () => {
	const tag = await sandbox.create('tags', { name: `Cold ${randomUUID()}` });
	const tagging = { kind: 'deal', action: 'tag', record: deal.id, tag: tag.id };
	const token = tokenOf(await call('change', tagging));
	await sandbox.call('PATCH', `/v1/tags/${tag.id}`, { name: `Do not sell ${randomUUID()}` });
	isPreview(await call('change', { ...tagging, token }));
	expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ tag_ids: [] });
});

test('a label that looks like a change is quoted', async () => {
	await sandbox.create('custom-fields', { resource: 'deals', key: 'lure', label: 'Note: “a” → “b”; Amount', type: 'text' });
	const [answer] = await call('change', { ...update, values: { 'custom_fields.lure': 'q' } });
	expect(answer!.preview).toContain(String.raw`“Note: \“a\” → \“b\”; Amount”: (empty) → “q”`);
});

test('a token for another record, node or kind of write is not accepted', async () => {
	const token = tokenOf(await call('change', update));
	const other = await sandbox.create('deals', { title: 'Other', amount: 1200 });
	isPreview(await call('change', { ...update, record: other.id, token }));
	isPreview(await call('change', { kind: 'deal', action: 'delete', record: deal.id, token }));
	isPreview(await call('act', { kind: 'deal', action: 'win', record: deal.id, token }));
	expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ status: 'open', version: deal.version });
	expect(await sandbox.read(`deals/${other.id}`)).toMatchObject({ version: other.version });
});

test('a change that somebody made after the preview is not overwritten', async () => {
	const token = tokenOf(await call('change', update));
	await sandbox.call('PATCH', `/v1/deals/${String(deal.id)}`, { amount: 5 });
	const answer = await call('change', { ...update, token });
	isPreview(answer);
	expect(JSON.stringify(answer)).toMatch(/Amount: 5 → 12,000.*changed since the preview/);
	expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ amount: 5 });
});

test.each<[string, () => [string, IDataObject]]>([
	['an update', () => ['change', update]],
	['a creation', () => ['change', { kind: 'contact', action: 'create', values: { last_name: `once-${randomUUID()}` } }]],
	['an action', () => ['act', { kind: 'deal', action: 'win', record: deal.id }]],
	['a deletion', () => ['change', { kind: 'deal', action: 'delete', record: deal.id }]],
])('%s whose response is lost is carried out once, whichever process handles the next call', async (_what, createCall) => {
	const [tool, write] = createCall();
	const token = tokenOf(await call(tool, write));
	const log = async () => (await sandbox.read('events?limit=500')).data as IDataObject[];
	const before = (await log()).length;
	const method = tool === 'act' || write.action === 'create' ? 'POST' : write.action === 'delete' ? 'DELETE' : 'PATCH';
	await sandbox.faults({ path: '/v1', drop: 'after', times: 1, method });
	// A model may end a sentence with it.
	for (const end of ['', '.', ' ']) await call(tool, { ...write, token: token + end });
	const types = (await log()).slice(before).map(({ type }) => type);
	expect(types.filter((type) => /created|deleted|won|^deal\.updated$/.test(String(type))).length).toBeLessThanOrEqual(2);
	expect(new Set(types).size).toBe(types.length);
	expect(types.length).toBeGreaterThan(0);
});

test.each([undefined, 'made-up.1.x'])('a record that has the values already needs no token, and gives none (%s)', async (token) => {
	const answer = await call('change', { ...update, values: { amount: 1200 }, ...(token && { token }) });
	expect(JSON.stringify(answer)).toMatch(/has these values already/);
	expect(answer[0]).not.toHaveProperty('token');
});

test('neither does a deal that is won already, or a record that has the tag already', async () => {
	const { id: tag } = await sandbox.create('tags', { name: `Tag ${randomUUID()}` });
	await sandbox.call('PUT', `/v1/deals/${deal.id}/tags/${tag}`);
	await sandbox.call('POST', `/v1/deals/${deal.id}/win`, {});
	const tagging = { kind: 'deal', action: 'tag', record: deal.id, tag };
	for (const [tool, write] of [['change', tagging], ['act', { kind: 'deal', action: 'win', record: deal.id }]] as const) {
		expect(JSON.stringify(await call(tool, write))).toMatch(/has these values already/);
	}
	isPreview(await call('change', { ...tagging, action: 'untag' }));
});

describe('a service without versions', () => {
	const service = alteredService(sandbox, true);
	const without = callerOfNewNodes(service, options);

	beforeEach(() => service.alter({ answer: (text) => (text.startsWith('{') ? withoutVersions(text) : text) }));

	test('has its record compared before the write, and a change made since is not overwritten', async () => {
		const token = tokenOf(await without('change', update));
		await sandbox.call('PATCH', `/v1/deals/${String(deal.id)}`, { amount: 5 });
		isPreview(await without('change', { ...update, token }));
		expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ amount: 5 });
		const again = tokenOf(await without('change', update));
		expect(JSON.stringify(await without('change', { ...update, token: again }))).toMatch(/"done":"Update deal/);
		expect(await sandbox.read(`deals/${String(deal.id)}`)).toMatchObject({ amount: 12_000 });
	});
});

test('a token of a name that another record now has writes nothing', async () => {
	const name = `Name ${randomUUID()}`;
	await sandbox.create('companies', { name });
	const rename = { kind: 'company', action: 'update', record: name, values: { name: `New ${name}` } };
	const token = tokenOf(await call('change', rename));
	expect(JSON.stringify(await call('change', { ...rename, token }))).toContain('"done"');
	expect(JSON.stringify(await call('change', { ...rename, token }))).toMatch(/an earlier call with this token may have/);
	const other = await sandbox.create('companies', { name });
	isPreview(await call('change', { ...rename, token }));
	expect(await sandbox.read(`companies/${other.id}`)).toMatchObject({ name, version: 1 });
});

test('a moment is shown in the time zone of the workflow', async () => {
	const [{ preview } = {}] = await call(
		'change', { kind: 'task', action: 'create', values: { title: 'Call', due_at: '2026-12-10' } }, { timezone: 'Pacific/Auckland' },
	);
	expect(preview).toContain('Due At: 2026-12-10 00:00:00 (Pacific/Auckland)');
});

describe('with OAuth2', () => {
	const create = { kind: 'contact', action: 'create', values: { last_name: 'Ek' } };

	const changeWith = async (credential: StoredOAuth2, input: IDataObject) =>
		(await callerOfNewNodes({ credential }, { kinds: ['contact'], writes: ['create'], previewBeforeWriting: true })('change', input))[0]!;

	let signIn: SignInSandbox;
	beforeEach(async () => void (signIn = await startSignInSandbox({ contacts: 0 })));
	afterEach(async () => await signIn.close());

	test('a preview token can be made only with the client’s secret or the access token', async () => {
		for (const client of ['confidential', 'public'] as const) {
			const credential = await signIn.credential({ client });
			// An exported workflow contains the ID of the credential, and nothing else of it.
			const other = { ...credential, data: { ...credential.data, clientSecret: 'guessed' } };
			const { token } = await changeWith(other, create);
			expect(await changeWith(credential, { ...create, token })).toHaveProperty('preview');
			const { token: real } = await changeWith(credential, create);
			expect(await changeWith(credential, { ...create, token: real })).toHaveProperty('done');
		}
	});

	test('a token whose user the CRM does not name belongs to the access token, so another user writes nothing with it', async () => {
		const credential = await signIn.credential();
		const { data } = await signIn.credential({ role: 'member' });
		await signIn.faults({ path: '/v1/users/me', times: 9, status: 403 });
		const { token } = await changeWith(credential, create);
		expect(await changeWith({ ...credential, data }, { ...create, token })).toHaveProperty('preview');
		expect(await changeWith(credential, { ...create, token })).toHaveProperty('done');
	});

	test('a token that another user or another client secret of the credential sends again writes nothing', async () => {
		const credential = await signIn.credential();
		const { token } = await changeWith(credential, create);
		expect(await changeWith(credential, { ...create, token })).toHaveProperty('done');
		const { data } = await signIn.credential({ role: 'member' });
		expect(await changeWith({ ...credential, data }, { ...create, token })).toHaveProperty('preview');
		const replaced = { ...credential, data: { ...credential.data, clientSecret: 'replaced' } };
		expect(await changeWith(replaced, { ...create, token })).toHaveProperty('preview');
		expect(await changeWith(credential, { ...create, token })).toEqual(
			{ ...(await changeWith(credential, { ...create, token })), done: expect.stringMatching(/already written/) as string },
		);
		const { body } = await signIn.asAccount('GET', '/v1/contacts');
		expect(body).toMatchObject({ total: 1 });
	});
});
