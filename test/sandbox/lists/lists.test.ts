import { errorsOf, inProcess } from '../harness/in-process.ts';

/** Three contacts, and `ids`, which queries them. */
async function three() {
	const sandbox = inProcess();
	const make = async (contact: object) => (await sandbox.post('/v1/contacts', contact)).body.id;
	const [t1, t2, t3] = (await sandbox.all('/v1/tags')).map(({ id }) => id);
	const gold = { contract_tier: 'gold', nps_score: 10, interests: ['events'] };
	const ana = await make({ first_name: 'Ana', email: 'ana@x.example', custom_fields: gold });
	const jose = await make({ last_name: 'García, José', lifecycle_stage: 'customer', tag_ids: [t1] });
	const eva = await make({ last_name: 'Eva', lifecycle_stage: 'lead', tag_ids: [t2, t3] });
	const ids = async (query: string) =>
		(await sandbox.all(`/v1/contacts?${query}`)).map(({ id }) => id);
	return { ...sandbox, ana, jose, eva, t1, t3, ids };
}

test('a list says its total and where it ends', async () => {
	const { get } = inProcess({ contacts: 60 });
	const first = await get('/v1/contacts');
	expect(first.body).toMatchObject({ total: 60, next_cursor: expect.any(String) });
	expect(first.body.data).toHaveLength(50);
	const last = await get(`/v1/contacts?cursor=${first.body.next_cursor}`);
	expect(last.body).toMatchObject({ total: 60, next_cursor: null });
	expect(last.body.data).toHaveLength(10);
});

test('filters return matching records only', async () => {
	const { ids, ana, jose, eva, t1, t3 } = await three();
	expect(await ids('lifecycle_stage=customer')).toEqual([jose]);
	expect(await ids('lifecycle_stage=customer,lead')).toEqual([jose, eva]);
	expect(await ids('email=ANA@x.example,other@x.example')).toEqual([ana]);
	expect(await ids('last_name=García, José')).toEqual([jose]);
	expect(await ids('last_name=garcía, josé')).toEqual([]);
	expect(await ids(`tag_ids=${t3},${t1}`)).toEqual([jose, eva]);
	expect(await ids('custom_fields.contract_tier=gold')).toEqual([ana]);
	expect(await ids('custom_fields.nps_score[gte]=10')).toEqual([ana]);
	expect(await ids('custom_fields.nps_score[lt]=10')).toEqual([]);
	expect(await ids('custom_fields.interests=events,training')).toEqual([ana]);
	expect(await ids(`ids=${eva},${ana},con_0`)).toEqual([ana, eva]);
	expect(await ids(`lifecycle_stage=lead&tag_ids=${t1}`)).toEqual([]);
});

test('text is found by a part of it, regardless of case and accents', async () => {
	const { ids, ana, jose, eva } = await three();
	expect(await ids('last_name[contains]=JOSE')).toEqual([jose]);
	expect(await ids('last_name[contains]=%25')).toEqual([]);
	expect(await ids('name[starts_with]=garcia, j')).toEqual([jose]);
	expect(await ids('name[starts_with]=jos')).toEqual([]);
	expect(await ids('email[contains]=X.EXAMPLE')).toEqual([ana]);
	expect(await ids('custom_fields.contract_tier=gold&first_name[starts_with]=AN')).toEqual([ana]);
	expect(await ids('first_name[contains]=a&last_name[contains]=a')).toEqual([]);
	expect(await ids('last_name[contains]=a&sort=-last_name')).toEqual([jose, eva]);
});

test('records with and without a value are distinguished, for every field that may be empty', async () => {
	const { ids, post, get, ana, jose, eva } = await three();
	expect(await ids('email[empty]=false')).toEqual([ana]);
	expect(await ids('email[empty]=true&sort=email')).toEqual([jose, eva]);
	expect(await ids('tag_ids[empty]=true')).toEqual([ana]);
	expect(await ids('emails[empty]=false')).toEqual([ana]);
	expect(await ids('address[empty]=false')).toEqual([]);
	expect(await ids('custom_fields.nps_score[empty]=false')).toEqual([ana]);
	expect(await ids('custom_fields.interests[empty]=true')).toEqual([jose, eva]);
	await post('/v1/companies', { name: 'a', employee_count: 0, description: 'Makes Ähren' });
	await post('/v1/companies', { name: 'b', description: '' });
	const companies = async (query: string) =>
		(await get(`/v1/companies?${query}`)).body.data.map(({ name }: { name: string }) => name);
	expect(await companies('employee_count[empty]=false')).toEqual(['a']);
	expect(await companies('description[empty]=true')).toEqual(['b']);
	expect(await companies('description[contains]=ähr')).toEqual(['a']);
});

test('search finds words anywhere, regardless of case and accents', async () => {
	const { ids, ana, jose } = await three();
	expect(await ids('q=JOSE garcia')).toEqual([jose]);
	expect(await ids('q=x.example')).toEqual([ana]);
	expect(await ids('q=jose ana')).toEqual([]);
});

test('adjacent time ranges do not overlap', async () => {
	const now = Date.parse('2025-01-01T00:00:00Z');
	let hours = 0;
	const { post, patch, all } = inProcess({ now: () => now + hours * 3_600_000 });
	const { body } = await post('/v1/contacts', { last_name: 'x' });
	hours = 2;
	await patch(`/v1/contacts/${body.id}`, { last_name: 'y' });
	const changed = '2025-01-01T02:00:00.000Z';
	expect(await all(`/v1/contacts?updated_since=${changed}`)).toHaveLength(1);
	expect(await all(`/v1/contacts?updated_until=${changed}`)).toHaveLength(0);
	expect(await all(`/v1/contacts?updated_at[gt]=${changed}`)).toHaveLength(0);
	expect(await all(`/v1/contacts?updated_at[lte]=${changed}`)).toHaveLength(1);
	expect(await all('/v1/contacts?created_at[lt]=2025-01-01T01:00:01%2B01:00')).toHaveLength(1);
});

test('an absent value is not less than anything', async () => {
	const { post, all } = inProcess();
	await post('/v1/companies', { name: 'Unknown' });
	await post('/v1/companies', { name: 'Small', employee_count: 3 });
	const names = async (query: string) =>
		(await all(`/v1/companies?${query}`)).map(({ name }) => name);
	expect(await names('employee_count[lt]=10')).toEqual(['Small']);
	expect(await names('employee_count[lte]=3')).toEqual(['Small']);
	expect(await names('sort=employee_count')).toEqual(['Unknown', 'Small']);
	expect(await names('sort=-employee_count')).toEqual(['Small', 'Unknown']);
});

test.each([
	['limit=0', 'limit', 'invalid_parameter'],
	['limit=501', 'limit', 'invalid_parameter'],
	['limit=1&limit=2', 'limit', 'invalid_parameter'],
	['page=2', 'page', 'unknown_parameter'],
	['first_name[gte]=A', 'first_name[gte]', 'unknown_parameter'],
	['custom_fields.nope=1', 'custom_fields.nope', 'unknown_parameter'],
	['custom_fields.vip=maybe', 'custom_fields.vip', 'invalid_parameter'],
	['sort=phone', 'sort', 'invalid_parameter'],
	['lifecycle_stage=lead,boss', 'lifecycle_stage', 'invalid_parameter'],
	['email=', 'email', 'invalid_parameter'],
	['email[contains]=', 'email[contains]', 'invalid_parameter'],
	['email[contains]=%CC%81', 'email[contains]', 'invalid_parameter'],
	['email[empty]=yes', 'email[empty]', 'invalid_parameter'],
	['lifecycle_stage[contains]=lead', 'lifecycle_stage[contains]', 'unknown_parameter'],
	['created_at[empty]=true', 'created_at[empty]', 'unknown_parameter'],
	['created_at[gte]=yesterday', 'created_at[gte]', 'invalid_parameter'],
	['q=', 'q', 'invalid_parameter'],
	[`q=${'a '.repeat(200)}`, 'q', 'invalid_parameter'],
	[`ids=${'a,'.repeat(500)}`, 'ids', 'invalid_parameter'],
])('?%s is refused', async (query, parameter, code) => {
	const { get } = inProcess();
	const response = await get(`/v1/contacts?${query}`);
	expect(response.status).toBe(400);
	expect(response.body.code).toBe(code);
	expect(errorsOf(response)).toEqual({ [parameter]: code });
});

test('texts are ordered as people read them, page by page in both directions', async () => {
	const { post, all } = inProcess();
	const names = ['_x', '10', '9', 'Äpfel', 'Ångström', 'Éclair', 'Łódź', 'lodge', 'Øre', 'straße', 'Zulu'];
	for (const name of names.toSorted()) await post('/v1/companies', { name });
	const listed = async (sort: string) => (await all(`/v1/companies?sort=${sort}&limit=2`)).map(({ name }) => name as string);
	const sorted = await listed('name');
	expect(sorted).toEqual(['_x', '10', '9', 'Ångström', 'Äpfel', 'Éclair', 'lodge', 'Łódź', 'Øre', 'straße', 'Zulu']);
	expect((await listed('-name')).toReversed()).toEqual(sorted);
});

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
