import { errorsOf, inProcess } from '../harness/in-process.ts';

test('an API key acts for the owner of the account', async () => {
	const { get } = inProcess();
	const { status, headers, body } = await get('/v1/users/me');
	expect(status).toBe(200);
	expect(body).toMatchObject({ object: 'user', role: 'owner', status: 'active' });
	expect(headers.get('ETag')).toBe(`"${body.version}"`);
	expect((await get(`/v1/users/${body.id}`)).body).toEqual(body);
	expect(errorsOf(await get('/v1/users/me?fields=name'))).toEqual({ fields: 'unknown_parameter' });
});

test('the account keeps an active owner, whatever the requests', async () => {
	const { get, patch, post, delete: remove } = inProcess();
	const { body: owner } = await get('/v1/users/me');
	const path = `/v1/users/${owner.id}`;
	expect(errorsOf(await patch(path, { role: 'member' }))).toEqual({ '/role': 'forbidden' });
	expect(errorsOf(await patch(path, { status: 'invited' }))).toEqual({ '/status': 'forbidden' });
	expect((await remove(path)).body.code).toBe('in_use');
	await post('/v1/users', { email: 'next@x.example', role: 'owner', status: 'active' });
	expect((await remove(path)).status).toBe(204);
	expect((await get('/v1/users/me')).body.email).toBe('next@x.example');
});

test('a user is displayed by name, otherwise by email address', async () => {
	const { post, patch } = inProcess();
	const { status, body } = await post('/v1/users', { email: 'New@X.example' });
	expect(status).toBe(201);
	expect(body).toMatchObject({ name: 'new@x.example', role: 'member', status: 'invited' });
	const named = await patch(`/v1/users/${body.id}`, { first_name: 'Nia', last_name: 'Okoro' });
	expect(named.body.name).toBe('Nia Okoro');
	expect((await post('/v1/users', { email: 'new@x.example' })).body.code).toBe('duplicate');
	expect(errorsOf(await post('/v1/users', {}))).toEqual({ '/email': 'required' });
});

test('deleting a user deactivates them, and records still refer to them', async () => {
	const { post, get, patch, delete: remove } = inProcess();
	const user = await post('/v1/users', { email: 'a@x.example', status: 'active' });
	const path = `/v1/users/${user.body.id}`;
	const contact = await post('/v1/contacts', { last_name: 'x', owner_id: user.body.id });
	expect((await remove(path)).status).toBe(204);
	expect((await get(path)).body).toMatchObject({ status: 'deactivated', deleted_at: null, version: 2 });
	const again = await patch(`/v1/contacts/${contact.body.id}`, { owner_id: user.body.id });
	expect(again.status).toBe(200);
	expect((await patch(path, { status: 'active' })).body.status).toBe('active');
});
