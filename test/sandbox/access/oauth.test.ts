import * as oauth from 'oauth4webapi';
import { authentication, discover, type OAuthSandbox, startOAuthSandbox } from '../harness/connection.ts';

const minute = 60_000;
let sandbox: OAuthSandbox;
beforeEach(async () => (sandbox = await startOAuthSandbox()));
afterEach(() => sandbox.close());

const refresh = (client: Awaited<ReturnType<OAuthSandbox['register']>>, token: string) =>
	sandbox.post('/oauth/token', client, { grant_type: 'refresh_token', refresh_token: token });

test.each(['confidential', 'public'] as const)(
	'oauth4webapi connects as a %s client, refreshes and revokes',
	async (type) => {
		const client = await sandbox.register(type);
		const oauthClient = { client_id: client.id };
		const overHttp = { [oauth.allowInsecureRequests]: true };
		const server = await discover(sandbox.url);
		const first = await sandbox.connect(client, 'admin', 'contacts:read contacts:write');
		expect(first.scope).toBe('contacts:read contacts:write');
		expect((await sandbox.call(first.accessToken, 'GET', '/v1/contacts')).status).toBe(200);

		const refreshed = await oauth.processRefreshTokenResponse(
			server,
			oauthClient,
			await oauth.refreshTokenGrantRequest(server, oauthClient, authentication(client), first.refreshToken, overHttp),
		);
		expect(refreshed).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: first.scope });
		expect((await sandbox.call(refreshed.access_token, 'GET', '/v1/contacts')).status).toBe(200);

		await oauth.processRevocationResponse(
			await oauth.revocationRequest(server, oauthClient, authentication(client), refreshed.refresh_token!, overHttp),
		);
		for (const token of [first.accessToken, refreshed.access_token]) {
			const { status, body } = await sandbox.call(token, 'GET', '/v1/contacts');
			expect([status, body.code]).toEqual([401, 'invalid_credentials']);
		}
		expect((await refresh(client, refreshed.refresh_token!)).body.error).toBe('invalid_grant');
	},
);

test('without a scope the user is asked for read access only', async () => {
	const { scope } = await sandbox.connect(await sandbox.register(), 'admin');
	expect(scope.split(' ')).toContain('contacts:read');
	expect(scope).not.toContain('write');
});

test('an access token lasts an hour, and is then reported as expired', async () => {
	const { accessToken } = await sandbox.connect(await sandbox.register(), 'admin');
	sandbox.clock.now += 60 * minute - 1;
	expect((await sandbox.call(accessToken, 'GET', '/v1/contacts')).status).toBe(200);
	sandbox.clock.now += 1;
	const { status, headers, body } = await sandbox.call(accessToken, 'GET', '/v1/contacts');
	expect([status, body.code]).toEqual([401, 'token_expired']);
	expect(headers.get('WWW-Authenticate')).toContain('error="invalid_token"');
});

test('a token allows the operations of its scopes, and errors name the missing scope', async () => {
	const client = await sandbox.register();
	const { accessToken } = await sandbox.connect(client, 'admin', 'contacts:read');
	const call = (method: string, path: string) => sandbox.call(accessToken, method, path, undefined);
	for (const path of ['/v1/contacts', '/contacts', '/v1/account']) {
		expect((await call('GET', path)).status).toBe(200);
	}
	const refused = await call('POST', '/v1/contacts');
	expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_scope']);
	expect(refused.body.scope).toBe('contacts:write');
	expect(refused.headers.get('WWW-Authenticate')).toContain('scope="contacts:write"');
	expect((await call('GET', '/v1/companies')).body.scope).toBe('companies:read');
	expect((await call('DELETE', '/v1/contacts/con_0')).body.scope).toBe('contacts:write');
});

test('a refresh may request fewer scopes, and not more', async () => {
	const client = await sandbox.register();
	const { refreshToken } = await sandbox.connect(client, 'admin', 'contacts:read companies:read');
	const ask = (scope: string) =>
		sandbox.post('/oauth/token', client, { grant_type: 'refresh_token', refresh_token: refreshToken, scope });
	const less = await ask('contacts:read');
	expect(less.body.scope).toBe('contacts:read');
	expect((await sandbox.call(less.body.access_token, 'GET', '/v1/companies')).status).toBe(403);
	expect((await ask('contacts:write')).body.error).toBe('invalid_scope');
	// The grant is unchanged: the next refresh has all scopes again.
	expect((await refresh(client, less.body.refresh_token)).body.scope).toContain('companies:read');
});

test('a replaced refresh token stays valid for ten minutes, so that nobody is logged out', async () => {
	const client = await sandbox.register();
	const { refreshToken } = await sandbox.connect(client, 'admin');
	const responses = await Promise.all([1, 2, 3].map(() => refresh(client, refreshToken)));
	expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
	// There is one family: if two lived on, neither could be told from a stolen one.
	const [successor, ...others] = new Set(responses.map(({ body }) => body.refresh_token));
	expect(others).toEqual([]);
	sandbox.clock.now += 10 * minute - 1;
	expect((await refresh(client, refreshToken)).body.refresh_token).toBe(successor);
	expect((await refresh(client, successor)).status).toBe(200);
	for (const { body } of responses) {
		expect((await sandbox.call(body.access_token, 'GET', '/v1/contacts')).status).toBe(200);
	}
});

test('a refresh token used long after it was replaced revokes the whole family', async () => {
	const client = await sandbox.register();
	const { refreshToken } = await sandbox.connect(client, 'admin');
	const { body } = await refresh(client, refreshToken);
	sandbox.clock.now += 10 * minute;
	const reused = await refresh(client, refreshToken);
	expect([reused.status, reused.body.error]).toEqual([400, 'invalid_grant']);
	expect((await sandbox.call(body.access_token, 'GET', '/v1/contacts')).status).toBe(401);
	expect((await refresh(client, body.refresh_token)).body.error).toBe('invalid_grant');
});

test('an access token can be revoked alone; an unknown token counts as revoked', async () => {
	const client = await sandbox.register();
	const { accessToken, refreshToken } = await sandbox.connect(client, 'admin');
	const revoke = (token: string) => sandbox.post('/oauth/revoke', client, { token });
	expect((await revoke('unknown')).status).toBe(200);
	expect((await revoke(accessToken)).status).toBe(200);
	expect((await sandbox.call(accessToken, 'GET', '/v1/contacts')).status).toBe(401);
	expect((await refresh(client, refreshToken)).status).toBe(200);
});

test('too many requests are refused in the format of OAuth, with the time to wait', async () => {
	const slow = await startOAuthSandbox({ requestsPerMinute: 1 });
	const stranger = { id: 'cli_unknown', secret: undefined };
	expect((await slow.post('/oauth/token', stranger, {})).status).toBe(401);
	const { status, headers, body } = await slow.post('/oauth/token', stranger, {});
	expect([status, body.error]).toEqual([429, 'temporarily_unavailable']);
	expect(headers.get('Retry-After')).toBe('60');
	await slow.close();
});
