import { errorsOf, inProcess } from '../harness/in-process.ts';

test('an upsert creates missing records and updates existing ones', async () => {
	const { put } = inProcess();
	const path = '/v1/contacts?match_on=email';
	const created = await put(path, { email: 'ana@x.example', first_name: 'Ana' });
	expect(created.status).toBe(201);
	expect(created.headers.get('Location')).toBe(`/v1/contacts/${created.body.id}`);
	const updated = await put(path, { email: 'ANA@x.example', last_name: 'Moreno' });
	expect(updated.status).toBe(200);
	expect(updated.headers.get('ETag')).toBe('"2"');
	expect(updated.body).toMatchObject({ id: created.body.id, name: 'Ana Moreno', version: 2 });
});

test('a new record needs the same fields as on create', async () => {
	const { put } = inProcess();
	const response = await put('/v1/companies?match_on=domain', { domain: 'x.example' });
	expect(errorsOf(response)).toEqual({ '/name': 'required' });
});

test('a deleted record is not matched', async () => {
	const { put, delete: remove } = inProcess();
	const path = '/v1/contacts?match_on=external_id';
	const first = await put(path, { external_id: '1' });
	await remove(`/v1/contacts/${first.body.id}`);
	const second = await put(path, { external_id: '1' });
	expect(second.status).toBe(201);
	expect(second.body.id).not.toBe(first.body.id);
});

test('a unique custom field matches, and several matches are a conflict', async () => {
	const { put, post, patch, get } = inProcess();
	const path = '/v1/contacts?match_on=custom_fields.customer_number';
	const body = { last_name: 'x', custom_fields: { customer_number: 'C-1' } };
	expect((await put(path, body)).status).toBe(201);
	expect((await put(path, body)).status).toBe(200);

	const { body: fields } = await get('/v1/custom-fields?q=customer_number');
	const field = `/v1/custom-fields/${fields.data[0].id}`;
	await patch(field, { unique: false });
	expect((await post('/v1/contacts', body)).status).toBe(201);
	await patch(field, { unique: true });
	const response = await put(path, body);
	expect(response.status).toBe(409);
	expect(response.body.code).toBe('ambiguous_match');
});

test('a key of several fields matches by all of them', async () => {
	const { put } = inProcess();
	const path = '/v1/custom-fields?match_on=key';
	const field = { resource: 'companies', key: 'size', label: 'Size', type: 'text' };
	expect((await put(path, field)).status).toBe(201);
	expect((await put(path, { ...field, label: 'Size of the company' })).status).toBe(200);
	expect((await put(path, { ...field, resource: 'contacts' })).status).toBe(201);
});

test.each([
	['?match_on=email', { last_name: 'x' }, 422, { '/email': 'required' }],
	['?match_on=email', { email: 'no address' }, 422, { '/email': 'required' }],
	['?match_on=email', { email: null }, 422, { '/email': 'required' }],
	['?match_on=custom_fields.customer_number', {}, 422, { '/custom_fields/customer_number': 'required' }],
	['?match_on=phone', { phone: '+34915550142' }, 400, { match_on: 'invalid_parameter' }],
	['?match_on=custom_fields.vip', {}, 400, { match_on: 'invalid_parameter' }],
	['?match_on=constructor', {}, 400, { match_on: 'invalid_parameter' }],
	['', { email: 'a@x.example' }, 400, { match_on: 'invalid_parameter' }],
	['?match_on=email&foo=1', { email: 'a@x.example' }, 400, { foo: 'unknown_parameter' }],
])('PUT %s with %j is refused with %i', async (query, body, status, errors) => {
	const { put } = inProcess();
	const response = await put(`/v1/contacts${query}`, body);
	expect(response.status).toBe(status);
	expect(errorsOf(response)).toEqual(errors);
});
