import { demoMembers } from '../../../sandbox/seed/demo-members.ts';
import { until } from '../../support/until.ts';
import { type OAuthSandbox, startOAuthSandbox } from '../harness/connection.ts';
import type { Call, Json, Reply } from '../harness/in-process.ts';
import { ndjson } from '../harness/job-client.ts';

const [admin, sales] = demoMembers.map(({ id }) => id) as [string, string];
const names = ['contacts', 'deals', 'notes', 'pipelines', 'tags', 'jobs'];
const everything = names.map((name) => `${name}:read ${name}:write`).join(' ');

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

const ids = ({ body }: Reply): string[] => body.data.map(({ id }: Json) => id);

test.each(['update', 'delete'])('a batch to %s does not find records of others', async (operation) => {
	const items = [contacts.foreign, contacts.owned].map(({ id }) => ({ id }));
	const { status, body } = await asSales('POST', `/v1/contacts/batch/${operation}`, { items });
	expect([status, body.summary]).toEqual([207, { total: 2, succeeded: 1, failed: 1 }]);
	expect(body.results[0]).toMatchObject({ status: 404, error: { code: 'not_found' } });
	expect(await foreignNow()).toEqual(contacts.foreign);
});

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

test('an application sees only the jobs it has started for its user, even an administrator’s, and an API key sees all', async () => {
	const { body: others } = await start(asAccount, 'create', { last_name: 'x' });
	const { body: ownJob } = await start(asSales, 'create', { last_name: 'y' });
	expect(ids(await asSales('GET', '/v1/jobs'))).toEqual([ownJob.id]);
	for (const [method, path] of [['GET', ''], ['GET', '/results'], ['POST', '/cancel']] as const) {
		expect((await asSales(method, `/v1/jobs/${others.id}${path}`)).status).toBe(404);
	}
	expect(ids(await asAccount('GET', '/v1/jobs'))).toEqual([others.id, ownJob.id]);
	expect(ids(await (await sandbox.as('admin', 'jobs:read'))('GET', '/v1/jobs'))).toEqual([]);
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

test('without jobs:write no job is started, and without contacts:write no batch is carried out', async () => {
	const call = await sandbox.as('member', 'contacts:read jobs:read');
	expect((await start(call, 'export')).body.scope).toBe('jobs:write');
	const batch = await call('POST', '/v1/contacts/batch/create', { items: [{ last_name: 'x' }] });
	expect([batch.status, batch.body.scope]).toEqual([403, 'contacts:write']);
});

test('a tag cannot be added to another user’s record', async () => {
	const tag = await create('tags', { name: 'Urgent' });
	for (const method of ['PUT', 'DELETE']) {
		const path = `/v1/contacts/${contacts.foreign.id}/tags/${tag.id}`;
		expect((await asSales(method, path)).status).toBe(404);
	}
	expect(await foreignNow()).toEqual(contacts.foreign);
	const response = await asSales('PUT', `/v1/contacts/${contacts.owned.id}/tags/${tag.id}`);
	expect(response.body.tag_ids).toEqual([tag.id]);
});

test('another user’s deal cannot be won, and only administrators change pipelines', async () => {
	const [pipeline] = (await asAccount('GET', '/v1/pipelines?is_default=false')).body.data;
	const values = { title: 'Fleet', owner_id: admin, pipeline_id: pipeline.id };
	const deal = await create('deals', values);
	expect((await asSales('POST', `/v1/deals/${deal.id}/win`)).status).toBe(404);
	expect((await asAccount('GET', `/v1/deals/${deal.id}`)).body).toEqual(deal);
	const deletion = await asSales('DELETE', `/v1/pipelines/${pipeline.id}`);
	expect([deletion.status, deletion.body.scope]).toEqual([403, 'pipelines:write']);
});

test('notes are seen by their author, and by everyone if they have none', async () => {
	const write = async (author_id: string | null) => {
		const links = [{ resource: 'contacts', id: contacts.owned.id }];
		return (await create('notes', { body: 'x', author_id, links })).id;
	};
	const [ownNote, free] = [await write(sales), await write(null)];
	const foreign = await write(admin);
	expect(ids(await asSales('GET', '/v1/notes')).sort()).toEqual([ownNote, free].sort());
	expect((await asSales('GET', `/v1/notes/${foreign}`)).status).toBe(404);
});

test('a user is listed among the users, and may always read their own', async () => {
	const call = await sandbox.as('member', 'contacts:read');
	const me = await call('GET', '/v1/users/me');
	expect([me.status, me.body]).toMatchObject([200, { id: sales, email: demoMembers[1]!.email }]);
	expect((await call('GET', `/v1/users/${sales}`)).status).toBe(403);
	expect((await asAccount('GET', `/v1/users/${sales}`)).body).toEqual(me.body);
});

test('both users who can sign in own some of the seeded records', async () => {
	const filled = await startOAuthSandbox({ contacts: 100 });
	try {
		for (const resource of ['contacts', 'companies', 'deals']) {
			const count = async (query: string) =>
				(await filled.call(filled.apiKey, 'GET', `/v1/${resource}?${query}`)).body.total;
			for (const id of [admin, sales]) expect(await count(`owner_id=${id}`)).toBeGreaterThan(0);
		}
	} finally {
		await filled.close();
	}
});

test('the records of custom objects are visible like others, with the scope of custom objects', async () => {
	const [object] = (await asAccount('GET', '/v1/custom-objects')).body.data;
	const path = `custom-objects/${object.key}/records`;
	const machine = (title: string, owner_id: string) => ({
		custom_fields: { [object.primary_field]: title },
		owner_id,
	});
	const foreign = await create(path, machine('one', admin));
	const ownRecord = await create(path, machine('another', sales));
	const call = await sandbox.as('member', 'custom-objects:read');
	expect(ids(await call('GET', `/v1/${path}`))).toEqual([ownRecord.id]);
	expect((await call('GET', `/v1/${path}/${foreign.id}`)).status).toBe(404);
	expect((await call('POST', `/v1/${path}`, {})).body.scope).toBe('custom-objects:write');
});
