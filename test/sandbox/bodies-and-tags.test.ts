import { gzipSync } from 'node:zlib';
import { inProcess, type InProcess } from './harness/in-process.ts';
import { ended, startJob } from './harness/job-client.ts';

let sandbox: InProcess;
beforeEach(() => void (sandbox = inProcess()));

const gzip = { 'Content-Encoding': 'gzip' };

test('a body may be compressed, and its uncompressed size counts', async () => {
	const { send } = sandbox;
	const compress = (text: string) => new Uint8Array(gzipSync(text));
	const response = await send('POST', '/v1/contacts', compress('{"last_name":"Zip"}'), gzip);
	expect([response.status, response.body.last_name]).toEqual([201, 'Zip']);
	const bomb = compress(`{"last_name":"${'x'.repeat(2_000_000)}"}`);
	expect((await send('POST', '/v1/contacts', bomb, gzip)).body.code).toBe('payload_too_large');
	expect((await send('POST', '/v1/contacts', '{"last_name":"x"}', gzip)).body.code).toBe('malformed_json');
	const lines = await startJob(sandbox, 'create', compress('{"last_name":"a"}\n{"last_name":"b"}\n'), gzip);
	expect([lines.status, lines.body.total]).toEqual([202, 2]);
	const other = await send('POST', '/v1/contacts', '{}', { 'Content-Encoding': 'br' });
	expect([other.status, other.headers.get('Accept-Encoding')]).toEqual([415, 'gzip']);
});

test('a line of a job is measured in bytes, and empty lines cost nothing but their place', async () => {
	const long = JSON.stringify({ last_name: 'é'.repeat(600_000) });
	const refused = await startJob(sandbox, 'create', `\n${long}`);
	expect([refused.body.code, refused.body.detail]).toEqual(['payload_too_large', expect.stringContaining('Line 2')]);
	const empty = new Uint8Array(10_000_000).fill(0x0a);
	const text = new TextEncoder().encode('{"last_name":"last"}');
	const before = process.memoryUsage().heapUsed;
	const { status, body } = await startJob(sandbox, 'create', new Uint8Array([...[0xef, 0xbb, 0xbf], ...text, 0x0d]));
	expect([status, body.total]).toEqual([202, 1]);
	const sparse = new Uint8Array(empty.length + text.length);
	sparse.set(empty);
	sparse.set(text, empty.length);
	const job = await startJob(sandbox, 'create', sparse);
	expect(job.body.total).toBe(1);
	expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
	await ended(sandbox, job.body.id);
	expect((await sandbox.get(`/v1/jobs/${job.body.id}/results`)).body).toMatchObject([{ index: 10_000_000, status: 201 }]);
});

test('an ETag belongs to the body: a change without a new version changes it, too', async () => {
	const { get, post, patch, store } = sandbox;
	const { body: tag } = await post('/v1/tags', { name: 'x' });
	const path = `/v1/tags/${tag.id}`;
	const before = await get(path);
	await post('/v1/contacts', { last_name: 'x', tag_ids: [tag.id] });
	const after = await get(path);
	expect(after.body).toEqual({ ...before.body, usage: 1 });
	expect(after.headers.get('ETag')).not.toBe(before.headers.get('ETag'));
	// The record itself is unchanged, so a change based on the earlier ETag is accepted.
	const change = await patch(path, { name: 'y' }, { 'If-Match': before.headers.get('ETag')! });
	expect([change.status, change.body.version]).toEqual([200, 2]);
	expect((await patch(path, { name: 'z' }, { 'If-Match': before.headers.get('ETag')! })).status).toBe(412);
	expect((await patch(path, { name: 'z' }, { 'If-Match': `W/${after.headers.get('ETag')}` })).status).toBe(412);
	expect((await patch(path, { name: 'z' }, { 'If-Match': '"2"' })).status).toBe(200);
	const [user] = store.table('users')!.findAll([], 1);
	const tags = async () => (await get(`/v1/users/${user!.id}`)).headers.get('ETag');
	const seen = await tags();
	store.table('users')!.save({ ...user!, last_seen_at: '2026-01-01T00:00:00.000Z' });
	expect(await tags()).not.toBe(seen);
});
