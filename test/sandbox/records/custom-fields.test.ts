import { tokenSandbox } from '../harness/access-tokens.ts';
import { errorsOf, inProcess } from '../harness/in-process.ts';

const options = [{ value: 'a', label: 'A' }, { value: 'b', label: 'B' }];

/** A sandbox in which contacts have a custom field `field`. */
async function withField(definition: object) {
	const sandbox = inProcess();
	const field = { resource: 'contacts', key: 'field', label: 'Field', ...definition };
	const defined = await sandbox.post('/v1/custom-fields', field);
	const write = (value: unknown) =>
		sandbox.post('/v1/contacts', { last_name: 'x', custom_fields: { field: value } });
	return { ...sandbox, defined, write, path: `/v1/custom-fields/${defined.body.id}` };
}

test.each([
	[{ type: 'text' }, 'short', 'x'.repeat(256)],
	[{ type: 'long_text' }, 'x'.repeat(256), 1],
	[{ type: 'number' }, 1.5, '1.5'],
	[{ type: 'number' }, -(2 ** 53 - 1), 2 ** 53],
	[{ type: 'boolean' }, false, 'false'],
	[{ type: 'date' }, '2024-02-29', '2025-02-29'],
	[{ type: 'datetime' }, '2025-03-01T09:30:00.000Z', '2025-03-01'],
	[{ type: 'select', options }, 'a', 'c'],
	[{ type: 'multi_select', options }, ['a', 'b'], 'a'],
	[{ type: 'url' }, 'https://x.example', 'x.example'],
	[{ type: 'email' }, 'a@x.example', 'a'],
	[{ type: 'phone' }, '+34915550142', '915550142'],
])('%j takes values of its type only', async (definition, good, bad) => {
	const { write } = await withField(definition);
	const response = await write(good);
	expect(response.status).toBe(201);
	expect(response.body.custom_fields).toEqual({ field: good });
	expect(errorsOf(await write(bad))).toEqual({ '/custom_fields/field': 'invalid_value' });
});

test.each<[object, unknown, Record<string, string>]>([
	[{ type: 'text' }, 'Álamo 50%', { contains: 'ALAMO', starts_with: 'á' }],
	[{ type: 'long_text' }, 'Sold in May', { contains: 'in m', starts_with: 'SOLD' }],
	[{ type: 'number' }, 1.5, { gte: '1.5', gt: '1', lte: '1.5', lt: '2' }],
	[{ type: 'boolean' }, false, {}],
	[{ type: 'date' }, '2024-02-29', { gte: '2024-02-29', gt: '2024-01-01', lte: '2024-03-01', lt: '2025-01-01' }],
	[{ type: 'select', options }, 'a', {}],
	[{ type: 'multi_select', options }, ['a', 'b'], {}],
	[{ type: 'email' }, 'a@x.example', { contains: 'X.E', starts_with: 'A@' }],
])('%j has filters with the operators described for its type', async (definition, value, operators) => {
	const { write, get, post } = await withField(definition);
	const { body } = await write(value);
	await post('/v1/contacts', { last_name: 'y' });
	const { body: document } = await get('/openapi.json');
	const described = document.paths['/v1/contacts'].get['x-custom-field-filters'];
	const { type } = definition as { type: string };
	expect(described[type]).toEqual([...Object.keys(operators), 'empty']);
	for (const [operator, text] of Object.entries({ ...operators, empty: 'false' })) {
		const filter = `custom_fields.field[${operator}]=${encodeURIComponent(text)}`;
		const response = await get(`/v1/contacts?${filter}`);
		expect({ operator, body: response.body }).toMatchObject({ operator, body: { data: [body], total: 1 } });
	}
	expect((await get('/v1/contacts?custom_fields.field[empty]=true')).body.total).toBe(1);
});

test.each<[object, unknown, unknown]>([
	[{ type: 'select', options }, 'a', 'b'],
	[{ type: 'multi_select', options }, ['a'], ['b']],
	[{ type: 'email' }, 'a@x.example', 'b@x.example'],
	[{ type: 'text' }, 'a', 'b'],
])('%j accepts several values in a filter exactly if the description of its type says so', async (definition, firstValue, secondValue) => {
	const { write, get } = await withField(definition);
	await write(firstValue);
	await write(secondValue);
	const { body: document } = await get('/openapi.json');
	const described: string[] = document.paths['/v1/contacts'].get['x-custom-field-lists'];
	const { body } = await get(`/v1/contacts?custom_fields.field=${[firstValue, secondValue].join(',')}`);
	expect(body.total).toBe(described.includes((definition as { type: string }).type) ? 2 : 0);
});

test('a user field holds a user of the account', async () => {
	const { write, get } = await withField({ type: 'user' });
	expect(errorsOf(await write('usr_0'))).toEqual({ '/custom_fields/field': 'reference_not_found' });
	const { body } = await get('/v1/users/me');
	expect((await write(body.id)).body.custom_fields).toEqual({ field: body.id });
});

test('a reference names a record of its resource', async () => {
	const definition = { type: 'reference', reference_resource: 'companies' };
	const { write, post } = await withField(definition);
	expect(errorsOf(await write('com_0'))).toEqual({ '/custom_fields/field': 'reference_not_found' });
	const company = await post('/v1/companies', { name: 'Altamira' });
	expect((await write(company.body.id)).status).toBe(201);
});

test('an undefined custom field is refused', async () => {
	const { post } = inProcess();
	const response = await post('/v1/companies', { name: 'x', custom_fields: { vip: true } });
	expect(errorsOf(response)).toEqual({ '/custom_fields/vip': 'unknown_field' });
});

test('a required field must be set on create, and cannot be cleared', async () => {
	const { post, patch, write } = await withField({ type: 'text', required: true });
	const missing = { '/custom_fields/field': 'required' };
	expect(errorsOf(await post('/v1/contacts', { last_name: 'x' }))).toEqual(missing);
	const { body } = await write('here');
	const path = `/v1/contacts/${body.id}`;
	expect(errorsOf(await patch(path, { custom_fields: { field: null } }))).toEqual(missing);
	expect(errorsOf(await patch(path, { custom_fields: null }))).toEqual(missing);
	expect((await patch(path, { first_name: 'Ana' })).status).toBe(200);
});

test('a field that is made required later does not prevent other changes', async () => {
	const { path, patch, write } = await withField({ type: 'text' });
	const { body } = await write(null);
	await patch(path, { required: true });
	expect((await patch(`/v1/contacts/${body.id}`, { first_name: 'Ana' })).status).toBe(200);
});

test('no two records have the same value of a unique field', async () => {
	const { write, patch } = await withField({ type: 'text', unique: true });
	const first = await write('same');
	const response = await write('same');
	expect(response.status).toBe(409);
	expect(response.body.existing_id).toBe(first.body.id);
	const again = await patch(`/v1/contacts/${first.body.id}`, { custom_fields: { field: 'same' } });
	expect(again.status).toBe(200);
});

test('a read-only field and an archived field accept no values', async () => {
	const { write, patch, path } = await withField({ type: 'text', read_only: true });
	expect(errorsOf(await write('x'))).toEqual({ '/custom_fields/field': 'read_only' });
	await patch(path, { read_only: false, archived_at: '2025-01-01T00:00:00Z' });
	expect(errorsOf(await write('x'))).toEqual({ '/custom_fields/field': 'archived' });
});

test('resource, key and type cannot be changed', async () => {
	const { patch, path } = await withField({ type: 'text' });
	const change = { resource: 'companies', key: 'other', type: 'number', label: 'Other' };
	expect(errorsOf(await patch(path, change))).toEqual({ '/resource': 'immutable', '/key': 'immutable', '/type': 'immutable' });
});

test.each([
	[{ type: 'select' }, '/options'],
	[{ type: 'text', options }, '/options'],
	[{ type: 'select', options: [options[0], options[0]] }, '/options'],
	[{ type: 'reference' }, '/reference_resource'],
	[{ type: 'text', reference_resource: 'contacts' }, '/reference_resource'],
	[{ type: 'boolean', unique: true }, '/unique'],
	[{ type: 'text', required: true, read_only: true }, '/read_only'],
])('the definition %j is refused at %s', async (definition, pointer) => {
	const { defined } = await withField(definition);
	expect(errorsOf(defined)).toEqual({ [pointer]: 'invalid_value' });
});

test('a key is unique in its resource', async () => {
	const { post } = await withField({ type: 'text' });
	const field = { key: 'field', label: 'Field', type: 'text' };
	expect((await post('/v1/custom-fields', { ...field, resource: 'contacts' })).status).toBe(409);
	expect((await post('/v1/custom-fields', { ...field, resource: 'companies' })).status).toBe(201);
});

test('a reference to a record that its writer may not see is refused like one to a record that does not exist', async () => {
	const sandbox = tokenSandbox();
	const definition = { resource: 'companies', key: 'contact', label: 'Contact', type: 'reference', reference_resource: 'contacts' };
	expect((await sandbox.post('/v1/custom-fields', definition)).status).toBe(201);
	const asSales = sandbox.as(sandbox.sales, ['companies:write', 'contacts:read']);
	const refer = async (owner_id: string) => {
		const { body: contact } = await sandbox.post('/v1/contacts', { last_name: 'Moreno', owner_id });
		const values = { name: 'Altamira', custom_fields: { contact: contact.id } };
		// Whoever sees everything may.
		expect((await sandbox.post('/v1/companies', values)).status).toBe(201);
		return await asSales('POST', '/v1/companies', values);
	};
	expect(errorsOf(await refer(sandbox.admin))).toEqual({ '/custom_fields/contact': 'reference_not_found' });
	expect((await refer(sandbox.sales)).status).toBe(201);
});
