import type { IDataObject } from 'n8n-workflow';

import { callerOfNewNodes } from './harness/agent-tools.ts';
import type { StoredOAuth2 } from './harness/node-runs.ts';
import { startSignInSandbox } from './harness/oauth2.ts';

const create = { kind: 'contact', action: 'create', values: { last_name: 'Ek' } };

const change = async (credential: StoredOAuth2, input: IDataObject) =>
	(await callerOfNewNodes({ credential }, { kinds: ['contact'], writes: ['create'], askBeforeWriting: true })('change', input))[0]!;

test('with OAuth2, a preview token can be made only with the client’s secret or the access token', async () => {
	const sandbox = await startSignInSandbox({ contacts: 0 });
	try {
		for (const client of ['confidential', 'public'] as const) {
			const credential = await sandbox.credential({ client });
			// An exported workflow contains the ID of the credential, and nothing else of it.
			const other = { ...credential, data: { ...credential.data, clientSecret: 'guessed' } };
			const { token } = await change(other, create);
			expect(await change(credential, { ...create, token })).toHaveProperty('preview');
			const { token: real } = await change(credential, create);
			expect(await change(credential, { ...create, token: real })).toHaveProperty('done');
		}
	} finally {
		await sandbox.close();
	}
});
