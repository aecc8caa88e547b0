import { until } from '../../support/until.ts';
import { tokenSandbox } from '../harness/access-tokens.ts';
import { errorsOf, inProcess, type Json } from '../harness/in-process.ts';
import { ended, linesOf, ndjson, runJob, startJob } from '../harness/job-client.ts';

test('an export has every record, line by line', async () => {
	const sandbox = inProcess({ contacts: 1200 });
	const [first] = await sandbox.all('/v1/contacts?limit=500');
	await sandbox.delete(`/v1/contacts/${first.id}`);
	const { job, results } = await runJob(sandbox, 'export');
	expect(job).toMatchObject({ status: 'completed', total: 1199, processed: 1199, succeeded: 1199 });
	const { headers } = await sandbox.get(`/v1/jobs/${job.id}/results`);
	expect(headers.get('Content-Type')).toBe('application/x-ndjson');
	expect(results).toEqual(await sandbox.all('/v1/contacts?limit=500'));
});

test('an export accepts filters, sort and fields as the list does', async () => {
	const sandbox = inProcess({ contacts: 1200 });
	const query = 'name[contains]=a&created_at[gte]=2000-01-01T00:00:00Z&sort=-last_name&fields=email';
	const { body } = await startJob(sandbox, `export&${query}`);
	const listed = await sandbox.all(`/v1/contacts?${query}&limit=500`);
	// More records than one step of the job takes, but not all.
	expect(listed.length).toBeGreaterThan(500);
	expect(listed.length).toBeLessThan(1200);
	expect(body).toMatchObject({ total: listed.length });
	const job = await ended(sandbox, body.id);
	expect(job).toMatchObject({ status: 'completed', processed: listed.length });
	expect((await sandbox.get(`/v1/jobs/${job.id}/results`)).body).toEqual(listed);
});

test('an export filters by custom fields, and fails rather than ignore a filter', async () => {
	const sandbox = inProcess();
	await sandbox.post('/v1/contacts', { last_name: 'a', custom_fields: { contract_tier: 'gold' } });
	await sandbox.post('/v1/contacts', { last_name: 'b' });
	const operation = 'export&custom_fields.contract_tier[empty]=false';
	expect((await runJob(sandbox, operation)).results).toMatchObject([{ last_name: 'a' }]);
	const { body: second } = await startJob(sandbox, operation);
	const [field] = await sandbox.all('/v1/custom-fields?key=contract_tier');
	sandbox.store.table('custom-fields')!.save({ ...field, deleted_at: field.updated_at });
	const failed = await ended(sandbox, second.id);
	expect(failed).toMatchObject({
		status: 'failed',
		processed: 0,
		error: expect.stringContaining('custom_fields.contract_tier[empty]'),
	});
});

test('jobs write and export records of custom objects', async () => {
	const sandbox = inProcess();
	const resource = 'custom-objects/machines/records';
	const [{ primary_field: name }] = await sandbox.all('/v1/custom-objects?key=machines');
	const before = (await sandbox.all(`/v1/${resource}`)).length;
	const run = async (query: string, items?: unknown[]): Promise<Json[]> => {
		const path = `/v1/jobs?resource=${encodeURIComponent(resource)}&operation=${query}`;
		const { body } = await sandbox.post(path, items && linesOf(items), items && ndjson);
		const job = await ended(sandbox, body.id);
		expect(job).toMatchObject({ resource, status: 'completed', failed: 0 });
		return (await sandbox.get(`/v1/jobs/${job.id}/results`)).body;
	};
	const [created] = await run('create', [{ external_id: 'm1', custom_fields: { [name]: 'Lathe' } }]);
	expect(created).toMatchObject({ status: 201, data: { title: 'Lathe' } });
	const change = { external_id: 'm1', custom_fields: { [name]: 'Mill' } };
	expect(await run('upsert&match_on=external_id', [change])).toMatchObject([{ status: 200 }]);
	await run('update', [{ id: created.id, external_id: 'm2' }]);
	const exported = await run(`export&title[starts_with]=MI&fields=title,external_id`);
	expect(exported).toEqual([{ id: created.id, object: 'custom_object_record', title: 'Mill', external_id: 'm2' }]);
	await run('delete', [{ id: created.id }]);
	expect(await sandbox.all(`/v1/${resource}`)).toHaveLength(before);
});

test('results are returned by range, so that a client can continue where it stopped', async () => {
	const sandbox = inProcess();
	const { job, results } = await runJob(sandbox, 'create', '1\n\n2\n3\n\n4');
	const range = async (query: string): Promise<Json[]> =>
		(await sandbox.get(`/v1/jobs/${job.id}/results?${query}`)).body;
	expect(results.map(({ index }) => index)).toEqual([0, 2, 3, 5]);
	expect(await range('offset=1&limit=2')).toEqual(results.slice(1, 3));
	expect(await range('offset=2')).toEqual(results.slice(2));
	expect(await range('limit=1')).toEqual(results.slice(0, 1));
	expect(await range(`offset=${job.processed}`)).toEqual([]);
	for (const [query, parameter] of [['offset=-1', 'offset'], ['limit=0', 'limit']]) {
		const refused = await sandbox.get(`/v1/jobs/${job.id}/results?${query}`);
		expect(errorsOf(refused)).toEqual({ [parameter!]: 'invalid_parameter' });
	}
});

test('records that can no longer be seen during an export are not returned', async () => {
	const sandbox = tokenSandbox();
	const { sales, admin, post, patch } = sandbox;
	const [keptContact, reassignedContact] = await Promise.all(
		['kept', 'given'].map((last_name) => post('/v1/contacts', { last_name, owner_id: sales })),
	);
	const call = sandbox.as(sales, ['contacts:read', 'jobs:read', 'jobs:write']);
	const { body } = await call('POST', '/v1/jobs?resource=contacts&operation=export');
	await patch(`/v1/contacts/${reassignedContact!.body.id}`, { owner_id: admin });
	const job = await ended({ ...sandbox, get: (path) => call('GET', path) }, body.id);
	expect(job).toMatchObject({ status: 'completed', processed: 1, total: 1 });
	const results = await call('GET', `/v1/jobs/${job.id}/results`);
	expect(results.body).toMatchObject([{ id: keptContact!.body.id }]);
});

test('an export leaves out records that were deleted, or changed so that they no longer match, while it ran', async () => {
	const sandbox = inProcess({ contacts: 1200 });
	const query = 'sort=lifecycle_stage,name&created_at[gte]=2000-01-01T00:00:00Z';
	const listed = await sandbox.all(`/v1/contacts?${query}&limit=500`);
	const { body } = await startJob(sandbox, `export&${query}`);
	await until(async () => (await sandbox.get(`/v1/jobs/${body.id}`)).body.started_at);
	const last = listed.at(-1);
	await sandbox.delete(`/v1/contacts/${last.id}`);
	const job = await ended(sandbox, body.id);
	expect(job.status).toBe('completed');
	const { body: results } = await sandbox.get(`/v1/jobs/${body.id}/results`);
	expect(results.map(({ id }: Json) => id)).toEqual(listed.slice(0, -1).map(({ id }) => id));
});
