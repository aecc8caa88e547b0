import { inProcess, type Json } from '../harness/in-process.ts';

const create = '/v1/contacts/batch/create';
const update = '/v1/contacts/batch/update';
const statuses = ({ body }: { body: Json }) => body.results.map(({ status }: Json) => status);

test('an atomic batch succeeds as a whole', async () => {
	const { post, all } = inProcess();
	const items = [{ last_name: 'a' }, { last_name: 'b' }];
	expect(statuses(await post(create, { items, atomic: true }))).toEqual([201, 201]);
	expect(await all('/v1/contacts')).toHaveLength(2);
});

test('an atomic batch with a mistake changes nothing, and names the item that failed', async () => {
	const { post, all } = inProcess();
	const items = [{ email: 'a@x.example' }, { email: 'no address' }, { email: 'a@x.example' }, { last_name: 'b' }];
	const { status, body } = await post(create, { items, atomic: true });
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
	const { body } = await post(update, { items, atomic: true });
	expect(body.results).toMatchObject([{ status: 424, id: before.id }, { status: 404 }]);
	expect((await get(`/v1/contacts/${before.id}`)).body).toEqual(before);
});

test('a repeated batch is carried out once and gets the same response', async () => {
	const { post, all } = inProcess();
	const key = { 'Idempotency-Key': 'k1' };
	const body = { items: [{ last_name: 'a' }, { email: 'no address' }] };
	const first = await post(create, body, key);
	const second = await post(create, body, key);
	expect(second.headers.get('Idempotent-Replayed')).toBe('true');
	expect(second).toMatchObject({ status: 207, body: first.body });
	expect(await all('/v1/contacts')).toHaveLength(1);
	const other = await post(create, { items: [{ last_name: 'b' }] }, key);
	expect(other.body.code).toBe('idempotency_key_reused');
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
	expect((await post(create, { items }, key)).status).toBe(500);
	expect(await all('/v1/contacts')).toEqual([]);
	fault.mockRestore();
	log.mockRestore();
	expect(statuses(await post(create, { items }, key))).toEqual([201, 201]);
});
