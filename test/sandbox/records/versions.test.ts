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
