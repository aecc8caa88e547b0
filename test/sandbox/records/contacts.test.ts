import { errorsOf, inProcess } from '../harness/in-process.ts';

const entry = (value: string, primary: boolean) => ({ value, label: null, primary });

test.each(['email', 'phone', 'last_name', 'external_id'])('%s alone makes a contact', async (field) => {
	const { post } = inProcess();
	const value = field === 'email' ? 'a@b.example' : field === 'phone' ? '+34915550142' : 'x';
	const { status, body } = await post('/v1/contacts', { [field]: value });
	expect(status).toBe(201);
	expect(body.name).toBe(value);
});

test('a contact that nobody could find again is refused', async () => {
	const { post } = inProcess();
	expect(errorsOf(await post('/v1/contacts', { first_name: 'Ana' }))).toEqual({ '': 'required' });
});

test('the main address leads the list of addresses, whichever is written', async () => {
	const { post, patch } = inProcess();
	const response = await post('/v1/contacts', { email: 'one@x.example' });
	expect(response.body.emails).toEqual([entry('one@x.example', true)]);
	const path = `/v1/contacts/${response.body.id}`;

	const emails = [{ value: 'one@x.example' }, { value: 'two@x.example', primary: true }];
	const listed = await patch(path, { emails });
	expect(listed.body.email).toBe('two@x.example');
	expect(listed.body.emails).toEqual([entry('one@x.example', false), entry('two@x.example', true)]);

	const replaced = await patch(path, { email: 'three@x.example' });
	expect(replaced.body.emails).toEqual([entry('three@x.example', true), entry('one@x.example', false)]);

	// The list that was sent with it loses no entry, whichever was the primary one.
	const all = ['one@x.example', 'three@x.example', 'four@x.example'].map((value) => entry(value, value.startsWith('four')));
	const both = await patch(path, { email: 'four@x.example', emails: all });
	expect(both.body).toMatchObject({ email: 'four@x.example', emails: all });
	await patch(path, { email: 'three@x.example', emails: [entry('three@x.example', true), entry('one@x.example', false)] });

	const cleared = await patch(path, { email: null, last_name: 'x' });
	expect(cleared.body).toMatchObject({ email: null, emails: [entry('one@x.example', false)] });
});

test('an address entered twice is listed once', async () => {
	const { post } = inProcess();
	const emails = [{ value: 'a@x.example' }, { value: 'A@x.example', primary: true }];
	const { body } = await post('/v1/contacts', { emails });
	expect(body).toMatchObject({ email: 'a@x.example', emails: [entry('a@x.example', true)] });
});

test('the company of a contact must exist', async () => {
	const { post, patch, delete: remove } = inProcess();
	const contact = { last_name: 'x', company_id: 'com_00000000000000000000000000' };
	expect(errorsOf(await post('/v1/contacts', contact))).toEqual({ '/company_id': 'reference_not_found' });
	const company = await post('/v1/companies', { name: 'Altamira' });
	const { status, body } = await post('/v1/contacts', { ...contact, company_id: company.body.id });
	expect(status).toBe(201);

	// A company deleted later does not stand in the way of other changes.
	await remove(`/v1/companies/${company.body.id}`);
	expect((await patch(`/v1/contacts/${body.id}`, { first_name: 'Ana' })).status).toBe(200);
	expect((await post('/v1/contacts', { ...contact, company_id: company.body.id })).status).toBe(422);
});

test('a company cannot be its own parent', async () => {
	const { post, patch } = inProcess();
	const { body } = await post('/v1/companies', { name: 'Altamira' });
	const response = await patch(`/v1/companies/${body.id}`, { parent_company_id: body.id });
	expect(errorsOf(response)).toEqual({ '/parent_company_id': 'invalid_value' });
});

test('a duplicate of a unique value is refused with the record that has it', async () => {
	const { post, patch } = inProcess();
	const ana = await post('/v1/contacts', { email: 'ana@x.example', external_id: '1' });
	const response = await post('/v1/contacts', { email: 'ANA@x.example' });
	expect(response.status).toBe(409);
	expect(response.body).toMatchObject({ code: 'duplicate', existing_id: ana.body.id });
	expect(errorsOf(response)).toEqual({ '/email': 'duplicate' });

	const eva = await post('/v1/contacts', { email: 'eva@x.example' });
	expect((await patch(`/v1/contacts/${eva.body.id}`, { external_id: '1' })).status).toBe(409);
	expect((await patch(`/v1/contacts/${ana.body.id}`, { email: 'Ana@X.example' })).status).toBe(200);
});

const [composed, decomposed] = ['Caf\u00e9', 'Cafe\u0301'] as const;

test('texts that look the same are equal, however they are composed', async () => {
	const { post, put, get } = inProcess();
	await post('/v1/tags', { name: composed });
	expect((await post('/v1/tags', { name: decomposed })).body.code).toBe('duplicate');
	const contact = await post('/v1/contacts', { external_id: decomposed, last_name: decomposed });
	expect(contact.body).toMatchObject({ external_id: composed, last_name: composed });
	const again = await put('/v1/contacts?match_on=external_id', { external_id: decomposed });
	expect([again.status, again.body.id]).toEqual([200, contact.body.id]);
	for (const text of [composed, decomposed]) {
		const query = `external_id=${encodeURIComponent(text)}`;
		expect((await get(`/v1/contacts?${query}`)).body.total).toBe(1);
	}
});
