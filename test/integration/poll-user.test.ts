import { startOAuthSandbox, type OAuthSandbox } from '../sandbox/connection.ts';
import { Poller } from './poller.ts';

let sandbox: OAuthSandbox;
beforeAll(async () => {
	sandbox = await startOAuthSandbox();
});
afterAll(async () => await sandbox.close());

test('with a user’s access, only events of records that the user sees start the workflow', async () => {
	const { accessToken } = await sandbox.connect(await sandbox.register(), 'member');
	const { body: user } = await sandbox.call(accessToken, 'GET', '/v1/users/me');
	// An access token is sent the same way as an API key.
	const active = new Poller({ credential: { baseUrl: sandbox.url, apiKey: accessToken } });
	await active.activate();
	const create = async (last_name: string, owner_id: string | null) =>
		await sandbox.call(sandbox.apiKey, 'POST', '/v1/contacts', { last_name, owner_id });
	const { body: others } = await sandbox.call(sandbox.apiKey, 'GET', '/v1/users?limit=10');
	const other = others.data.find(({ id }: { id: string }) => id !== user.id);
	await create('Not mine', other.id);
	await create('Mine', user.id);
	await create('Not mine either', other.id);
	await active.poll();
	expect(active.executions).toMatchObject([[{ data: { object: { last_name: 'Mine' } } }]]);
	expect(active.reported).toEqual([]);
});
