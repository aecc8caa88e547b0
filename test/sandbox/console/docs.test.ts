import { type Console, startConsole } from '../harness/console.ts';
import { callService } from '../harness/call-service.ts';
import type { Call, Json } from '../harness/in-process.ts';

let crm: Console;
beforeAll(async () => (crm = await startConsole()));
afterAll(() => crm?.close());

const tokenIn = (html: string): string => /&quot;token&quot;:&quot;([^&]*)&quot;/.exec(html)![1]!;

test('the documentation is one page and one script, both served by the sandbox', async () => {
	const { html } = await crm.admin.open('/docs');
	const sources = [...html.matchAll(/src="([^"]+)"/g)].map(([, source]) => source!);
	expect(sources).toEqual(['/docs/scalar.js']);
	const script = await fetch(crm.url + sources[0]!);
	expect(script.headers.get('Content-Type')).toContain('text/javascript');
	expect((await script.text()).length).toBeGreaterThan(1_000_000);
});

test('the browser may connect to no other address, and stores no token', async () => {
	const { headers } = await crm.admin.open('/docs');
	const policy = headers.get('Content-Security-Policy')!;
	expect(policy).toContain("default-src 'none'");
	expect(policy).not.toMatch(/https?:|\*/);
	expect(headers.get('Cache-Control')).toBe('no-store');
});

test('a signed-in user sends requests as themselves, until they sign out', async () => {
	const member = crm.browse();
	await member.signIn('member');
	const page = await member.open('/docs');
	const call = async (...request: Parameters<Call>) => await callService(crm.url, tokenIn(page.html), ...request);
	expect((await call('GET', '/v1/contacts')).status).toBe(200);
	expect((await call('POST', '/v1/contacts', { last_name: 'Docs' })).body.created_by.type).toBe('user');
	expect((await call('POST', '/v1/users')).status).toBe(403);
	await member.submit('/sign-out', {});
	expect((await call('GET', '/v1/contacts')).status).toBe(401);
});

test('people who have not signed in read the documentation, and can sign in and return', async () => {
	const stranger = crm.browse();
	const { html } = await stranger.open('/docs');
	expect(tokenIn(html)).toBe('');
	expect(html).toContain('href="/sign-in?return_to=%2Fdocs"');
	const page = await stranger.open('/sign-in?return_to=%2Fdocs');
	expect(page.html).toContain('name="return_to" value="/docs"');
	expect((await callService(crm.url, '', 'GET', '/v1/contacts')).status).toBe(401);
});

test('the page leads back to the console, and no operation is struck through', async () => {
	expect((await crm.admin.open('/docs')).html).toContain('<a href="/">');
	const { paths } = (await (await fetch(`${crm.url}/openapi.json`)).json()) as Json;
	const operations = Object.values<Json>(paths).flatMap((path) => Object.values<Json>(path));
	const ignored = operations.filter((operation) => operation['x-scalar-ignore']);
	expect(ignored).toEqual(operations.filter(({ deprecated }) => deprecated));
	expect(ignored).toHaveLength(1);
});
