import { createApp } from '../../../sandbox/app.ts';
import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { seed } from '../../../sandbox/seed/seed.ts';
import { Store } from '../../../sandbox/core/store/store.ts';

const store = new Store(':memory:');
seed(store, 1);
const app = createApp({ store, faults: true });
const browser = { Accept: 'text/html,application/xhtml+xml' };
afterAll(() => store.close());

test.each(['/nowhere', '/records', '/settings/nothing', '/oauth/authorize/x'])(
	'%s is a page for a browser, and JSON for a program',
	async (path) => {
		const page = await app.request(path, { headers: browser });
		expect([page.status, page.headers.get('Content-Type')]).toEqual([404, expect.stringContaining('text/html')]);
		const json = await app.request(path);
		expect(json.headers.get('Content-Type')).toContain('json');
	},
);

test('a method that a page does not support is refused with a page, and the API responds with JSON', async () => {
	const page = await app.request('/sign-in', { method: 'DELETE', headers: browser });
	expect([page.status, page.headers.get('Allow')]).toEqual([405, 'GET, HEAD, POST']);
	expect(await page.text()).toContain('<h1>');
	const api = await app.request('/v1/contacts', { headers: browser });
	expect([api.status, api.headers.get('Content-Type')]).toEqual([401, 'application/problem+json']);
});

const { id, email, password } = demoMembers[1]!;
const signIn = async (return_to: string) =>
	await app.request('/sign-in', { method: 'POST', body: new URLSearchParams({ email, password, return_to }) });

test.each(['/records/contacts?q=\u0000', '/records/contacts?q=ü', '/records/x?\r\nSet-Cookie: a=b'])(
	'signing in with the return address %j leads to a valid address',
	async (returnTo) => {
		expect((await app.request(`/sign-in?return_to=${encodeURIComponent(returnTo)}`)).status).toBe(200);
		const response = await signIn(returnTo);
		expect([response.status, /^\/[\x21-\x7e]*$/.test(response.headers.get('Location') ?? '')]).toEqual([303, true]);
		expect(store.table('users')!.find(id)!['last_seen_at']).not.toBeNull();
	},
);

test.each([
	...['https://evil.example', '//evil.example', '/\\evil.example', '/records/../..//evil.example', '/docs/..//evil.example/'],
])('signing in does not lead to %s', async (returnTo) => {
	const response = await signIn(returnTo);
	expect([response.status, response.headers.get('Location')]).toEqual([303, '/']);
});

const open = async (host: string, path: string, method = 'GET') =>
	(await app.request(`http://${host}${path}`, { method })).status;

// If a foreign host name is made to resolve to this server, browsers treat these pages as that site's own.
test.each([
	...['/', '/records/contacts', '/events', '/sign-in', '/settings/api', '/oauth/authorize', '/docs'],
	...['/.well-known/oauth-authorization-server', '/_sandbox/faults'],
])('%s cannot be opened under a foreign host name', async (path) => {
	for (const host of ['evil.example', 'evil.example:4010', 'localhost.evil.example']) {
		expect([host, await open(host, path), await open(host, path, 'POST')]).toEqual([host, 403, 403]);
	}
	for (const host of ['localhost:4010', '127.0.0.1', '[::1]:4010', 'n8n.localhost']) {
		expect([host, await open(host, path)]).not.toEqual([host, 403]);
	}
});
