import { inProcess } from '../harness/in-process.ts';

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

test('values of custom fields that look the same are equal', async () => {
	const { post, get } = inProcess();
	const field = { resource: 'contacts', key: 'place', label: 'x', type: 'text', unique: true };
	const options = [{ value: composed, label: composed }];
	await post('/v1/custom-fields', field);
	await post('/v1/custom-fields', { ...field, key: 'kind', type: 'select', unique: false, options });
	const contact = (place: string) =>
		post('/v1/contacts', { last_name: 'x', custom_fields: { place, kind: decomposed } });
	expect((await contact(composed)).body.custom_fields).toMatchObject({ kind: composed });
	expect((await contact(decomposed)).body.code).toBe('duplicate');
	const query = `custom_fields.place=${encodeURIComponent(decomposed)}`;
	expect((await get(`/v1/contacts?${query}`)).body.total).toBe(1);
});
