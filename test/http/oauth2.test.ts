import { getFields } from '../../nodes/CrmPlatform/pickers/mapperFields';
import { searchRecords } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { until } from '../support/until.ts';
import { picker, run, type StoredOAuth2 } from '../support/node-runs.ts';
import { sinceN8n } from '../support/n8n-version.ts';
import { startSignInSandbox, type SignInSandbox } from '../support/oauth2.ts';
import { create, getMany } from '../support/parameters.ts';

/** Without any grace: a refresh token used twice logs the user out. */
let sandbox: SignInSandbox;
beforeAll(async () => {
	sandbox = await startSignInSandbox({ contacts: 1_100, tokenLifetimes: { replacedRefreshToken: 0 } });
});
beforeEach(async () => await sandbox.faults());
afterAll(async () => await sandbox.close());

const contacts = getMany('contact', { returnAll: false, limit: 30 });
const list = async (credential: StoredOAuth2) =>
	(await run({ credential, parameters: contacts })).items.length;
const refreshes = async () => (await sandbox.requests()).filter((request) => request.startsWith('POST /oauth/token'));

describe('a connected credential', () => {
	test.each(['confidential', 'public'] as const)(
		'of a %s client is renewed when its access token has expired',
		async (client) => {
			const credential = await sandbox.credential({ client });
			const before = credential.data.oauthTokenData;
			expect(await list(credential)).toBe(30);
			sandbox.expire();
			expect(await list(credential)).toBe(30);
			expect(await refreshes()).toEqual(['POST /oauth/token 200']);
			expect(credential.data.oauthTokenData).not.toEqual(before);
			expect(await list(credential)).toBe(30);
			expect(await refreshes()).toHaveLength(1);
		},
	);

	test('fills the lists and mappers of an opened node', async () => {
		const credential = await sandbox.credential({ scope: 'contacts:read custom-fields:read' });
		const setup = { credential, parameters: create('contact', {}) };
		const { fields } = await picker(getFields, setup);
		expect(fields.map(({ id }) => id)).toContain('email');
		sandbox.expire();
		expect((await picker(searchRecords, setup)).results.length).toBeGreaterThan(0);
		expect(await refreshes()).toHaveLength(1);
	});
});

describe('the moment an access token expires', () => {
	sinceN8n('2.30', () => {
		test('20 executions at once renew it once, and all continue; the credential keeps its queue', async () => {
			const credential = await sandbox.credential();
			const expired = { ...credential.data };
			sandbox.expire();
			const executions = Array.from({ length: 20 }, () => list(credential));
			expect(await Promise.all(executions)).toEqual(executions.map(() => 30));
			expect(await refreshes()).toEqual(['POST /oauth/token 200']);

			const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '600' };
			await sandbox.faults({ path: '/v1/contacts', status: 429, headers });
			const atOnce = { credential, parameters: getMany('contact', { options: { maxWait: 0 } }) };
			await expect(run(atOnce)).rejects.toMatchObject({ httpCode: '429' });
			expect(credential.data).not.toEqual(expired);
			credential.data = expired;
			await expect(run(atOnce)).rejects.toMatchObject({ httpCode: '429' });
			expect(await sandbox.requests()).toEqual(['GET /v1/contacts 429']);
		});
	});

	test('a long list continues where it stopped', async () => {
		const credential = await sandbox.credential();
		await sandbox.faults({ path: '/v1/contacts', times: 1, latencyMs: 2_000 });
		const running = run({ credential, parameters: getMany('contact') });
		// The request for its first page has been accepted.
		await until(async () => (await sandbox.struck()) >= 1);
		sandbox.expire();
		const { items } = await running;
		expect(new Set(items.map(({ json }) => json.id)).size).toBe(items.length);
		expect(items.length).toBeGreaterThanOrEqual(1_100);
		const [first, second] = await sandbox.requests();
		expect([first, second]).toEqual(['GET /v1/contacts 200', 'GET /v1/contacts 401']);
		expect(await refreshes()).toEqual(['POST /oauth/token 200']);
	});

	test('a write is done once, under the same key', async () => {
		const credential = await sandbox.credential();
		sandbox.expire();
		const email = 'written-once@oauth2.example';
		await run({ credential, parameters: create('contact', { email }) });
		expect(await sandbox.requests()).toEqual(['POST /v1/contacts 401', 'POST /oauth/token 200', 'POST /v1/contacts 201']);
		expect(new Set(await sandbox.idempotencyKeys()).size).toBe(1);
	});

	test('a token endpoint that fails temporarily is asked again', async () => {
		const credential = await sandbox.credential();
		sandbox.expire();
		await sandbox.faults({ path: '/oauth/token', status: 503, times: 1 });
		expect(await list(credential)).toBe(30);
		expect(await refreshes()).toEqual(['POST /oauth/token 503', 'POST /oauth/token 200']);
	});
});

describe('the user reads', () => {
	const says = async (credential: StoredOAuth2, message: string, description: string) => {
		await expect(run({ credential, parameters: contacts })).rejects.toMatchObject({
			message: expect.stringContaining(message),
			description: expect.stringContaining(description),
		});
	};

	test('that the credential must be connected first', async () => {
		const credential = await sandbox.credential();
		delete credential.data.oauthTokenData;
		await says(credential, 'not connected yet', 'click Connect and sign in');
		expect(await sandbox.requests()).toEqual([]);
	});

	sinceN8n('2.38', () => {
		test('to reconnect after the access was revoked, and no further request is sent', async () => {
			const credential = await sandbox.credential();
			await sandbox.revoke(credential);
			await sandbox.faults();
			await says(credential, 'no longer connected', 'reconnect it');
			expect(await sandbox.requests()).toEqual(['GET /v1/contacts 401', 'POST /oauth/token 400']);
		});
	});

	test('to reconnect if even a new token is refused', async () => {
		const credential = await sandbox.credential();
		await sandbox.faults({ path: '/v1/contacts', status: 401 });
		await says(credential, 'no longer connected', 'reconnect it');
	});

	sinceN8n('2.38', () => {
		test('that the client is not accepted', async () => {
			const credential = await sandbox.credential();
			credential.data.clientSecret = 'wrong';
			sandbox.expire();
			await says(credential, 'client of the credential', 'client ID and secret');
		});

		test('that the sign-in cannot be renewed', async () => {
			const credential = await sandbox.credential();
			delete (credential.data.oauthTokenData as { refresh_token?: string }).refresh_token;
			sandbox.expire();
			await says(credential, 'no refresh token', 'reconnect it');
		});

		test('that the token URL leads nowhere', async () => {
			const credential = await sandbox.credential();
			credential.data.accessTokenUrl = `${sandbox.url}/nothing-here`;
			sandbox.expire();
			await says(credential, 'HTTP status 404', 'the URLs in the credential');
		});
	});

	test('which scope is missing', async () => {
		const credential = await sandbox.credential({ scope: 'contacts:write' });
		await says(credential, 'does not have permission for this', 'Add the scope contacts:read');
	});
});
