import { hasTags } from '../../../sandbox/core/schemas/tags.ts';
import { resources } from '../../../sandbox/core/schemas/index.ts';
import { errorsOf, inProcess } from '../harness/in-process.ts';

/** A contact and a tag that it does not have yet. */
async function contactAndTag() {
	const sandbox = inProcess();
	const contact = (await sandbox.post('/v1/contacts', { last_name: 'x' })).body;
	const tag = (await sandbox.post('/v1/tags', { name: 'Fresh', color: '#2F80ED' })).body;
	const usage = async () => (await sandbox.get(`/v1/tags/${tag.id}`)).body.usage;
	return { ...sandbox, contact, tag, usage, path: `/v1/contacts/${contact.id}/tags/${tag.id}` };
}

test('a tag is added to a record and removed again, and repeating either changes nothing', async () => {
	const { send, tag, path, delete: remove } = await contactAndTag();
	const put = await send('PUT', path);
	expect(put.status).toBe(200);
	expect(put.body).toMatchObject({ object: 'contact', tag_ids: [tag.id], version: 2 });
	expect(put.headers.get('ETag')).toBe('"2"');
	expect((await send('PUT', path)).body).toEqual(put.body);
	const off = await remove(path);
	expect(off.body).toMatchObject({ tag_ids: [], version: 3 });
	expect((await remove(path)).body).toEqual(off.body);
});

test('record and tag must exist', async () => {
	const { send, contact, tag } = await contactAndTag();
	expect((await send('PUT', `/v1/contacts/${contact.id}/tags/tag_0`)).status).toBe(404);
	expect((await send('PUT', `/v1/contacts/con_0/tags/${tag.id}`)).status).toBe(404);
	expect((await send('PUT', `/v1/users/usr_0/tags/${tag.id}`)).status).toBe(404);
});

test('usage counts the records with the tag, however they got it, and creates no new version', async () => {
	const { get, post, patch, tag, contact, usage, delete: remove } = await contactAndTag();
	const company = await post('/v1/companies', { name: 'x', tag_ids: [tag.id] });
	expect(await usage()).toBe(1);
	await patch(`/v1/contacts/${contact.id}`, { tag_ids: [tag.id, tag.id] });
	expect(await usage()).toBe(2);
	await patch(`/v1/contacts/${contact.id}`, { first_name: 'Ana' });
	expect(await usage()).toBe(2);
	await patch(`/v1/contacts/${contact.id}`, { tag_ids: null });
	expect(await usage()).toBe(1);
	await remove(`/v1/companies/${company.body.id}`);
	expect((await get(`/v1/tags/${tag.id}`)).body).toEqual(tag);
	expect(errorsOf(await patch(`/v1/tags/${tag.id}`, { usage: 3 }))).toEqual({ '/usage': 'read_only' });
});

test('a tag that records have cannot be deleted', async () => {
	const { send, path, tag, delete: remove } = await contactAndTag();
	await send('PUT', path);
	const refused = await remove(`/v1/tags/${tag.id}`);
	expect(refused.status).toBe(409);
	expect(refused.body.code).toBe('in_use');
	await remove(path);
	expect((await remove(`/v1/tags/${tag.id}`)).status).toBe(204);
	expect((await send('PUT', path)).status).toBe(404);
});

test('a tag has a unique name and a color', async () => {
	const { post, put, tag } = await contactAndTag();
	expect(tag.color).toBe('#2f80ed');
	expect((await post('/v1/tags', { name: 'Fresh' })).body.existing_id).toBe(tag.id);
	expect(errorsOf(await post('/v1/tags', { name: 'x', color: 'red' }))).toEqual({ '/color': 'invalid_format' });
	const upserted = await put('/v1/tags?match_on=name', { name: 'Fresh', description: 'New here.' });
	expect(upserted.body).toMatchObject({ id: tag.id, description: 'New here.' });
});

test('the tags of the generated data are counted', async () => {
	const { all } = inProcess({ contacts: 100 });
	const records = (
		await Promise.all([
			...resources.filter(hasTags).map(({ name }) => all(`/v1/${name}`)),
			all('/v1/custom-objects/machines/records'),
		])
	).flat();
	for (const { id, usage } of await all('/v1/tags')) {
		expect(usage).toBe(records.filter(({ tag_ids: ids }) => ids.includes(id)).length);
		expect(usage).toBeGreaterThan(0);
	}
});
