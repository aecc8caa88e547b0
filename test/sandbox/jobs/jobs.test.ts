import { errorsOf, inProcess } from '../harness/in-process.ts';
import { ended, linesOf, ndjson, people, runJob, startJob } from '../harness/job-client.ts';

test('a job is accepted immediately and runs in the background, with a result for each line', async () => {
	const sandbox = inProcess();
	const items = [{ email: 'a@x.example' }, { email: 'no address' }, { email: 'a@x.example' }, []];
	const accepted = await startJob(sandbox, 'create', items);
	expect(accepted.status).toBe(202);
	expect(accepted.headers.get('Location')).toBe(`/v1/jobs/${accepted.body.id}`);
	expect(accepted.body).toMatchObject({
		object: 'job',
		resource: 'contacts',
		operation: 'create',
		match_on: null,
		status: 'queued',
		total: 4,
		processed: 0,
		request: { id: accepted.headers.get('X-Request-Id'), idempotency_key: null },
		started_at: null,
		finished_at: null,
	});
	const job = await ended(sandbox, accepted.body.id);
	expect(job).toMatchObject({ status: 'completed', processed: 4, succeeded: 1, failed: 3 });
	const { body: results } = await sandbox.get(`/v1/jobs/${job.id}/results`);
	expect(results).toMatchObject([
		{ index: 0, status: 201, data: { email: 'a@x.example', created_by: { id: 'key_test' } } },
		{ index: 1, status: 422, id: null, error: { errors: [{ pointer: '/email' }] } },
		{ index: 2, status: 409, error: { code: 'duplicate', existing_id: results[0].id } },
		{ index: 3, status: 422, error: { request_id: job.request.id } },
	]);
	expect(await sandbox.all('/v1/contacts')).toEqual([results[0].data]);
});

test('a job updates, upserts and deletes as a batch does', async () => {
	const sandbox = inProcess();
	const { results } = await runJob(sandbox, 'upsert&match_on=external_id', [
		{ external_id: '1', last_name: 'a' },
		{ external_id: '1', last_name: 'b' },
		{ external_id: '2' },
	]);
	expect(results.map(({ status }) => status)).toEqual([201, 200, 201]);
	const [{ id }] = results;
	const updates = [{ id, version: 2, last_name: 'c' }, { id, version: 2, last_name: 'd' }];
	const updated = await runJob(sandbox, 'update', updates);
	expect(updated.results).toMatchObject([{ data: { last_name: 'c' } }, { status: 412, id }]);
	const deleted = await runJob(sandbox, 'delete', [{ id }, { id }]);
	expect(deleted.results).toMatchObject([{ status: 204, id }, { status: 404, id }]);
	expect(deleted.job).toMatchObject({ status: 'completed', succeeded: 1, failed: 1 });
	expect(await sandbox.all('/v1/contacts')).toMatchObject([{ external_id: '2' }]);
});

test('a line that is not JSON fails alone; blank lines are skipped, but counted', async () => {
	const sandbox = inProcess();
	const text = '\ufeff{"last_name":"ä"}\r\n\n{"last_name"\n   \n{"last_name":"b"}';
	const { job, results } = await runJob(sandbox, 'create', text);
	expect(job).toMatchObject({ total: 3, succeeded: 2, failed: 1 });
	expect(results).toMatchObject([
		{ index: 0, status: 201, data: { last_name: 'ä' } },
		{ index: 2, status: 400, error: { code: 'malformed_json' } },
		{ index: 4, status: 201, data: { last_name: 'b' } },
	]);
});

test('jobs are listed, filtered and paged like other resources', async () => {
	const sandbox = inProcess();
	const { job } = await runJob(sandbox, 'create', people(1));
	const { job: other } = await runJob(sandbox, 'delete', [{ id: 'con_0' }]);
	const page = await sandbox.get('/v1/jobs?sort=-created_at&limit=1');
	expect(page.body).toMatchObject({ data: [other], total: 2 });
	const next = await sandbox.get(`/v1/jobs?sort=-created_at&cursor=${page.body.next_cursor}`);
	expect(next.body).toEqual({ data: [job], next_cursor: null, total: 2 });
	expect((await sandbox.get('/v1/jobs?operation=delete&status=completed')).body.total).toBe(1);
	expect((await sandbox.get('/v1/jobs/job_0')).status).toBe(404);
});

test('a job can be canceled until it has ended; finished lines stay', async () => {
	const sandbox = inProcess();
	const { body } = await startJob(sandbox, 'create', people(2000));
	const canceled = await sandbox.post(`/v1/jobs/${body.id}/cancel`, undefined);
	expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
	expect(canceled.body.processed).toBeLessThan(2000);
	await runJob(sandbox, 'create', [{ last_name: 'later' }]);
	const { body: job } = await sandbox.get(`/v1/jobs/${body.id}`);
	expect(job).toEqual(canceled.body);
	const again = await sandbox.post(`/v1/jobs/${body.id}/cancel`, undefined);
	expect(again.status).toBe(409);
	expect(again.body).toMatchObject({ code: 'invalid_state_transition', from: 'canceled', to: 'canceled', allowed: [] });
	const { body: list } = await sandbox.get('/v1/contacts?last_name=Moreno');
	expect(list.total).toBe(job.processed);
});

test('a repeated request starts one job', async () => {
	const sandbox = inProcess();
	const key = { 'Idempotency-Key': 'k1' };
	const first = await startJob(sandbox, 'create', people(3), key);
	const second = await startJob(sandbox, 'create', people(3), key);
	expect(second).toMatchObject({ status: 202, body: first.body });
	expect(second.headers.get('Idempotent-Replayed')).toBe('true');
	const other = await startJob(sandbox, 'create', people(2), key);
	expect(other.body.code).toBe('idempotency_key_reused');
	await ended(sandbox, first.body.id);
	expect((await sandbox.get('/v1/jobs')).body.total).toBe(1);
	expect(await sandbox.all('/v1/contacts')).toHaveLength(3);
});

test('results can be requested without the records', async () => {
	const sandbox = inProcess();
	const { job, results } = await runJob(sandbox, 'create', [...people(1), { email: 'no address' }]);
	const path = `/v1/jobs/${job.id}/results`;
	const { id, version } = results[0].data;
	const { body: bare } = await sandbox.get(`${path}?records=false`);
	expect(bare).toEqual([{ index: 0, status: 201, id, data: { id, version } }, results[1]]);
	expect((await sandbox.get(`${path}?records=true`)).body).toEqual(results);
	expect((await sandbox.get(`${path}?records=no`)).body.code).toBe('invalid_parameter');
});

test('results are available from the end of the job, for seven days', async () => {
	let now = Date.parse('2026-01-01T00:00:00.000Z');
	const sandbox = inProcess({ now: () => now });
	const { body } = await startJob(sandbox, 'create', people(1));
	const path = `/v1/jobs/${body.id}/results`;
	const early = await sandbox.get(path);
	expect(early.status).toBe(409);
	expect(early.body.code).toBe('job_not_finished');
	expect(early.headers.get('Retry-After')).toBe('1');
	const job = await ended(sandbox, body.id);
	expect(job.results_expire_at).toBe('2026-01-08T00:00:00.000Z');
	now = Date.parse(job.results_expire_at) - 1;
	expect((await sandbox.get(path)).body).toHaveLength(1);
	now += 1;
	const late = await sandbox.get(path);
	expect(late.status).toBe(410);
	expect(late.body.code).toBe('results_expired');
	expect((await sandbox.get(`/v1/jobs/${job.id}`)).body).toEqual(job);
	await runJob(sandbox, 'create', [{ last_name: 'x' }]);
	expect(sandbox.store.jobResults.page(job.id, -1, 1)).toEqual([]);
});

test.each([
	['', { resource: 'invalid_parameter' }],
	['?resource=jobs&operation=delete', { resource: 'invalid_parameter' }],
	['?resource=contacts', { operation: 'invalid_parameter' }],
	['?resource=contacts&operation=read', { operation: 'invalid_parameter' }],
	['?resource=contacts&operation=upsert', { match_on: 'invalid_parameter' }],
	['?resource=contacts&operation=upsert&match_on=phone', { match_on: 'invalid_parameter' }],
	['?resource=contacts&operation=create&match_on=email', { match_on: 'invalid_parameter' }],
	['?resource=contacts&operation=create&atomic=true', { atomic: 'unknown_parameter' }],
	['?resource=custom-objects/nope/records&operation=create', { resource: 'invalid_parameter' }],
	['?resource=contacts&operation=export&limit=5', { limit: 'unknown_parameter' }],
	['?resource=contacts&operation=export&sort=phone', { sort: 'invalid_parameter' }],
	['?resource=contacts&operation=export&email[empty]=x', { 'email[empty]': 'invalid_parameter' }],
])('a job with the query "%s" is refused', async (query, errors) => {
	const { post } = inProcess();
	const response = await post(`/v1/jobs${query}`, linesOf(people(1)), ndjson);
	expect(response.status).toBe(400);
	expect(errorsOf(response)).toEqual(errors);
});

test.each<[string, string | Uint8Array, number, string]>([
	['nothing', '', 422, 'validation_failed'],
	['blank lines', ' \n\r\n', 422, 'validation_failed'],
	['bytes that are not UTF-8', Uint8Array.of(0x31, 0x0a, 0x22, 0xff), 400, 'malformed_json'],
	['100,001 lines', '1\n'.repeat(100_001), 413, 'payload_too_large'],
	['more than 50 MB', `"${'x'.repeat(999_998)}"\n`.repeat(50), 413, 'payload_too_large'],
])('a job of %s is refused, and nothing of it is stored', async (_, body, status, code) => {
	const sandbox = inProcess();
	const { get, store } = sandbox;
	const add = jest.spyOn(store.jobLines, 'add');
	const response = await startJob(sandbox, 'create', body);
	expect(response.status).toBe(status);
	expect(response.body.code).toBe(code);
	expect((await get('/v1/jobs')).body.total).toBe(0);
	for (const [id] of add.mock.calls.slice(0, 1)) expect(store.jobLines.page(id, -1, 1)).toEqual([]);
});

test('a job that is sent as JSON is refused with the correct type', async () => {
	const { post } = inProcess();
	const response = await post('/v1/jobs?resource=contacts&operation=create', people(1));
	expect(response.status).toBe(415);
	expect(response.body.detail).toContain('application/x-ndjson, not application/json');
});

test('a line of a job is measured in bytes', async () => {
	const sandbox = inProcess();
	const long = JSON.stringify({ last_name: 'é'.repeat(600_000) });
	const refused = await startJob(sandbox, 'create', `\n${long}`);
	expect([refused.body.code, refused.body.detail]).toEqual(['payload_too_large', expect.stringContaining('Line 2')]);
});
