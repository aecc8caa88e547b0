import { errorsOf, inProcess } from '../harness/in-process.ts';

const cars = { key: 'cars', label_singular: 'Car', label_plural: 'Cars', primary_field: 'plate' };
const path = '/v1/custom-objects/cars/records';

/** A sandbox in which the account keeps cars, each with a plate. */
async function withCars() {
	const sandbox = inProcess();
	const object = await sandbox.post('/v1/custom-objects', cars);
	const resource = 'custom-objects/cars/records';
	const field = { resource, key: 'plate', label: 'Plate', type: 'text', unique: true };
	const defined = await sandbox.post('/v1/custom-fields', field);
	const make = (plate: unknown, more = {}) =>
		sandbox.post(path, { custom_fields: { plate }, ...more });
	return { ...sandbox, object, defined, make };
}

test('an object defined at run time has records like any other resource', async () => {
	const { object, defined, make, get, patch, put, delete: remove } = await withCars();
	expect([object.status, defined.status]).toEqual([201, 201]);
	const { status, headers, body } = await make('M-AB 1', { external_id: 'e' });
	expect(status).toBe(201);
	expect(headers.get('Location')).toBe(`${path}/${body.id}`);
	expect(body).toMatchObject({
		object: 'custom_object_record',
		title: 'M-AB 1',
		custom_fields: { plate: 'M-AB 1' },
		version: 1,
	});
	const recordPath = `${path}/${body.id}`;
	expect((await get(recordPath)).body).toEqual(body);
	expect((await patch(recordPath, { custom_fields: { plate: 'M-AB 2' } })).body.title).toBe('M-AB 2');
	const upserted = await put(`${path}?match_on=custom_fields.plate`, { custom_fields: { plate: 'M-AB 2' }, external_id: 'f' });
	expect(upserted.body).toMatchObject({ id: body.id, external_id: 'f' });
	expect((await make('M-AB 2')).body.code).toBe('duplicate');
	expect((await remove(recordPath)).status).toBe(204);
	expect((await get(recordPath)).status).toBe(404);
});

test('records are listed, filtered, sorted and searched', async () => {
	const { make, all } = await withCars();
	for (const plate of ['M-C', 'M-A', 'B-B']) await make(plate);
	const titles = async (query: string) => (await all(`${path}?${query}`)).map(({ title }) => title);
	expect(await titles('sort=title&limit=2')).toEqual(['B-B', 'M-A', 'M-C']);
	expect(await titles('q=m-')).toEqual(['M-C', 'M-A']);
	expect(await titles('custom_fields.plate=B-B')).toEqual(['B-B']);
});

test('a record needs the primary field, and accepts no undefined fields', async () => {
	const { post, make } = await withCars();
	expect(errorsOf(await post(path, {}))).toEqual({ '/custom_fields/plate': 'required' });
	expect(errorsOf(await make('x', { title: 'y' }))).toEqual({ '/title': 'read_only' });
	const unknown = { custom_fields: { plate: 'x', wheels: 4 } };
	expect(errorsOf(await post(path, unknown))).toEqual({ '/custom_fields/wheels': 'unknown_field' });
});

test('the records of one object are not those of another', async () => {
	const { make, post, all, get } = await withCars();
	await post('/v1/custom-objects', { ...cars, key: 'vans' });
	const { body } = await make('x');
	expect(await all('/v1/custom-objects/vans/records')).toEqual([]);
	expect((await get(`/v1/custom-objects/vans/records/${body.id}`)).status).toBe(404);
	const noField = await post('/v1/custom-objects/vans/records', { custom_fields: { plate: 'x' } });
	expect(errorsOf(noField)).toEqual({ '/custom_fields/plate': 'unknown_field' });
});

test('undefined objects do not exist', async () => {
	const { get, post } = inProcess();
	expect((await get('/v1/custom-objects/boats/records')).status).toBe(404);
	expect((await post('/v1/custom-objects/boats/records', {})).status).toBe(404);
	const field = { resource: 'custom-objects/boats/records', key: 'x', label: 'X', type: 'text' };
	expect(errorsOf(await post('/v1/custom-fields', field))).toEqual({ '/resource': 'reference_not_found' });
	expect(errorsOf(await post('/v1/custom-fields', { ...field, resource: 'users' }))).toEqual({ '/resource': 'invalid_format' });
});

test('an object with records cannot be deleted, and one without records can', async () => {
	const { object, make, get, delete: remove } = await withCars();
	const { body } = await make('x');
	const definition = `/v1/custom-objects/${object.body.id}`;
	expect((await remove(definition)).body.code).toBe('in_use');
	await remove(`${path}/${body.id}`);
	expect((await remove(definition)).status).toBe(204);
	expect((await get(path)).status).toBe(404);
});

test('key and primary field cannot be changed, and a key is unique', async () => {
	const { object, patch, post } = await withCars();
	const change = { key: 'x', primary_field: 'y', label_plural: 'z' };
	expect(errorsOf(await patch(`/v1/custom-objects/${object.body.id}`, change))).toEqual({
		'/key': 'immutable',
		'/primary_field': 'immutable',
	});
	expect((await post('/v1/custom-objects', cars)).body.existing_id).toBe(object.body.id);
});

test('an object that reuses the key of a deleted one begins without its fields and records', async () => {
	const { object, make, get, post, delete: remove } = await withCars();
	const { body } = await make('M-AB 1');
	await remove(`${path}/${body.id}`);
	expect((await remove(`/v1/custom-objects/${object.body.id}`)).status).toBe(204);
	expect((await get('/v1/custom-fields?resource=custom-objects/cars/records')).body.total).toBe(0);
	const events = (await get('/v1/events?type=custom_field.deleted')).body.data;
	expect(events).toMatchObject([{ data: { object: { key: 'plate' } } }]);
	expect((await get(path)).status).toBe(404);

	expect((await post('/v1/custom-objects', cars)).status).toBe(201);
	expect((await get(`${path}?include_deleted=true`)).body).toMatchObject({ data: [], total: 0 });
	expect((await get(`${path}?custom_fields.plate=x`)).status).toBe(400);
	const field = { resource: 'custom-objects/cars/records', key: 'plate', label: 'Plate', type: 'text' };
	expect((await post('/v1/custom-fields', field)).status).toBe(201);
	expect((await make('M-AB 1')).status).toBe(201);
});

test('a batch that is undone may be the first to write records of an object', async () => {
	const { get, post } = await withCars();
	const items = [{ custom_fields: { plate: 'M-A' } }, { custom_fields: {} }];
	const batch = `${path}/batch/create`;
	expect((await post(batch, { items, atomic: true })).body.summary.succeeded).toBe(0);
	expect((await post(batch, { items })).body.summary.succeeded).toBe(1);
	expect((await get(path)).body.total).toBe(1);
});
