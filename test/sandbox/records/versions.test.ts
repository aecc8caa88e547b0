import { inProcess } from '../harness/in-process.ts';

async function created() {
	const sandbox = inProcess();
	const { body } = await sandbox.post('/v1/contacts', { email: 'ana@x.example' });
	return { ...sandbox, path: `/v1/contacts/${body.id}` };
}

test('the ETag is the version', async () => {
	const { get, patch, path } = await created();
	expect((await get(path)).headers.get('ETag')).toBe('"1"');
	expect((await patch(path, { first_name: 'Ana' })).headers.get('ETag')).toBe('"2"');
});

test.each(['"2"', 'W/"1"', '1', '"0", "2"'])('with If-Match %s, nothing is changed', async (ifMatch) => {
	const { get, patch, delete: remove, path } = await created();
	const change = await patch(path, { first_name: 'Ana' }, { 'If-Match': ifMatch });
	expect(change.status).toBe(412);
	expect(change.body.code).toBe('version_mismatch');
	expect(change.headers.get('ETag')).toBe('"1"');
	expect((await remove(path, { 'If-Match': ifMatch })).status).toBe(412);
	expect((await get(path)).body).toMatchObject({ first_name: null, version: 1 });
});

test.each(['"1"', '*', '"7", "1"'])('with If-Match %s, the change is made', async (ifMatch) => {
	const { patch, path } = await created();
	expect((await patch(path, { first_name: 'Ana' }, { 'If-Match': ifMatch })).status).toBe(200);
});

test('a deleted record is missing everywhere but in a list that asks for it', async () => {
	const { get, patch, delete: remove, all, path } = await created();
	const deleted = await remove(path);
	expect(deleted).toMatchObject({ status: 204, body: null });
	for (const response of [await get(path), await patch(path, {}), await remove(path)]) {
		expect(response.status).toBe(404);
		expect(response.body.code).toBe('not_found');
	}
	expect(await all('/v1/contacts')).toEqual([]);
	const [record] = await all('/v1/contacts?include_deleted=true');
	expect(record).toMatchObject({ version: 2, deleted_at: expect.any(String) });
});

test('a deleted record frees its unique values', async () => {
	const { post, delete: remove, path } = await created();
	await remove(path);
	expect((await post('/v1/contacts', { email: 'ana@x.example' })).status).toBe(201);
});

test('an ETag belongs to the body: a change without a new version changes it, too', async () => {
	const { get, post, patch, store } = inProcess();
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
