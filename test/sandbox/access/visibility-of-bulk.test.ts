import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { until } from '../../support/until.ts';
import { type OAuthSandbox, startOAuthSandbox } from '../harness/connection.ts';
import type { Call, Json } from '../harness/in-process.ts';
import { ndjson } from '../harness/job-client.ts';

const [admin, sales] = demoMembers.map(({ id }) => id) as [string, string];
const everything = 'contacts:read contacts:write jobs:read jobs:write';

let sandbox: OAuthSandbox;
/** Calls as the sales person, with every scope that is needed here. */
let asSales: Call;
let asAccount: Call;
/** Contacts by who owns them. */
let contacts: Record<'owned' | 'foreign', Json>;

beforeEach(async () => {
	sandbox = await startOAuthSandbox();
	asSales = await sandbox.as('member', everything);
	({ asAccount } = sandbox);
	contacts = {
		owned: await create('contacts', { last_name: 'Own', owner_id: sales }),
		foreign: await create('contacts', { last_name: 'Foreign', owner_id: admin }),
	};
});
afterEach(() => sandbox.close());

const create = async (resource: string, values: Json): Promise<Json> =>
	(await asAccount('POST', `/v1/${resource}`, values)).body;

const foreignNow = async () =>
	(await asAccount('GET', `/v1/contacts/${contacts.foreign.id}`)).body;

/** Starts a job about contacts, with a file of one line. */
const start = (call: Call, operation: string, line?: Json) =>
	call('POST', `/v1/jobs?resource=contacts&operation=${operation}`, line, ndjson);

/** The job when it has ended, and the only line of its results. */
async function ended(call: Call, id: string): Promise<{ job: Json; result: Json }> {
	const job = await until(async () => {
		const { body } = await call('GET', `/v1/jobs/${id}`);
		return body.finished_at !== null && body;
	});
	return { job, result: (await call('GET', `/v1/jobs/${id}/results`)).body };
}

test('a job writes nothing that its user may not write', async () => {
	const line = { id: contacts.foreign.id, first_name: 'x' };
	const { body } = await start(asSales, 'update', line);
	const { job, result } = await ended(asSales, body.id);
	expect(job).toMatchObject({ status: 'completed', succeeded: 0, failed: 1 });
	expect(result).toMatchObject({ status: 404, error: { code: 'not_found' } });
	expect(await foreignNow()).toEqual(contacts.foreign);
});

test('an export has only the records that its user sees', async () => {
	const { body } = await start(asSales, 'export');
	expect(body.total).toBe(1);
	const { job, result } = await ended(asSales, body.id);
	expect(job).toMatchObject({ total: 1, succeeded: 1 });
	expect(result).toEqual(contacts.owned);
});

test.each([
	['create', 'contacts:read', 'contacts:write'],
	['export', 'contacts:write', 'contacts:read'],
])('to %s, the scope of jobs and %s is not enough', async (operation, grantedScope, neededScope) => {
	const call = await sandbox.as('member', `jobs:read jobs:write ${grantedScope}`);
	const { status, body } = await start(call, operation, { last_name: 'x' });
	expect([status, body.code, body.scope]).toEqual([403, 'insufficient_scope', neededScope]);
	expect((await call('GET', '/v1/jobs')).body.total).toBe(0);
});

test('the results of an export need the scope of its records', async () => {
	const { body } = await start(asSales, 'export');
	await ended(asSales, body.id);
	const call = await sandbox.as('member', 'jobs:read');
	const results = await call('GET', `/v1/jobs/${body.id}/results`);
	expect([results.status, results.body.scope]).toEqual([403, 'contacts:read']);
	expect((await call('GET', `/v1/jobs/${body.id}`)).status).toBe(200);
});
