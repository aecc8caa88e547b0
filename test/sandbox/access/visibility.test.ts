import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import type { Call, Json, Reply } from '../harness/in-process.ts';
import { ended, ndjson } from '../harness/job-client.ts';

const [admin, sales] = demoMembers.map(({ id }) => id) as [string, string];
const everything = ['contacts', 'companies', 'jobs'].flatMap((name) => [`${name}:read`, `${name}:write`]);

let sandbox: TokenSandbox;
/** Calls as the sales person. */
let asSales: Call;
let asAccount: Call;
/** Contacts by who owns them. */
let contacts: Record<'owned' | 'free' | 'foreign', Json>;

beforeEach(async () => {
	sandbox = tokenSandbox();
	asSales = sandbox.as(sales, everything);
	asAccount = sandbox.send;
	const create = async (email: string, owner_id: string | null) =>
		(await asAccount('POST', '/v1/contacts', { email, owner_id })).body;
	contacts = {
		owned: await create('own@x.example', sales),
		free: await create('free@x.example', null),
		foreign: await create('foreign@x.example', admin),
	};
});

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

/** Starts a job about contacts, with a file of one line. */
const start = (call: Call, operation: string, line?: Json) =>
	call('POST', `/v1/jobs?resource=contacts&operation=${operation}`, line, ndjson);

test('a job writes nothing that its user may not write', async () => {
	const line = { id: contacts.foreign.id, first_name: 'x' };
	const { body } = await start(asSales, 'update', line);
	expect(await ended(sandbox, body.id)).toMatchObject({ status: 'completed', succeeded: 0, failed: 1 });
	const results = await asSales('GET', `/v1/jobs/${body.id}/results`);
	expect(results.body).toMatchObject([{ status: 404, error: { code: 'not_found' } }]);
	expect((await asAccount('GET', `/v1/contacts/${contacts.foreign.id}`)).body).toEqual(contacts.foreign);
});

test('an export has only the records that its user sees, and its results need the scope of the records', async () => {
	const { body } = await start(asSales, 'export');
	expect(body.total).toBe(2);
	expect(await ended(sandbox, body.id)).toMatchObject({ total: 2, succeeded: 2 });
	const path = `/v1/jobs/${body.id}`;
	expect((await asSales('GET', `${path}/results`)).body).toEqual([contacts.owned, contacts.free]);
	// The results need the scope of the records, the job does not.
	const call = sandbox.as(sales, ['jobs:read']);
	const refused = await call('GET', `${path}/results`);
	expect([refused.status, refused.body.scope]).toEqual([403, 'contacts:read']);
	expect((await call('GET', path)).status).toBe(200);
});

test.each([
	['create', 'contacts:read', 'contacts:write'],
	['export', 'contacts:write', 'contacts:read'],
])('to %s, the scope of jobs and %s is not enough', async (operation, grantedScope, neededScope) => {
	const call = sandbox.as(sales, ['jobs:read', 'jobs:write', grantedScope]);
	const { status, body } = await start(call, operation, { last_name: 'x' });
	expect([status, body.code, body.scope]).toEqual([403, 'insufficient_scope', neededScope]);
	expect((await call('GET', '/v1/jobs')).body.total).toBe(0);
});
