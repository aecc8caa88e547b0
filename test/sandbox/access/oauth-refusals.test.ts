import { authorizationQuery, type OAuthSandbox, redirectUri, startOAuthSandbox } from '../harness/connection.ts';

const verifier = 'v'.repeat(43);
let sandbox: OAuthSandbox;
beforeAll(async () => (sandbox = await startOAuthSandbox()));
afterAll(() => sandbox.close());

/** A valid request with some parameters changed; undefined leaves a parameter out. */
async function changedQuery(changes: Record<string, string | undefined>): Promise<string> {
	const query = await authorizationQuery(await sandbox.register(), verifier);
	for (const [name, value] of Object.entries(changes)) {
		if (value === undefined) query.delete(name);
		else query.set(name, value);
	}
	return query.toString();
}

test.each([
	[{ client_id: undefined }],
	[{ client_id: 'cli_unknown' }],
	[{ redirect_uri: undefined }],
	[{ redirect_uri: 'https://evil.example/' }],
	[{ redirect_uri: `${redirectUri}/` }],
])('a request with %j is refused without a redirect', async (changes) => {
	const query = await changedQuery(changes);
	for (const suffix of ['', '&prompt=none']) {
		const { status, location } = await sandbox.browse().open(`/oauth/authorize?${query}${suffix}`);
		expect([status, location]).toEqual([400, '']);
	}
});

test.each([
	[{ response_type: undefined }, 'invalid_request'],
	[{ response_type: 'token' }, 'unsupported_response_type'],
	[{ code_challenge: undefined }, 'invalid_request'],
	[{ code_challenge: '' }, 'invalid_request'],
	[{ code_challenge: 'short' }, 'invalid_request'],
	[{ code_challenge_method: undefined }, 'invalid_request'],
	[{ code_challenge_method: 'plain' }, 'invalid_request'],
	[{ scope: 'contacts:read everything' }, 'invalid_scope'],
])('a request with %j is refused by a redirect to the client: %s', async (changes, error) => {
	const state = 'ü&="<>%20+/';
	const query = await changedQuery({ state, ...changes });
	const { status, location } = await sandbox.browse().open(`/oauth/authorize?${query}`);
	expect(status).toBe(303);
	const answer = new URL(location);
	expect(answer.origin + answer.pathname).toBe(redirectUri);
	const { error_description, ...rest } = Object.fromEntries(answer.searchParams);
	expect(rest).toEqual({ error, state, iss: sandbox.url });
	expect(error_description).not.toBe('');
});

test('a user who denies access is redirected to the client', async () => {
	const browser = await sandbox.signedIn('member');
	const path = `/oauth/authorize?${await changedQuery({})}`;
	const { location } = await browser.submit(path, { decision: 'deny' });
	const answer = new URL(location).searchParams;
	expect([answer.get('error'), answer.get('state')]).toEqual(['access_denied', 'a state']);
	expect([answer.get('code'), answer.get('iss')]).toEqual([null, sandbox.url]);
});

test('without signing in there is no consent, whatever is sent', async () => {
	const browser = sandbox.browse();
	const path = `/oauth/authorize?${await changedQuery({})}`;
	const page = await browser.open(path);
	expect(page.location).toBe(`/sign-in?return_to=${encodeURIComponent(path)}`);
	const forced = await browser.submit(path, { decision: 'allow' });
	expect(forced.location).toBe(page.location);
});

test('a code is valid once, and its second use revokes its tokens', async () => {
	const client = await sandbox.register();
	const { code, verifier } = await sandbox.newCode(client);
	const exchange = () =>
		sandbox.post('/oauth/token', client, {
			grant_type: 'authorization_code',
			code,
			redirect_uri: redirectUri,
			code_verifier: verifier,
		});
	const first = await exchange();
	expect(first.status).toBe(200);
	const second = await exchange();
	expect([second.status, second.body.error]).toEqual([400, 'invalid_grant']);
	const { access_token, refresh_token } = first.body;
	expect((await sandbox.call(access_token, 'GET', '/v1/contacts')).status).toBe(401);
	const refreshed = await sandbox.post('/oauth/token', client, { grant_type: 'refresh_token', refresh_token });
	expect(refreshed.body.error).toBe('invalid_grant');
});

test('a code is valid for its client, address and verifier only, and for a minute', async () => {
	const [client, other] = [await sandbox.register(), await sandbox.register()];
	const { code, verifier } = await sandbox.newCode(client);
	const right = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier };
	const exchange = (by: typeof client, changes: Record<string, string>) =>
		sandbox.post('/oauth/token', by, { ...right, ...changes });
	const errors = [
		await exchange(other, {}),
		await exchange(client, { redirect_uri: `${redirectUri}/` }),
		await exchange(client, { code_verifier: 'w'.repeat(43) }),
		await exchange(client, { code_verifier: 'short' }),
		await exchange(client, { code: 'wrong' }),
	];
	for (const { status, body } of errors) expect([status, body.error]).toEqual([400, 'invalid_grant']);
	expect((await exchange(client, { code_verifier: '' })).body.error).toBe('invalid_request');
	sandbox.clock.now += 60_000;
	expect((await exchange(client, {})).body.error).toBe('invalid_grant');
});

test('a client that does not prove its identity gets nothing', async () => {
	const client = await sandbox.register();
	const open = await sandbox.register('public');
	const refused = [
		await sandbox.post('/oauth/token', { ...client, secret: 'wrong' }, {}),
		await sandbox.post('/oauth/token', { ...client, secret: undefined }, {}),
		await sandbox.post('/oauth/token', { ...open, secret: 'invented' }, {}),
		await sandbox.post('/oauth/revoke', { id: 'cli_unknown', secret: undefined }, { token: 'x' }),
	];
	for (const { status, headers, body } of refused) {
		expect([status, body.error]).toEqual([401, 'invalid_client']);
		expect(headers.get('WWW-Authenticate')).toContain('Basic');
	}
});

test.each([
	[{ grant_type: 'password' }, 'unsupported_grant_type'],
	[{}, 'invalid_request'],
	[{ grant_type: 'refresh_token' }, 'invalid_request'],
	[{ grant_type: 'refresh_token', refresh_token: 'wrong' }, 'invalid_grant'],
])('the token endpoint responds to %j with %s', async (parameters, error) => {
	const { status, body } = await sandbox.post('/oauth/token', await sandbox.register(), parameters);
	expect([status, body]).toEqual([400, { error, error_description: expect.any(String) }]);
});
