import { inProcess } from '../harness/in-process.ts';

const faults = '/_sandbox/faults';

test('faults strike the requests they are set for, as often as requested', async () => {
	const { get, put, post } = inProcess({ contacts: 1, faults: true });
	await put(faults, [
		{ path: '/v1/contacts', method: 'get', after: 1, times: 2, status: 503 },
		{ path: '/v1/companies', status: 500 },
	]);
	const statuses: number[] = [];
	for (let i = 0; i < 4; i++) statuses.push((await get('/v1/contacts')).status);
	expect(statuses).toEqual([200, 503, 503, 200]);
	expect((await post('/v1/contacts', { last_name: 'x' })).status).toBe(201);
	expect((await get('/v1/companies/com_0')).status).toBe(500);
	expect((await get('/v1/account')).status).toBe(200);
	expect((await get(faults)).body.map(({ hits }: { hits: number }) => hits)).toEqual([2, 1]);
});

test('a fault responds with the chosen status, headers and body', async () => {
	const { get, put } = inProcess({ faults: true });
	const headers = { 'Retry-After': '7', 'X-RateLimit-Remaining': '0' };
	await put(faults, [
		{ times: 1, status: 429, headers },
		{ times: 1, status: 502, body: '{"from":"a proxy"}', contentType: 'application/x-proxy' },
		{ times: 1, status: 418, body: { short: true } },
	]);
	const limited = await get('/v1/contacts');
	expect(limited.body).toMatchObject({ status: 429, code: 'rate_limited' });
	expect(limited.headers.get('Retry-After')).toBe('7');
	expect(limited.headers.get('X-RateLimit-Remaining')).toBe('0');
	const proxy = await get('/v1/contacts');
	expect(proxy.headers.get('Content-Type')).toBe('application/x-proxy');
	expect(proxy).toMatchObject({ status: 502, body: { from: 'a proxy' } });
	expect(await get('/v1/contacts')).toMatchObject({ status: 418, body: { short: true } });
});

test('the log has the requests and their responses', async () => {
	const now = Date.parse('2026-01-02T03:04:05.678Z');
	const { get, post, delete: remove } = inProcess({ faults: true, now: () => now });
	await get('/v1/contacts?limit=1&q=a%20b');
	await post('/v1/contacts', {}, { 'Idempotency-Key': 'k1', Authorization: '' });
	const request = { method: 'GET', path: '/v1/contacts', query: 'limit=1&q=a%20b', status: 200 };
	const time = new Date(now).toISOString();
	expect((await get('/_sandbox/requests')).body).toEqual([
		{ ...request, idempotencyKey: null, authorization: 'Bearer', time },
		{ method: 'POST', path: '/v1/contacts', query: '', status: 401, idempotencyKey: 'k1', authorization: '', time },
	]);
	await remove('/_sandbox/requests');
	expect((await get('/_sandbox/requests')).body).toEqual([]);
});

test('the clock is read and moved forward, and everything follows it', async () => {
	const start = Date.parse('2026-03-01T09:30:00.000Z');
	const { get, post } = inProcess({ faults: true, now: () => start, requestsPerMinute: 3 });
	expect((await get('/_sandbox/clock')).body).toEqual({ now: '2026-03-01T09:30:00.000Z' });
	const key = { 'Idempotency-Key': 'k' };
	const { body } = await post('/v1/contacts', { last_name: 'x' }, key);
	const again = await post('/v1/contacts', { last_name: 'x' }, key);
	expect(again.headers.get('Idempotent-Replayed')).toBe('true');
	await get('/v1/contacts');
	expect((await get('/v1/contacts')).status).toBe(429);
	const moved = await post('/_sandbox/clock', { advance: 24 * 60 * 60 });
	expect(moved.body).toEqual({ now: '2026-03-02T09:30:00.000Z' });
	const later = await post('/v1/contacts', { last_name: 'x' }, key);
	expect(later.headers.get('Idempotent-Replayed')).toBeNull();
	expect(later.body.created_at).toBe('2026-03-02T09:30:00.000Z');
	expect(later.body.id > body.id).toBe(true);
});

test('every response has its date, by the clock of the service', async () => {
	const { get, post } = inProcess({ faults: true, now: () => Date.parse('2026-03-01T09:30:00.000Z') });
	await post('/_sandbox/clock', { advance: 60 });
	for (const path of ['/v1/contacts', '/v1/contacts/con_0', '/v1/nothing']) {
		expect((await get(path)).headers.get('Date')).toBe('Sun, 01 Mar 2026 09:31:00 GMT');
	}
});

test('without --faults nobody can set faults, read the log or move the clock', async () => {
	const { get, put, post } = inProcess();
	const responses = [await put(faults, [{ status: 500 }]), await get('/_sandbox/requests'), await post('/_sandbox/clock', { advance: 1 })];
	expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
});
