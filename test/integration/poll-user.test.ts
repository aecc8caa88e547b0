import { startSignInSandbox, type SignInSandbox } from './oauth2.ts';
import { Poller } from './poller.ts';

let sandbox: SignInSandbox;
beforeAll(async () => {
	sandbox = await startSignInSandbox();
});
afterAll(async () => await sandbox.close());

const call = async (method: string, path: string, body?: object) =>
	(await sandbox.call(sandbox.apiKey, method, path, body)).body;

test('a signed-in user gets the events of records that they see, and stays signed in', async () => {
	const { data: users } = await call('GET', '/v1/users?limit=50');
	const create = async (last_name: string, owner_id: string) =>
		await call('POST', '/v1/contacts', { last_name, owner_id });
	const scope = 'contacts:read events:read users:read';
	const credential = await sandbox.credential({ role: 'member', scope });
	const { access_token: token } = credential.data.oauthTokenData as { access_token: string };
	const { id } = (await sandbox.call(token, 'GET', '/v1/users/me')).body;
	const other = users.find((user: { id: string }) => user.id !== id);

	const active = new Poller({ credential, parameters: { events: ['contact.*'] } });
	await active.activate();
	await create('Theirs', other.id);
	await create('Mine', id);
	await create('Theirs as well', other.id);
	sandbox.expire();
	await active.poll();
	await create('Theirs again', other.id);
	await active.poll();

	expect(active.executions).toMatchObject([[{ data: { object: { last_name: 'Mine' } } }]]);
	expect(active.reported).toEqual([]);
});
