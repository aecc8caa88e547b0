import { errorsOf, inProcess } from '../harness/in-process.ts';

const upsert = '/v1/contacts?match_on=external_id';

test('an upsert does not overwrite a version that its caller has not seen', async () => {
	const { put, patch, get } = inProcess();
	const mine = await put(upsert, { external_id: 'u', last_name: 'Mine' });
	const path = `/v1/contacts/${mine.body.id}`;
	await patch(path, { last_name: 'Theirs' });
	const condition = { 'If-Match': mine.headers.get('ETag')! };
	const refused = await put(upsert, { external_id: 'u', last_name: 'Again' }, condition);
	expect([refused.status, refused.body.code, refused.headers.get('ETag')]).toEqual([412, 'version_mismatch', '"2"']);
	const { body, headers } = await get(path);
	expect(body.last_name).toBe('Theirs');
	const now = { 'If-Match': headers.get('ETag')! };
	expect((await put(upsert, { external_id: 'u', last_name: 'Again' }, now)).body.version).toBe(3);
});

test.each(['"1"', '*'])('an upsert under If-Match %s creates nothing if no record matches', async (tag) => {
	const { put, get } = inProcess();
	const refused = await put(upsert, { external_id: 'u', last_name: 'x' }, { 'If-Match': tag });
	expect([refused.status, refused.body.code]).toEqual([412, 'version_mismatch']);
	expect((await get('/v1/contacts')).body.total).toBe(0);
});

test.each([
	['POST', '/v1/contacts', { last_name: 'x' }, 'If-Match'],
	['POST', '/v1/contacts/batch/create', { items: [{ last_name: 'x' }] }, 'If-Match'],
	['POST', '/v1/jobs?resource=contacts&operation=export', undefined, 'If-Match'],
	['PUT', upsert, { external_id: 'a' }, 'If-None-Match'],
	['POST', '/v1/contacts', { last_name: 'x' }, 'If-Unmodified-Since'],
])('%s %s refuses a condition that it does not support: %j, %s', async (method, path, body, condition) => {
	const { send, get } = inProcess();
	const refused = await send(method, path, body, { [condition]: '*' });
	expect([refused.status, errorsOf(refused)]).toEqual([400, { [condition]: 'invalid_parameter' }]);
	for (const list of ['contacts', 'jobs']) expect((await get(`/v1/${list}`)).body.total).toBe(0);
});
