import { errorsOf, inProcess } from '../harness/in-process.ts';

test.each([1e15, 1e-7, 1000, -2.5, 0])('a filter accepts a number as the service writes it: %d', async (amount) => {
	const { post, get } = inProcess();
	await post('/v1/custom-fields', { resource: 'deals', key: 'weight', label: 'Weight', type: 'number' });
	const { body } = await post('/v1/deals', { title: 'x', amount, custom_fields: { weight: amount } });
	for (const field of ['amount', 'amount[gte]', 'custom_fields.weight', 'custom_fields.weight[lte]']) {
		const query = new URLSearchParams({ [field]: JSON.stringify(body.amount) });
		expect([field, (await get(`/v1/deals?${query}`)).body.total]).toEqual([field, 1]);
	}
});

test.each(['1e', 'e3', '1e3.5', '0x10', 'Infinity', '1e999', '--1', '1_000', ''])('%j is not a valid number in a filter', async (text) => {
	const { get } = inProcess();
	const response = await get(`/v1/deals?${new URLSearchParams({ amount: text })}`);
	expect([response.status, errorsOf(response)]).toEqual([400, { amount: 'invalid_parameter' }]);
});

test('an exponent may give a whole number', async () => {
	const { post, get } = inProcess();
	await post('/v1/companies', { name: 'x', employee_count: 1000 });
	expect((await get('/v1/companies?employee_count=1e3')).body.total).toBe(1);
	expect((await get('/v1/companies?employee_count=1e-3')).status).toBe(400);
});

test.each(['select', 'multi_select'])('an option of a %s field has no comma, since commas separate the values of filters', async (type) => {
	const { post, patch, get } = inProcess();
	const field = (value: string) => ({ resource: 'contacts', key: 'kind', label: 'Kind', type, options: [{ value, label: 'Smith, John' }] });
	const refused = await post('/v1/custom-fields', field('Smith, John'));
	expect([refused.status, errorsOf(refused)]).toEqual([422, { '/options/0/value': 'invalid_format' }]);
	const { body } = await post('/v1/custom-fields', field('Smith John'));
	expect((await patch(`/v1/custom-fields/${body.id}`, { options: [{ value: 'a,b', label: 'x' }] })).status).toBe(422);
	const value = type === 'select' ? 'Smith John' : ['Smith John'];
	await post('/v1/contacts', { last_name: 'x', custom_fields: { kind: value } });
	expect((await get('/v1/contacts?custom_fields.kind=Smith%20John')).body.total).toBe(1);
	for (const unknown of ['nonsense', 'Smith, John', 'Smith John,nonsense']) {
		const response = await get(`/v1/contacts?${new URLSearchParams({ 'custom_fields.kind': unknown })}`);
		expect([response.status, response.body.code]).toEqual([400, 'invalid_parameter']);
	}
});
