import { createApp } from '../../sandbox/app.ts';
import { Store } from '../../sandbox/core/store/store.ts';
import { tokenSandbox, type TokenSandbox } from './harness/access-tokens.ts';
import { afterNextRead } from './harness/after-next-read.ts';
import { newDatabase } from './harness/databases.ts';
import type { Json } from './harness/in-process.ts';

afterEach(() => jest.restoreAllMocks());

const scopes = ['contacts:read', 'contacts:write', 'messages:read', 'events:read', 'users:read'];

const onFile = (): TokenSandbox => tokenSandbox({ store: new Store(newDatabase()) });

const namesIn = ({ body }: { body: Json }): string[] => body.data.map(({ last_name }: Json) => last_name);

test('a list that was read before a record changed its owner is returned without the record', async () => {
	const { sales, admin, post, patch, as, store } = onFile();
	const { body } = await post('/v1/contacts', { last_name: 'lost', job_title: 'Buyer', owner_id: sales });
	await post('/v1/contacts', { last_name: 'kept', job_title: 'Buyer', owner_id: sales });
	const call = as(sales, scopes);
	const list = () => call('GET', '/v1/contacts?job_title[contains]=buyer');
	expect(namesIn(await list())).toEqual(['lost', 'kept']);
	const reads = afterNextRead(() => patch(`/v1/contacts/${body.id}`, { owner_id: admin }));
	const response = await list();
	expect([namesIn(response), response.body.total, reads()]).toEqual([['kept'], 1, 2]);
	store.close();
});

test('messages that were seen through a contact are not returned once the contact cannot be seen', async () => {
	const { sales, admin, post, patch, as, store } = onFile();
	const { body: contact } = await post('/v1/contacts', { last_name: 'x', owner_id: sales });
	const message = { channel: 'other', direction: 'inbound', to: ['x'], text: 'Hello', contact_id: contact.id };
	expect((await post('/v1/messages', message)).status).toBe(201);
	const call = as(sales, scopes);
	expect((await call('GET', '/v1/messages?channel=other')).body.total).toBe(1);
	afterNextRead(() => patch(`/v1/contacts/${contact.id}`, { owner_id: admin }));
	expect((await call('GET', '/v1/messages?channel=other')).body).toMatchObject({ data: [], total: 0 });
	store.close();
});

test.each(['/v1/contacts?job_title[contains]=x', '/v1/events?type=contact.*'])(
	'%s: a user who lost the right while it was read gets nothing',
	async (path) => {
		const { sales, newUser, post, patch, grant, with: callWith, as, store } = onFile();
		const boss = await newUser('admin');
		await post('/v1/contacts', { last_name: 'theirs', job_title: 'x', owner_id: sales });
		const { id, access } = grant(boss, scopes);
		const call = callWith(access);
		expect((await call('GET', path)).body.data.length).toBe(1);
		afterNextRead(async () => expect((await patch(`/v1/users/${boss}`, { role: 'member' })).body.role).toBe('member'));
		expect((await call('GET', path)).body.data).toEqual([]);
		afterNextRead(() => store.grants.revoke(id));
		expect((await call('GET', path)).body.code).toBe('invalid_credentials');
		expect((await as(sales, scopes)('GET', path)).body.data.length).toBe(1);
		store.apiKeys.add('key_2', 'second-key');
		afterNextRead(() => store.apiKeys.revoke('key_2'));
		expect((await callWith('second-key')('GET', path)).body.code).toBe('invalid_credentials');
		store.close();
	},
);

test('pages of the console show no records that became invisible while they were read', async () => {
	const { sales, admin, post, patch, store } = onFile();
	const { body } = await post('/v1/contacts', { last_name: 'Moreno', job_title: 'Buyer', owner_id: sales });
	const app = createApp({ store });
	const open = async (path: string) => {
		const Cookie = `crm_session=${store.sessions.open(sales, Date.now())}`;
		const response = await app.request(path, { headers: { Cookie } });
		return [response.status, (await response.text()).includes('Moreno')];
	};
	for (const path of [`/records/contacts/${body.id}`, '/records/contacts?job_title[contains]=buyer']) {
		expect([path, ...(await open(path))]).toEqual([path, 200, true]);
		afterNextRead(() => patch(`/v1/contacts/${body.id}`, { owner_id: admin }));
		const [status, isShown] = await open(path);
		expect([path, status, isShown]).toEqual([path, path.includes('?') ? 200 : 404, false]);
		await patch(`/v1/contacts/${body.id}`, { owner_id: sales });
	}
	store.close();
});
