import { createApp } from '../../../sandbox/app.ts';
import { Store } from '../../../sandbox/core/store/store.ts';

const store = new Store(':memory:');
const app = createApp({ store, faults: true, hostNames: ['crm.example'] });
const open = async (host: string, path: string, method = 'GET') =>
	(await app.request(`http://${host}${path}`, { method })).status;

// If a foreign host name is made to resolve to this server, browsers treat these pages as that site's own.
test.each([
	...['/', '/records/contacts', '/events', '/sign-in', '/settings/api', '/oauth/authorize', '/docs'],
	...['/.well-known/oauth-authorization-server', '/_sandbox/faults'],
])(
	'%s cannot be opened under a foreign host name',
	async (path) => {
		for (const host of ['evil.example', 'evil.example:4010', 'localhost.evil.example']) {
			expect([host, await open(host, path)]).toEqual([host, 403]);
		}
		for (const host of ['localhost:4010', '127.0.0.1', '[::1]:4010', 'crm.example', 'n8n.localhost']) {
			expect([host, await open(host, path)]).not.toEqual([host, 403]);
		}
	},
);

test('a sign-in or a fault sent under a foreign host name is also refused', async () => {
	for (const path of ['/sign-in', '/sign-out', '/settings/api', '/oauth/authorize']) {
		expect(await open('evil.example', path, 'POST')).toBe(403);
	}
	expect(await open('evil.example', '/_sandbox/faults', 'DELETE')).toBe(403);
});
