import { errorsOf, inProcess } from '../harness/in-process.ts';

const ana = {
	first_name: 'Ana',
	last_name: 'Moreno',
	address: { city: 'Madrid', country: 'ES' },
	custom_fields: { vip: true, nps_score: 9 },
};

async function created() {
	const sandbox = inProcess();
	const [firstTag, secondTag, thirdTag] = (await sandbox.all('/v1/tags')).map(({ id }) => id);
	const { body } = await sandbox.post('/v1/contacts', { ...ana, tag_ids: [firstTag, secondTag] });
	const path = `/v1/contacts/${body.id}`;
	return { ...sandbox, path, thirdTag, change: (patch: unknown) => sandbox.patch(path, patch) };
}

test('fields left out stay, null clears', async () => {
	const { change } = await created();
	const { status, body } = await change({ first_name: null });
	expect(status).toBe(200);
	expect(body).toMatchObject({ ...ana, first_name: null, name: 'Moreno', version: 2 });
});

test('objects merge, and null clears a member or all of them', async () => {
	const { change } = await created();
	const { body } = await change({ address: { city: null, street: 'Gran Vía 1' } });
	expect(body.address).toMatchObject({ street: 'Gran Vía 1', city: null, country: 'ES' });
	expect((await change({ address: null })).body.address).toBeNull();
});

test('lists are replaced completely, and null empties a list', async () => {
	const { change, thirdTag } = await created();
	expect((await change({ tag_ids: [thirdTag] })).body.tag_ids).toEqual([thirdTag]);
	expect((await change({ tag_ids: null })).body.tag_ids).toEqual([]);
});

test('custom fields merge by key, and null clears one or all of them', async () => {
	const { change } = await created();
	const merged = await change({ custom_fields: { nps_score: null, contract_tier: 'gold' } });
	expect(merged.body.custom_fields).toEqual({ vip: true, contract_tier: 'gold' });
	expect((await change({ custom_fields: null })).body.custom_fields).toEqual({});
});

test('a required field cannot be cleared', async () => {
	const { post, patch } = inProcess();
	const { body } = await post('/v1/companies', { name: 'Altamira' });
	const response = await patch(`/v1/companies/${body.id}`, { name: null });
	expect(errorsOf(response)).toEqual({ '/name': 'required' });
});

test('a change that a rule forbids is refused, and nothing is changed', async () => {
	const { change, get, path } = await created();
	const response = await change({ first_name: 'Eva', last_name: null });
	expect(response.body.errors[0].detail).toContain('at least one of email, phone, last_name');
	expect((await get(path)).body).toMatchObject({ first_name: 'Ana', version: 1 });
});

test('a change to the same values creates no new version', async () => {
	const { change } = await created();
	const { body } = await change({ first_name: 'Ana', address: { city: 'Madrid' } });
	expect(body).toMatchObject({ version: 1, updated_at: body.created_at });
});
