import { errorsOf, inProcess } from '../harness/in-process.ts';

test('a new record has every field, including those that the service sets', async () => {
	const now = Date.parse('2026-02-03T04:05:06.007Z');
	const { post } = inProcess({ now: () => now });
	const { status, headers, body } = await post('/v1/contacts', { last_name: 'Moreno' });
	expect(status).toBe(201);
	expect(headers.get('Location')).toBe(`/v1/contacts/${body.id}`);
	expect(headers.get('ETag')).toBe('"1"');
	expect(body).toEqual({
		id: expect.stringMatching(/^con_[0-9a-hjkmnp-tv-z]{26}$/),
		object: 'contact',
		first_name: null,
		last_name: 'Moreno',
		name: 'Moreno',
		email: null,
		emails: [],
		phone: null,
		phones: [],
		job_title: null,
		company_id: null,
		lifecycle_stage: null,
		lead_source: null,
		address: null,
		language: null,
		timezone: null,
		marketing_consent: null,
		avatar_url: null,
		last_contacted_at: null,
		external_id: null,
		owner_id: null,
		tag_ids: [],
		custom_fields: {},
		version: 1,
		created_at: '2026-02-03T04:05:06.007Z',
		updated_at: '2026-02-03T04:05:06.007Z',
		deleted_at: null,
		created_by: { type: 'api_key', id: 'key_test' },
		updated_by: { type: 'api_key', id: 'key_test' },
	});
});

test('ids sort in the order in which records were made', async () => {
	const { post } = inProcess({ now: () => 1_800_000_000_000 });
	const ids: string[] = [];
	for (let i = 0; i < 50; i++) ids.push((await post('/v1/contacts', { last_name: 'x' })).body.id);
	expect(ids).toEqual([...new Set(ids)].sort());
});

test.each([
	['an unknown field', { foo: 1 }, { '/foo': 'unknown_field' }],
	['an unknown field with null', { foo: null }, { '/foo': 'unknown_field' }],
	['an unknown nested field', { address: { planet: null } }, { '/address/planet': 'unknown_field' }],
	['a field of the service', { id: 'con_1', version: 2 }, { '/id': 'read_only', '/version': 'read_only' }],
	['a value of the wrong type', { first_name: 1 }, { '/first_name': 'invalid_type' }],
	['a text that is too long', { first_name: 'x'.repeat(256) }, { '/first_name': 'too_long' }],
	['a value that is not an option', { lifecycle_stage: 'vip' }, { '/lifecycle_stage': 'invalid_value' }],
	['an address without at sign', { email: 'ana' }, { '/email': 'invalid_format' }],
	['a phone number without country', { phone: '030 1234' }, { '/phone': 'invalid_format' }],
	['a time zone that does not exist', { timezone: 'Mars/Base' }, { '/timezone': 'invalid_value' }],
	['an address of another protocol', { avatar_url: 'ftp://x.example' }, { '/avatar_url': 'invalid_format' }],
	['a key with a slash', { 'a/b~c': 1 }, { '/a~1b~0c': 'unknown_field' }],
])('%s is refused with its path', async (_, field, errors) => {
	const { post } = inProcess();
	const response = await post('/v1/contacts', { last_name: 'x', ...field });
	expect(response.status).toBe(422);
	expect(response.body.code).toBe('validation_failed');
	expect(errorsOf(response)).toEqual(errors);
});

test('all errors are reported at once', async () => {
	const { post } = inProcess();
	const response = await post('/v1/companies', { domain: 'x', foo: 1, parent_company_id: 'com_0' });
	expect(errorsOf(response)).toEqual({
		'/name': 'required',
		'/domain': 'invalid_format',
		'/foo': 'unknown_field',
		'/parent_company_id': 'reference_not_found',
	});
});

test('a page with selected fields has those, the id and the object', async () => {
	const { get } = inProcess({ contacts: 1 });
	const { body } = await get('/v1/contacts?fields=name,email');
	expect(Object.keys(body.data[0])).toEqual(['id', 'object', 'name', 'email']);
	const response = await get(`/v1/contacts/${body.data[0].id}?fields=name`);
	expect(response.body).toEqual({ id: body.data[0].id, object: 'contact', name: body.data[0].name });
	expect((await get('/v1/contacts?fields=foo')).body.code).toBe('invalid_parameter');
});
