import { errorsOf, inProcess } from '../harness/in-process.ts';

/** A contact to link to, and the required values of each record type. */
async function withContact() {
	const clock = { now: Date.parse('2026-02-03T04:05:06.000Z') };
	const sandbox = inProcess({ now: () => clock.now });
	const { id } = (await sandbox.post('/v1/contacts', { last_name: 'x' })).body;
	const links = [{ resource: 'contacts', id }];
	const least: Record<string, object> = {
		tasks: { title: 'Call', links },
		notes: { body: 'Called.', links },
		activities: { type: 'call', occurred_at: '2026-02-01T10:00:00+01:00', links },
	};
	return { ...sandbox, clock, id, links, least };
}

test.each(['tasks', 'notes', 'activities'])('the records that %s link to must exist when they are linked', async (kind) => {
	const { post, patch, least, links, id, delete: remove } = await withContact();
	const { status, body } = await post(`/v1/${kind}`, least[kind]);
	expect(status).toBe(201);
	expect(body.links).toEqual(links);
	const path = `/v1/${kind}/${body.id}`;
	const more = [...links, { resource: 'deals', id: 'dea_0' }];
	expect(errorsOf(await patch(path, { links: more }))).toEqual({ '/links/1/id': 'reference_not_found' });
	expect(errorsOf(await patch(path, { links: [{ resource: 'users', id: 'x' }] }))).toEqual({
		'/links/0/resource': 'invalid_value',
	});

	// A record deleted later does not stand in the way of other changes.
	await remove(`/v1/contacts/${id}`);
	expect((await patch(path, { links, external_id: 'e' })).status).toBe(200);
});

test('a task is completed when its status is, and only then', async () => {
	const { post, patch, clock } = await withContact();
	const { body } = await post('/v1/tasks', { title: 'x' });
	expect(body).toMatchObject({ status: 'not_started', priority: 'normal', completed_at: null });
	const path = `/v1/tasks/${body.id}`;
	const done = await patch(path, { status: 'completed' });
	expect(done.body.completed_at).toBe('2026-02-03T04:05:06.000Z');
	clock.now += 1000;
	expect((await patch(path, { title: 'y' })).body.completed_at).toBe(done.body.completed_at);
	for (const status of ['deferred', 'in_progress', 'waiting', 'not_started']) {
		expect((await patch(path, { status })).body).toMatchObject({ status, completed_at: null });
	}
	const response = await patch(path, { completed_at: '2026-01-01T00:00:00Z' });
	expect(errorsOf(response)).toEqual({ '/completed_at': 'read_only' });
});

test('a note is about a record, and has an author instead of an owner', async () => {
	const { post, get, least } = await withContact();
	expect(errorsOf(await post('/v1/notes', { body: 'x' }))).toEqual({ '/links': 'required' });
	expect(errorsOf(await post('/v1/notes', { body: 'x', links: [] }))).toEqual({ '/links': 'too_short' });
	expect(errorsOf(await post('/v1/notes', { ...least['notes'], owner_id: 'x' }))).toEqual({ '/owner_id': 'unknown_field' });
	expect(errorsOf(await post('/v1/notes', { ...least['notes'], author_id: 'x' }))).toEqual({
		'/author_id': 'reference_not_found',
	});
	const me = (await get('/v1/users/me')).body.id;
	expect((await post('/v1/notes', { ...least['notes'], author_id: me })).status).toBe(201);
});

test('a note has at most 64 KiB, however many bytes its characters need', async () => {
	const { post, least } = await withContact();
	const write = (body: string) => post('/v1/notes', { ...least['notes'], body });
	expect((await write('x'.repeat(65_536))).status).toBe(201);
	expect((await write('é'.repeat(32_768))).status).toBe(201);
	expect((await write('x'.repeat(65_537))).status).toBe(422);
	expect((await write('é'.repeat(32_769))).status).toBe(422);
});

test('an activity records its type and its time, as an instant in UTC', async () => {
	const { post, all, least } = await withContact();
	const { body } = await post('/v1/activities', least['activities']);
	expect(body.occurred_at).toBe('2026-02-01T09:00:00.000Z');
	const later = await all('/v1/activities?type=call,meeting&occurred_at[gte]=2026-02-01T09:00:00Z');
	expect(later.map(({ id }) => id)).toEqual([body.id]);
	expect(errorsOf(await post('/v1/activities', {}))).toEqual({ '/type': 'required', '/occurred_at': 'required' });
});

test.each(['tasks', 'notes', 'activities'])('%s are found by the records that they are linked to', async (kind) => {
	const { post, get, all, least, links, id } = await withContact();
	const deal = (await post('/v1/deals', { title: 'x' })).body.id;
	const make = async (more: object[]) => (await post(`/v1/${kind}`, { ...least[kind], links: more })).body.id;
	const about = { resource: 'deals', id: deal };
	const [both, contactOnly, dealOnly] = [await make([...links, about]), await make(links), await make([about])];
	const found = async (query: string) => (await all(`/v1/${kind}?limit=1&${query}`)).map((record) => record.id);
	expect(await found(`linked_to=contacts:${id}`)).toEqual([both, contactOnly]);
	expect(await found(`linked_to=contacts:${id}&sort=-created_at`)).toEqual([contactOnly, both]);
	expect(await found(`linked_to=contacts:${id},deals:${deal}`)).toEqual([both, contactOnly, dealOnly]);
	expect(await found(`linked_to=deals:${deal}&ids=${dealOnly},${contactOnly}`)).toEqual([dealOnly]);
	expect(await found(`linked_to=deals:${id}`)).toEqual([]);
	expect((await get(`/v1/${kind}?linked_to=deals:${deal}&limit=1`)).body.total).toBe(2);
	expect((await get(`/v1/${kind}?linked_to=${id}`)).body.code).toBe('invalid_parameter');
	expect((await get(`/v1/${kind}?linked_to=users:${id}`)).body.code).toBe('invalid_parameter');
});
