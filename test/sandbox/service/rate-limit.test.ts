import { createApp } from '../../../sandbox/app.ts';
import { Store } from '../../../sandbox/core/store/store.ts';
import { clientForm } from '../harness/access-tokens.ts';
import { inProcess, type Reply } from '../harness/in-process.ts';

afterEach(() => jest.restoreAllMocks());

const start = 1_800_000_000_500;
const resetAt = String(Math.ceil((start + 60_000) / 1000));

/** A sandbox with a clock that the test moves. */
function atPace(requestsPerMinute: number) {
	const clock = { now: start };
	const sandbox = inProcess({ requestsPerMinute, faults: true, now: () => clock.now });
	return { ...sandbox, clock, read: () => sandbox.get('/v1/account') };
}

const limits = ({ headers }: Reply) => [headers.get('X-RateLimit-Remaining'), headers.get('X-RateLimit-Reset')];

test('every request uses one of the limit, until none is left', async () => {
	const { read, clock } = atPace(3);
	expect(limits(await read())).toEqual(['2', resetAt]);
	clock.now += 1000;
	expect(limits(await read())).toEqual(['1', resetAt]);
	expect(limits(await read())).toEqual(['0', resetAt]);
	clock.now += 500;
	const refused = await read();
	expect(refused.status).toBe(429);
	expect(refused.body.code).toBe('rate_limited');
	expect(refused.headers.get('Retry-After')).toBe('59');
	expect(limits(refused)).toEqual(['0', resetAt]);
});

test('a new window begins with the first request after the old one', async () => {
	const { read, clock } = atPace(1);
	await read();
	clock.now += 59_999;
	const refused = await read();
	expect(refused.headers.get('Retry-After')).toBe('1');
	clock.now += 1001;
	const { status, headers } = await read();
	expect(status).toBe(200);
	const resetsAt = Math.ceil((clock.now + 60_000) / 1000);
	expect(headers.get('X-RateLimit-Reset')).toBe(String(resetsAt));
});

test('strangers use no requests of the account', async () => {
	const { get, read } = atPace(2);
	const stranger = () => get('/v1/contacts', { Authorization: 'Bearer wrong' });
	expect([(await stranger()).status, (await stranger()).status]).toEqual([401, 401]);
	expect((await stranger()).status).toBe(429);
	expect(limits(await read())).toEqual(['1', resetAt]);
});

test('every response reports the remaining requests', async () => {
	const { send, put } = atPace(100);
	await put('/_sandbox/faults', [{ path: '/v1/companies', status: 503 }, { path: '/v1/account', malformed: true }]);
	const responses = [
		await send('GET', '/v1/contacts'),
		await send('GET', '/v1/contacts', undefined, { Authorization: '' }),
		await send('GET', '/v1/contacts?limit=0'),
		await send('GET', '/v1/contacts/con_0'),
		await send('PATCH', '/v1/contacts'),
		await send('POST', '/v1/contacts', '{'),
		await send('GET', '/v1/companies'),
		await send('GET', '/nothing'),
		await send('GET', '/'),
		await send('GET', '/openapi.json'),
		await send('GET', '/_sandbox/faults'),
		await send('POST', '/oauth/token', '', clientForm),
	];
	expect(responses.map(({ status }) => status)).toEqual([200, 401, 400, 404, 405, 400, 503, 404, 200, 200, 200, 401]);
	for (const response of responses) {
		expect(limits(response)).toEqual([expect.stringMatching(/^\d+$/), resetAt]);
		expect(response.headers.get('X-Request-Id')).toMatch(/^req_/);
	}
});

test('requests without credentials use nothing', async () => {
	const { get, read } = atPace(2);
	for (const path of ['/', '/openapi.json', '/_sandbox/requests', '/nothing']) await get(path);
	expect(limits(await read())).toEqual(['1', resetAt]);
});

test.each([
	['starter', 1000],
	['pro', 5000],
	['enterprise', 20_000],
] as const)('the plan %s allows %i requests', async (plan, requests) => {
	const { get } = inProcess({ plan, requestsPerMinute: undefined as never });
	const { headers, body } = await get('/v1/account');
	expect(headers.get('X-RateLimit-Remaining')).toBe(String(requests - 1));
	expect(body).toMatchObject({ plan, limits: { requests_per_minute: requests, page_size: 500 } });
});

test('strangers at different addresses have separate windows', async () => {
	const store = new Store(':memory:');
	const app = createApp({ store, requestsPerMinute: 1, now: () => start });
	const from = async (remoteAddress: string, path = '/v1/contacts') =>
		(await app.request(path, {}, { incoming: { socket: { remoteAddress } } as never })).status;
	expect(await from('192.0.2.1')).toBe(401);
	expect(await from('192.0.2.1')).toBe(429);
	expect(await from('192.0.2.2')).toBe(401);
});
