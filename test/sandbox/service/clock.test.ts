import { inProcess } from '../harness/in-process.ts';

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

test('without --faults nobody can move the clock', async () => {
	expect((await inProcess().post('/_sandbox/clock', { advance: 1 })).status).toBe(404);
});
