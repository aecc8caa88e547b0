import { errorsOf, inProcess, type Json } from '../harness/in-process.ts';

const batch = (operation: string) => `/v1/contacts/batch/${operation}`;
const statuses = ({ body }: { body: Json }) => body.results.map(({ status }: Json) => status);

test('many records are created at once, each with its own result', async () => {
	const { post, get } = inProcess();
	const items = [{ email: 'ANA@x.example' }, { email: 'no address' }, { last_name: 'Moreno' }];
	const response = await post(batch('create'), { items });
	expect(response.status).toBe(207);
	expect(response.body.summary).toEqual({ total: 3, succeeded: 2, failed: 1 });
	const [ana, wrong, moreno] = response.body.results;
	expect(ana).toMatchObject({ index: 0, status: 201, id: ana.data.id });
	expect((await get(`/v1/contacts/${ana.id}`)).body).toEqual(ana.data);
	expect(wrong).toMatchObject({ index: 1, status: 422, id: null });
	expect(wrong.error).toMatchObject({ code: 'validation_failed', status: 422 });
	expect(wrong.error.request_id).toBe(response.headers.get('X-Request-Id'));
	expect(errorsOf({ ...response, body: wrong.error })).toEqual({ '/email': 'invalid_format' });
	expect(moreno).toMatchObject({ index: 2, status: 201 });
	expect((await get('/v1/contacts')).body.total).toBe(2);
});

test('many records are updated at once, each only from the named version', async () => {
	const { post } = inProcess();
	const { body } = await post(batch('create'), { items: [{ last_name: 'a' }, { last_name: 'b' }] });
	const [a, b] = body.results.map(({ id }: Json) => id);
	const response = await post(batch('update'), {
		items: [
			{ id: a, version: 1, first_name: 'Ana' },
			{ id: a, version: 1, first_name: 'Eva' },
			{ id: b, last_name: null, phone: '+34915550142' },
			{ id: 'con_0', last_name: 'c' },
			{ last_name: 'd' },
			{ id: b, version: '1', name: 'x' },
			{ id: b, name: 'x', colour: 'red' },
		],
	});
	expect(statuses(response)).toEqual([200, 412, 200, 404, 422, 422, 422]);
	const [first, stale, second, , nameless, version, fields] = response.body.results;
	expect(first.data).toMatchObject({ id: a, name: 'Ana a', version: 2 });
	expect(stale).toMatchObject({ id: a, error: { code: 'version_mismatch' } });
	expect(second.data).toMatchObject({ id: b, last_name: null });
	expect(errorsOf({ ...response, body: nameless.error })).toEqual({ '/id': 'required' });
	expect(errorsOf({ ...response, body: version.error })).toEqual({ '/version': 'invalid_type' });
	expect(errorsOf({ ...response, body: fields.error })).toEqual({ '/name': 'read_only', '/colour': 'unknown_field' });
});

test('many records are upserted at once; later items find the records of earlier ones', async () => {
	const { post, all } = inProcess();
	const response = await post(`${batch('upsert')}?match_on=email`, {
		items: [{ email: 'a@x.example' }, { email: 'A@x.example', last_name: 'a' }, { last_name: 'b' }],
	});
	expect(statuses(response)).toEqual([201, 200, 422]);
	expect(response.body.results[1].id).toBe(response.body.results[0].id);
	expect(await all('/v1/contacts')).toHaveLength(1);
});

test('many records are deleted at once', async () => {
	const { post, get } = inProcess();
	const { body } = await post(batch('create'), { items: [{ last_name: 'a' }, { last_name: 'b' }] });
	const [a, b] = body.results.map(({ id }: Json) => id);
	const response = await post(batch('delete'), {
		items: [{ id: a }, { id: a }, { id: b, version: 2 }, { id: b, force: true }, { id: 1 }],
	});
	expect(statuses(response)).toEqual([204, 404, 412, 422, 422]);
	expect(response.body.results[0]).toEqual({ index: 0, status: 204, id: a });
	expect((await get('/v1/contacts')).body.data).toMatchObject([{ id: b }]);
});

test.each([1, null, 'x', [], [{}]])('the item %j fails alone', async (item) => {
	const { post } = inProcess();
	for (const operation of ['create', 'update', 'upsert?match_on=email', 'delete']) {
		const response = await post(batch(operation), { items: [item] });
		expect(statuses(response)).toEqual([422]);
		expect(errorsOf({ ...response, body: response.body.results[0].error })).toEqual({ '': 'invalid_type' });
	}
});

test.each([
	['no items', {}, { '/items': 'required' }],
	['an empty list', { items: [] }, { '/items': 'too_short' }],
	['101 items', { items: Array(101).fill({}) }, { '/items': 'too_long' }],
	['items that are not a list', { items: {} }, { '/items': 'invalid_type' }],
	['text for atomic', { items: [{}], atomic: 'yes' }, { '/atomic': 'invalid_type' }],
	['another member', { items: [{}], inputs: [] }, { '/inputs': 'unknown_field' }],
	['a bare list as its body', [{}], { '': 'invalid_type' }],
])('a batch with %s is refused', async (_, body, errors) => {
	const { post } = inProcess();
	const response = await post(batch('create'), body);
	expect(response.status).toBe(422);
	expect(response.body.detail).toMatch(/list of 1 to 100|JSON object/);
	expect(errorsOf(response)).toEqual(errors);
});

test.each([
	['upsert', { match_on: 'invalid_parameter' }],
	['upsert?match_on=phone', { match_on: 'invalid_parameter' }],
	['create?match_on=email', { match_on: 'unknown_parameter' }],
])('%s is refused as a whole', async (operation, errors) => {
	const { post } = inProcess();
	const response = await post(batch(operation), { items: [{ email: 'a@x.example' }] });
	expect(response.status).toBe(400);
	expect(errorsOf(response)).toEqual(errors);
});

test('a batch may have 100 items and more than 1 MiB, but at most 5', async () => {
	const { post } = inProcess();
	const items = Array.from({ length: 100 }, (_, i) => ({ last_name: `${i}`.repeat(7500) }));
	const response = await post(batch('create'), { items });
	expect(response.body.summary).toEqual({ total: 100, succeeded: 0, failed: 100 });
	const tooMuch = await post(batch('create'), `"${'x'.repeat(5 * 1024 * 1024)}"`);
	expect(tooMuch.status).toBe(413);
	expect(tooMuch.body.detail).toContain('5 MiB');
});

test('a batch counts as one request', async () => {
	const { post } = inProcess({ requestsPerMinute: 10 });
	const { headers } = await post(batch('create'), { items: Array(50).fill({ last_name: 'x' }) });
	expect(headers.get('X-RateLimit-Remaining')).toBe('9');
});
test('an atomic batch succeeds as a whole', async () => {
	const { post, all } = inProcess();
	const items = [{ last_name: 'a' }, { last_name: 'b' }];
	expect(statuses(await post(batch('create'), { items, atomic: true }))).toEqual([201, 201]);
	expect(await all('/v1/contacts')).toHaveLength(2);
});

test('an atomic batch with a mistake changes nothing, and names the item that failed', async () => {
	const { post, all } = inProcess();
	const items = [{ email: 'a@x.example' }, { email: 'no address' }, { email: 'a@x.example' }, { last_name: 'b' }];
	const { status, body } = await post(batch('create'), { items, atomic: true });
	expect(status).toBe(207);
	expect(body.summary).toEqual({ total: 4, succeeded: 0, failed: 4 });
	expect(body.results).toMatchObject([
		{ index: 0, status: 424, id: null, error: { code: 'failed_dependency' } },
		{ index: 1, status: 422, id: null, error: { code: 'validation_failed' } },
		{ index: 2, status: 409, id: null, error: { code: 'duplicate' } },
		{ index: 3, status: 424, id: null },
	]);
	expect(body.results[0].error.detail).toBe('Nothing was written, because item 1 failed.');
	const detail = 'Item 0 of this batch already has this value.';
	expect(body.results[2].error).toMatchObject({ detail, errors: [{ pointer: '/email', detail }] });
	expect(body.results[2].error).not.toHaveProperty('existing_id');
	expect(await all('/v1/contacts?include_deleted=true')).toEqual([]);
});

test('a failed atomic update leaves every record unchanged', async () => {
	const { post, get } = inProcess();
	const { body: before } = await post('/v1/contacts', { last_name: 'a' });
	const items = [{ id: before.id, last_name: 'b' }, { id: 'con_0' }];
	const { body } = await post(batch('update'), { items, atomic: true });
	expect(body.results).toMatchObject([{ status: 424, id: before.id }, { status: 404 }]);
	expect((await get(`/v1/contacts/${before.id}`)).body).toEqual(before);
});

test('an internal error undoes the whole batch, and its key with it', async () => {
	const { post, all, store } = inProcess();
	const key = { 'Idempotency-Key': 'k1' };
	const items = [{ last_name: 'a' }, { last_name: 'b' }];
	const table = store.table('contacts')!;
	const add = table.add.bind(table);
	const fault = jest.spyOn(table, 'add').mockImplementation((record) => {
		if (record['last_name'] === 'b') throw new Error('The disk is full');
		add(record);
	});
	const log = jest.spyOn(console, 'error').mockImplementation();
	expect((await post(batch('create'), { items }, key)).status).toBe(500);
	expect(await all('/v1/contacts')).toEqual([]);
	fault.mockRestore();
	log.mockRestore();
	expect(statuses(await post(batch('create'), { items }, key))).toEqual([201, 201]);
});
