import { errorsOf, inProcess } from '../harness/in-process.ts';

const key = { 'Idempotency-Key': 'k1' };
const ana = { email: 'ana@x.example' };

test('a repeated request is carried out once and gets the same response', async () => {
	const { post, all } = inProcess();
	const first = await post('/v1/contacts', ana, key);
	const second = await post('/v1/contacts', ana, key);
	expect(first.headers.get('Idempotent-Replayed')).toBeNull();
	expect(second.headers.get('Idempotent-Replayed')).toBe('true');
	expect(second).toMatchObject({ status: 201, body: first.body });
	expect(second.headers.get('Location')).toBe(first.headers.get('Location'));
	expect(second.headers.get('ETag')).toBe('"1"');
	expect(await all('/v1/contacts')).toHaveLength(1);
});

test('a repeated update, upsert or delete is carried out once and gets the same response', async () => {
	const { post, patch, put, delete: remove } = inProcess();
	const { body } = await post('/v1/contacts', ana);
	const path = `/v1/contacts/${body.id}`;
	await patch(path, { first_name: 'Ana' }, { 'Idempotency-Key': 'update' });
	await patch(path, { first_name: 'Eva' });
	const update = await patch(path, { first_name: 'Ana' }, { 'Idempotency-Key': 'update' });
	expect(update.body).toMatchObject({ first_name: 'Ana', version: 2 });
	const upsert = () => put('/v1/contacts?match_on=email', ana, { 'Idempotency-Key': 'upsert' });
	expect((await upsert()).body).toEqual((await upsert()).body);
	const gone = () => remove(path, { 'Idempotency-Key': 'delete' });
	expect([(await gone()).status, (await gone()).status]).toEqual([204, 204]);
});

test('a key is valid for one request', async () => {
	const { post, patch } = inProcess();
	const { body } = await post('/v1/contacts', ana, key);
	for (const response of [
		await post('/v1/contacts', { email: 'eva@x.example' }, key),
		await post('/v1/companies', ana, key),
		await patch(`/v1/contacts/${body.id}`, ana, key),
	]) {
		expect(response.status).toBe(422);
		expect(response.body.code).toBe('idempotency_key_reused');
	}
});

test('a key is forgotten after a day', async () => {
	let now = 1_800_000_000_000;
	const { post } = inProcess({ now: () => now });
	await post('/v1/contacts', ana, key);
	now += 24 * 60 * 60 * 1000 - 1;
	expect((await post('/v1/contacts', ana, key)).headers.get('Idempotent-Replayed')).toBe('true');
	now += 1;
	expect((await post('/v1/contacts', ana, key)).body.code).toBe('duplicate');
});

test('a request that was refused may be sent again, corrected', async () => {
	const { post } = inProcess();
	expect((await post('/v1/contacts', { email: 'no address' }, key)).status).toBe(422);
	expect((await post('/v1/contacts', ana, key)).status).toBe(201);
});

test.each([['empty', ''], ['too long', 'x'.repeat(256)]])('a key that is %s is refused', async (_, bad) => {
	const { post } = inProcess();
	const response = await post('/v1/contacts', ana, { 'Idempotency-Key': bad });
	expect(response.status).toBe(400);
	expect(errorsOf(response)).toEqual({ 'Idempotency-Key': 'invalid_parameter' });
});

test('the second of two simultaneous requests is told to wait', async () => {
	const { post } = inProcess();
	const { readable, writable } = new TransformStream();
	const body = writable.getWriter();
	const first = post('/v1/contacts', readable, key);
	const second = await post('/v1/contacts', ana, key);
	void body.write(new TextEncoder().encode(JSON.stringify(ana)));
	void body.close();
	expect(second.status).toBe(409);
	expect(second.body.code).toBe('idempotency_in_progress');
	expect(second.headers.get('Retry-After')).toBe('1');
	expect((await first).status).toBe(201);
	expect((await post('/v1/contacts', ana, key)).headers.get('Idempotent-Replayed')).toBe('true');
});

test('without valid credentials no key is reserved', async () => {
	const { send, post, put } = inProcess({ faults: true });
	await put('/_sandbox/faults', [{ method: 'POST', latencyMs: 100, times: 1 }]);
	const form = { 'Content-Type': 'application/x-www-form-urlencoded', Authorization: '' };
	const stranger = send('POST', '/oauth/token', 'x=y', { ...form, ...key });
	expect((await post('/v1/contacts', ana, key)).status).toBe(201);
	await stranger;
});

test('the secret of a webhook is returned again', async () => {
	const { post } = inProcess();
	const hook = { url: 'https://x.example', events: ['contact.*'] };
	const first = await post('/v1/webhooks', hook, key);
	expect(first.body.secret).toMatch(/^whsec_/);
	expect((await post('/v1/webhooks', hook, key)).body).toEqual(first.body);
	const rotate = () =>
		post(`/v1/webhooks/${first.body.id}/rotate-secret`, undefined, { 'Idempotency-Key': 'k2' });
	const rotated = await rotate();
	expect((await rotate()).body).toEqual(rotated.body);
	expect((await post('/v1/webhooks', hook, key)).body.secret).toBe(first.body.secret);
});
