import { errorsOf, inProcess } from '../harness/in-process.ts';

const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth);

test('an error says what failed, where, and in which request', async () => {
	const { get } = inProcess();
	const { status, headers, body } = await get('/v1/contacts?limit=0');
	const detail = 'limit cannot be "0". It must not be below 1.';
	expect(status).toBe(400);
	expect(headers.get('Content-Type')).toBe('application/problem+json');
	expect(body).toEqual({
		type: 'https://docs.crm-platform.example/problems/invalid_parameter',
		title: 'A parameter has an invalid value',
		status: 400,
		detail,
		code: 'invalid_parameter',
		request_id: headers.get('X-Request-Id'),
		errors: [{ parameter: 'limit', code: 'invalid_parameter', detail }],
	});
});

test.each([undefined, 'Bearer', 'Bearer wrong', 'Bearer test-key x', 'Basic test-key', 'test-key'])(
	'the credentials "%s" are refused',
	async (authorization) => {
		const { get } = inProcess();
		const { status, headers, body } = await get('/v1/contacts', { Authorization: authorization ?? '' });
		expect(status).toBe(401);
		expect(body.code).toBe('invalid_credentials');
		expect(headers.get('WWW-Authenticate')).toContain('Bearer');
		expect(headers.get('X-Request-Id')).toBe(body.request_id);
	},
);

test('the scheme of the credentials may be written in any case', async () => {
	const { get } = inProcess();
	expect((await get('/v1/contacts', { Authorization: 'bearer  test-key' })).status).toBe(200);
});

test.each(['/nothing', '/v1', '/v1/nothing', '/v1/contacts/a/b', '/v1/contacts/con_0', '/_sandbox/faults'])(
	'GET %s is not found',
	async (path) => {
		const { get } = inProcess();
		const { status, body } = await get(path);
		expect(status).toBe(404);
		expect(body.code).toBe('not_found');
	},
);

test.each([
	['DELETE', '/v1/contacts', 'GET, HEAD, POST, PUT'],
	['POST', '/v1/contacts/con_0', 'GET, HEAD, PATCH, DELETE'],
	['POST', '/contacts', 'GET, HEAD'],
	['PATCH', '/v1/account', 'GET, HEAD'],
	['OPTIONS', '/openapi.json', 'GET, HEAD'],
])('%s %s is not allowed, and the allowed methods are listed', async (method, path, allow) => {
	const { send } = inProcess();
	const { status, headers, body } = await send(method, path);
	expect(status).toBe(405);
	expect(body.code).toBe('method_not_allowed');
	expect(headers.get('Allow')).toBe(allow);
});

test.each([
	['text that is not JSON', 'x', 400, 'malformed_json'],
	['truncated JSON', '{"email":', 400, 'malformed_json'],
	['nothing', '', 400, 'malformed_json'],
	['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, 'malformed_json'],
	['a list', '[]', 422, 'validation_failed'],
	['null', 'null', 422, 'validation_failed'],
	['more than 1 MiB', `"${'x'.repeat(1024 * 1024)}"`, 413, 'payload_too_large'],
])('a body of %s is refused', async (_, body, status, code) => {
	const { post } = inProcess();
	const response = await post('/v1/contacts', body);
	expect(response.status).toBe(status);
	expect(response.body.code).toBe(code);
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
	'a body of type "%s" is refused',
	async (type) => {
		const { post } = inProcess();
		const response = await post('/v1/contacts', '{}', { 'Content-Type': type });
		expect(response.status).toBe(415);
		expect(response.body.code).toBe('unsupported_media_type');
	},
);

test('a body may say that it is UTF-8', async () => {
	const { post } = inProcess();
	const type = { 'Content-Type': 'Application/JSON ; charset=utf-8' };
	expect((await post('/v1/contacts', { last_name: 'x' }, type)).status).toBe(201);
});

test.each([
	['very deep lists', `{"tag_ids":${deep('[', ']', 100_000)}}`, 422],
	['very deep objects', `{"address":${'{"city":'.repeat(50_000)}1${'}'.repeat(50_001)}`, 422],
	['a prototype', '{"__proto__":{"email":"a@x.example"}}', 422],
	['a prototype of custom fields', '{"last_name":"x","custom_fields":{"__proto__":{"a":1}}}', 422],
	['the names of object methods', '{"constructor":1,"toString":2,"hasOwnProperty":3}', 422],
	['a number without bounds', '{"last_name":"x","custom_fields":{"nps_score":1e999}}', 422],
	['half a character', '{"last_name":"\\ud800"}', 201],
	['a zero byte', '{"last_name":"a\\u0000b"}', 201],
	['a field twice', '{"last_name":"a","last_name":"b"}', 201],
	['SQL', '{"last_name":"x\'; DROP TABLE contacts; --"}', 201],
])('%s do not cause a failure', async (_, body, status) => {
	const { post, get } = inProcess();
	const response = await post('/v1/contacts', body);
	expect(response.status).toBe(status);
	if (status === 201) {
		const again = await get(`/v1/contacts/${response.body.id}`);
		expect(again.body).toEqual(response.body);
		const name = encodeURIComponent(JSON.stringify(response.body.name).slice(1, 4));
		expect((await get(`/v1/contacts?q=${name}`)).status).toBe(200);
		expect((await get('/v1/contacts?sort=-last_name')).body.data).toEqual([again.body]);
	}
});

test.each(['%', '%00', '%E0%A4%A', "'", '"', '*', '../../..', '🙂', 'a'.repeat(5000)])(
	'"%s" in a path or a query does not cause a failure',
	async (text) => {
		const { get } = inProcess({ contacts: 1 });
		expect((await get(`/v1/contacts/${text}`)).status).toBeLessThan(500);
		for (const name of ['q', 'cursor', 'ids', 'sort', 'email', 'name', 'custom_fields.vip', text]) {
			expect((await get(`/v1/contacts?${name}=${text}`)).status).toBeLessThan(500);
		}
	},
);

test('a parameter of a path without parameters is refused', async () => {
	const { post } = inProcess();
	const response = await post('/v1/contacts?dry_run=true', { last_name: 'x' });
	expect(errorsOf(response)).toEqual({ dry_run: 'unknown_parameter' });
});
