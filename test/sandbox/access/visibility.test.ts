import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { type OAuthSandbox, startOAuthSandbox } from '../harness/connection.ts';
import type { Call, Json, Reply } from '../harness/in-process.ts';

const [admin, sales] = demoMembers.map(({ id }) => id) as [string, string];
const everything = 'contacts:read contacts:write companies:read companies:write';

let sandbox: OAuthSandbox;
/** Calls as the sales person. */
let asSales: Call;
let asAccount: Call;
/** Contacts by who owns them. */
let contacts: Record<'owned' | 'free' | 'foreign', Json>;

beforeEach(async () => {
	sandbox = await startOAuthSandbox();
	asSales = await sandbox.as('member', everything);
	({ asAccount } = sandbox);
	const create = async (email: string, owner_id: string | null) =>
		(await asAccount('POST', '/v1/contacts', { email, owner_id })).body;
	contacts = {
		owned: await create('own@x.example', sales),
		free: await create('free@x.example', null),
		foreign: await create('foreign@x.example', admin),
	};
});
afterEach(() => sandbox.close());

const ids = ({ body }: Reply): string[] => body.data.map(({ id }: Json) => id);

test('a user lists, counts and finds their own records and those without an owner', async () => {
	const expected = [contacts.owned.id, contacts.free.id];
	const list = await asSales('GET', '/v1/contacts');
	expect([ids(list), list.body.total]).toEqual([expected, 2]);
	const sorted = await asSales('GET', '/v1/contacts?sort=-email&limit=1');
	expect([ids(sorted), sorted.body.total]).toEqual([[contacts.owned.id], 2]);
	const { id, email } = contacts.foreign;
	for (const query of [`owner_id=${admin}`, `email=${email}`, 'q=foreign', `ids=${id}`]) {
		const { body } = await asSales('GET', `/v1/contacts?${query}`);
		expect(body).toMatchObject({ data: [], total: 0 });
	}
	await asAccount('DELETE', `/v1/contacts/${contacts.foreign.id}`);
	expect(ids(await asSales('GET', '/v1/contacts?include_deleted=true'))).toEqual(expected);
	expect((await asAccount('GET', '/v1/contacts?include_deleted=true')).body.total).toBe(3);
});

test('a unique value stays unique, but nothing reveals which record has it', async () => {
	const duplicateValues = { email: 'foreign@x.example', first_name: 'x' };
	for (const [method, path] of [['POST', '/v1/contacts'], ['PUT', '/v1/contacts?match_on=email']] as const) {
		const { status, body } = await asSales(method, path, duplicateValues);
		expect([status, body.code]).toEqual([409, 'duplicate']);
		expect(JSON.stringify(body)).not.toContain(contacts.foreign.id);
	}
	const response = await asSales('PUT', '/v1/contacts?match_on=email', { email: 'own@x.example' });
	expect(response.body.id).toBe(contacts.owned.id);
});

test('another user’s record cannot be referred to', async () => {
	const company = await asAccount('POST', '/v1/companies', { name: 'Foreign', owner_id: admin });
	const { status, body } = await asSales('PATCH', `/v1/contacts/${contacts.owned.id}`, { company_id: company.body.id });
	expect([status, body.errors[0].code]).toEqual([422, 'reference_not_found']);
});

test('records that a user writes name them as owner, and records they give away become invisible to them', async () => {
	const created = await asSales('POST', '/v1/contacts', { last_name: 'New' });
	expect(created.body.created_by).toEqual({ type: 'user', id: sales });
	const path = `/v1/contacts/${created.body.id}`;
	expect((await asSales('PATCH', path, { owner_id: admin })).status).toBe(200);
	expect((await asSales('GET', path)).status).toBe(404);
});
