import { errorsOf, inProcess } from '../harness/in-process.ts';

async function created() {
	const sandbox = inProcess();
	const { body } = await sandbox.post('/v1/contacts', { email: 'ana@x.example' });
	return { ...sandbox, path: `/v1/contacts/${body.id}` };
}

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
	expect(record).toMatchObject({ version: 2, deleted_at: record.updated_at });
});

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

const ana = {
	first_name: 'Ana',
	last_name: 'Moreno',
	address: { city: 'Madrid', country: 'ES' },
	custom_fields: { vip: true, nps_score: 9 },
};

async function createdWithTags() {
	const sandbox = inProcess();
	const [firstTag, secondTag, thirdTag] = (await sandbox.all('/v1/tags')).map(({ id }) => id);
	const { body } = await sandbox.post('/v1/contacts', { ...ana, tag_ids: [firstTag, secondTag] });
	const path = `/v1/contacts/${body.id}`;
	return { ...sandbox, path, thirdTag, change: (patch: unknown) => sandbox.patch(path, patch) };
}

test('fields left out stay, null clears', async () => {
	const { change } = await createdWithTags();
	const { status, body } = await change({ first_name: null });
	expect(status).toBe(200);
	expect(body).toMatchObject({ ...ana, first_name: null, name: 'Moreno', version: 2 });
});

test('objects merge, and null clears a member or all of them', async () => {
	const { change } = await createdWithTags();
	const { body } = await change({ address: { city: null, street: 'Gran Vía 1' } });
	expect(body.address).toMatchObject({ street: 'Gran Vía 1', city: null, country: 'ES' });
	expect((await change({ address: null })).body.address).toBeNull();
});

test('lists are replaced completely, and null empties a list', async () => {
	const { change, thirdTag } = await createdWithTags();
	expect((await change({ tag_ids: [thirdTag] })).body.tag_ids).toEqual([thirdTag]);
	expect((await change({ tag_ids: null })).body.tag_ids).toEqual([]);
});

test('custom fields merge by key, and null clears one or all of them', async () => {
	const { change } = await createdWithTags();
	const merged = await change({ custom_fields: { nps_score: null, contract_tier: 'gold' } });
	expect(merged.body.custom_fields).toEqual({ vip: true, contract_tier: 'gold' });
	expect((await change({ custom_fields: null })).body.custom_fields).toEqual({});
});

test('a required field cannot be cleared', async () => {
	const { post, patch } = inProcess();
	const { body } = await post('/v1/companies', { name: 'Altamira' });
	const response = await patch(`/v1/companies/${body.id}`, { name: null });
	expect(errorsOf(response)).toEqual({ '/name': 'required' });
});

test('a change that a rule forbids is refused, and nothing is changed', async () => {
	const { change, get, path } = await createdWithTags();
	const response = await change({ first_name: 'Eva', last_name: null });
	expect(response.body.errors[0].detail).toContain('at least one of email, phone, last_name');
	expect((await get(path)).body).toMatchObject({ first_name: 'Ana', version: 1 });
});

test('a change to the same values creates no new version', async () => {
	const { change } = await createdWithTags();
	const { body } = await change({ first_name: 'Ana', address: { city: 'Madrid' } });
	expect(body).toMatchObject({ version: 1, updated_at: body.created_at });
});
