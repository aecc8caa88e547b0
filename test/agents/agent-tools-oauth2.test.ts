import type { IDataObject } from 'n8n-workflow';

import { callerOfNewNodes } from '../support/agent-tools.ts';
import type { StoredOAuth2 } from '../support/node-runs.ts';
import { startSignInSandbox, type SignInSandbox } from '../support/oauth2.ts';

const create = { kind: 'contact', action: 'create', values: { last_name: 'Ek' } };

const change = async (credential: StoredOAuth2, input: IDataObject) =>
	(await callerOfNewNodes({ credential }, { kinds: ['contact'], writes: ['create'], previewBeforeWriting: true })('change', input))[0]!;

let sandbox: SignInSandbox;
beforeEach(async () => void (sandbox = await startSignInSandbox({ contacts: 0 })));
afterEach(async () => await sandbox.close());

test('with OAuth2, a preview token can be made only with the client’s secret or the access token', async () => {
	for (const client of ['confidential', 'public'] as const) {
		const credential = await sandbox.credential({ client });
		// An exported workflow contains the ID of the credential, and nothing else of it.
		const other = { ...credential, data: { ...credential.data, clientSecret: 'guessed' } };
		const { token } = await change(other, create);
		expect(await change(credential, { ...create, token })).toHaveProperty('preview');
		const { token: real } = await change(credential, create);
		expect(await change(credential, { ...create, token: real })).toHaveProperty('done');
	}
});

test('a token whose user the CRM does not name belongs to the access token, so another user writes nothing with it', async () => {
	const credential = await sandbox.credential();
	const { data } = await sandbox.credential({ role: 'member' });
	await sandbox.faults({ path: '/v1/users/me', times: 9, status: 403 });
	const { token } = await change(credential, create);
	expect(await change({ ...credential, data }, { ...create, token })).toHaveProperty('preview');
	expect(await change(credential, { ...create, token })).toHaveProperty('done');
});

test('a token that another user or another client secret of the credential sends again writes nothing', async () => {
	const credential = await sandbox.credential();
	const { token } = await change(credential, create);
	expect(await change(credential, { ...create, token })).toHaveProperty('done');
	const { data } = await sandbox.credential({ role: 'member' });
	expect(await change({ ...credential, data }, { ...create, token })).toHaveProperty('preview');
	const replaced = { ...credential, data: { ...credential.data, clientSecret: 'replaced' } };
	expect(await change(replaced, { ...create, token })).toHaveProperty('preview');
	expect(await change(credential, { ...create, token })).toEqual(
		{ ...(await change(credential, { ...create, token })), done: expect.stringMatching(/already written/) as string },
	);
	const { body } = await sandbox.asAccount('GET', '/v1/contacts');
	expect(body).toMatchObject({ total: 1 });
});
