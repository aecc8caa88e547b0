import { inProcess } from '../harness/in-process.ts';

test('contacts without a version respond as those with one, and the description calls them deprecated', async () => {
	const { get } = inProcess({ contacts: 20 });
	expect((await get('/contacts?limit=5')).body).toEqual((await get('/v1/contacts?limit=5')).body);
	const { paths } = (await get('/openapi.json')).body;
	expect([paths['/contacts'].get.deprecated, paths['/v1/contacts'].get.deprecated]).toEqual([true, undefined]);
});
