import { inProcess, type InProcess } from '../harness/in-process.ts';
import { startJob } from '../harness/job-client.ts';

let sandbox: InProcess;
beforeEach(() => void (sandbox = inProcess()));

test('a compressed body is refused', async () => {
	const other = await sandbox.send('POST', '/v1/contacts', '{}', { 'Content-Encoding': 'gzip' });
	expect([other.status, other.body.code]).toEqual([415, 'unsupported_media_type']);
});

test('a line of a job is measured in bytes, and a byte order mark and blank lines are skipped', async () => {
	const long = JSON.stringify({ last_name: 'é'.repeat(600_000) });
	const refused = await startJob(sandbox, 'create', `\n${long}`);
	expect([refused.body.code, refused.body.detail]).toEqual(['payload_too_large', expect.stringContaining('Line 2')]);
	const { status, body } = await startJob(sandbox, 'create', '\ufeff{"last_name":"last"}\r\n\n \t\n');
	expect([status, body.total]).toEqual([202, 1]);
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
