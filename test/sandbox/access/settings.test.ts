import { newDatabase } from '../harness/databases.ts';
import { shownOnce, submitAndFollow } from '../harness/scripted-browser.ts';
import { type OAuthSandbox, redirectUri, startOAuthSandbox } from '../harness/connection.ts';

const settings = '/settings/api';
let sandbox: OAuthSandbox;
beforeAll(async () => (sandbox = await startOAuthSandbox()));
afterAll(() => sandbox.close());

async function administrator() {
	const browser = await sandbox.signedIn('admin');
	const submit = (fields: Record<string, string>) => browser.submit(settings, fields);
	const create = (fields: Record<string, string>) => submitAndFollow(browser, settings, fields);
	return { ...browser, submit, create };
}

test('the settings require signing in, and admit administrators only', async () => {
	const browser = sandbox.browse();
	const { location } = await browser.open(settings);
	expect(location).toBe(`/sign-in?return_to=${encodeURIComponent(settings)}`);
	await browser.signIn('member');
	const refused = await browser.open(settings);
	expect(refused.status).toBe(403);
	expect(refused.html).not.toContain('<form');
	expect((await browser.submit(settings, { action: 'create-key' })).status).toBe(403);
});

test('an API key is shown once, opens the account, shows when it was used, and is revoked', async () => {
	const { open, submit, create } = await administrator();
	const [key] = shownOnce(await create({ action: 'create-key', key_name: 'Nightly export' }));
	const unused = (await open(settings)).html;
	expect(unused).toContain('Nightly export');
	expect(unused).not.toContain(key);
	expect(unused).toMatch(/<code>key_\w+<\/code>/);
	expect((await sandbox.call(key!, 'GET', '/v1/contacts')).status).toBe(200);
	const entry = /<li class="row">(?:(?!<\/li>)[\s\S])*Nightly export[\s\S]*?<\/li>/;
	const used = entry.exec((await open(settings)).html)![0];
	expect(used).toContain('last used 2026-01-05');
	const id = /name="id" value="(key_\w+)"/.exec(used)![1]!;
	await submit({ action: 'revoke-key', id });
	expect((await open(settings)).html).not.toContain('Nightly export');
	expect((await sandbox.call(key!, 'GET', '/v1/contacts')).status).toBe(401);
	expect((await sandbox.call(sandbox.apiKey, 'GET', '/v1/contacts')).status).toBe(200);
});

test('a client that is deleted takes all its tokens with it', async () => {
	const client = await sandbox.register();
	const { accessToken, refreshToken } = await sandbox.connect(client, 'member');
	const { submit } = await administrator();
	expect((await submit({ action: 'delete-client', id: client.id })).location).toBe(settings);
	expect((await sandbox.call(accessToken, 'GET', '/v1/contacts')).status).toBe(401);
	const refreshed = await sandbox.post('/oauth/token', client, { grant_type: 'refresh_token', refresh_token: refreshToken });
	expect(refreshed.body.error).toBe('invalid_client');
});

test.each([
	'',
	'http://app.example/callback',
	'https://app.example/#part',
	'https://user:password@app.example/',
	'javascript:alert(1)',
	`${redirectUri}\nftp://app.example/`,
])('the redirect addresses "%s" are refused with an explanation', async (redirect_addresses) => {
	const { submit } = await administrator();
	const { status, html } = await submit({ action: 'create-client', client_name: 'Refused', redirect_addresses });
	expect(status).toBe(422);
	expect(html).toContain('role="alert"');
	expect(html).not.toContain('<strong>Refused</strong>');
});

test('a session ends when its user signs out, and after twelve hours', async () => {
	const browser = sandbox.browse();
	await browser.signIn('admin');
	const page = await browser.open(settings);
	expect(page.status).toBe(200);
	await browser.submit('/sign-out', {});
	expect((await browser.open(settings)).status).toBe(303);
	await browser.signIn('admin');
	sandbox.clock.now += 12 * 60 * 60 * 1000 - 1;
	expect((await browser.open(settings)).status).toBe(200);
	sandbox.clock.now += 1;
	expect((await browser.open(settings)).status).toBe(303);
});

test('keys, clients, tokens and sessions outlive a restart', async () => {
	const db = newDatabase();
	const before = await startOAuthSandbox({ db });
	const client = await before.register();
	const { accessToken, refreshToken } = await before.connect(client, 'member');
	await before.close();
	const after = await startOAuthSandbox({ db });
	expect((await after.call(accessToken, 'GET', '/v1/contacts')).status).toBe(200);
	expect((await after.call(before.apiKey, 'GET', '/v1/contacts')).status).toBe(200);
	const parameters = { grant_type: 'refresh_token', refresh_token: refreshToken };
	expect((await after.post('/oauth/token', client, parameters)).status).toBe(200);
	await after.close();
});
