import { inProcess } from '../harness/in-process.ts';

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
