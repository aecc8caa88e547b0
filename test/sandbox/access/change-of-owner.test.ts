import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import type { Json } from '../harness/in-process.ts';

let sandbox: TokenSandbox;
let other: string;
beforeEach(async () => {
	sandbox = tokenSandbox();
	other = await sandbox.newUser('member');
});

const scopes = ['deals:read', 'events:read', 'contacts:read'];
const eventsFor = async (user: string): Promise<Json[]> =>
	(await sandbox.as(user, scopes)('GET', '/v1/events?limit=500')).body.data;
const types = (events: Json[]): string[] => events.map(({ type }) => type);

test('the former owner gets a deletion, the new one a creation', async () => {
	const { sales, post, patch } = sandbox;
	const { body: deal } = await post('/v1/deals', { title: 'Before', owner_id: sales });
	await patch(`/v1/deals/${deal.id}`, { amount: 7, currency: 'EUR' });
	await patch(`/v1/deals/${deal.id}`, { title: 'After', owner_id: other });
	await patch(`/v1/deals/${deal.id}`, { amount: 8 });

	const former = await eventsFor(sales);
	expect(types(former)).toEqual(['deal.created', 'deal.updated', 'deal.deleted']);
	expect(former.at(-1)!.data).toMatchObject({
		object: { id: deal.id, title: 'Before', owner_id: sales, version: 3 },
		previous: null,
		changed: [],
	});
	expect(former.at(-1)!.data.object.deleted_at).toBe(former.at(-1)!.timestamp);

	const next = await eventsFor(other);
	expect(types(next)).toEqual(['deal.created', 'deal.updated']);
	expect(next[0]!.data).toMatchObject({
		object: { id: deal.id, title: 'After', owner_id: other, version: 3, deleted_at: null },
		previous: null,
		changed: [],
	});
	expect(next[1]!.data.previous).toEqual({ amount: 7 });
	expect(JSON.stringify(next)).not.toContain('Before');
});

test('in the account’s log, the record is changed, neither created nor deleted', async () => {
	const { admin, sales, get, as, post, patch } = sandbox;
	const { body: deal } = await post('/v1/deals', { title: 'x', owner_id: sales });
	await patch(`/v1/deals/${deal.id}`, { owner_id: other });
	const expected = ['deal.created', 'deal.updated'];
	expect(types((await get('/v1/events?type=deal.*')).body.data)).toEqual(expected);
	const asAdmin = await as(admin, scopes)('GET', '/v1/events?type=deal.*');
	expect([types(asAdmin.body.data), asAdmin.body.total]).toEqual([expected, 2]);
	expect(asAdmin.body.data[1].data.previous).toEqual({ owner_id: sales });
});

test('a record that loses its owner is created for everyone but the former owner, and the reverse', async () => {
	const { sales, post, patch } = sandbox;
	const { body: deal } = await post('/v1/deals', { title: 'x', owner_id: sales });
	await patch(`/v1/deals/${deal.id}`, { owner_id: null });
	expect(types(await eventsFor(sales))).toEqual(['deal.created', 'deal.updated']);
	expect(types(await eventsFor(other))).toEqual(['deal.created']);
	await patch(`/v1/deals/${deal.id}`, { owner_id: sales });
	expect(types(await eventsFor(sales))).toEqual(['deal.created', 'deal.updated', 'deal.updated']);
	expect(types(await eventsFor(other))).toEqual(['deal.created', 'deal.deleted']);
});

test('other changes in the same write reach the new owner without the former values', async () => {
	const { sales, get, post, patch } = sandbox;
	const { body: deal } = await post('/v1/deals', { title: 'Before', owner_id: sales });
	const { body: pipeline } = await get(`/v1/pipelines/${deal.pipeline_id}`);
	const won = pipeline.stages.find(({ kind }: Json) => kind === 'won').id;
	await patch(`/v1/deals/${deal.id}`, { title: 'After', stage_id: won, owner_id: other });
	const events = await eventsFor(other);
	expect(types(events)).toEqual(['deal.created', 'deal.stage_changed', 'deal.won']);
	for (const { data } of events) expect(data).toMatchObject({ previous: null, changed: [] });
	expect(types(await eventsFor(sales))).toEqual(['deal.created', 'deal.deleted']);
});

test('messages that a user sees only through a contact go with it, and come with it', async () => {
	const { sales, admin, post, patch } = sandbox;
	const { body: contact } = await post('/v1/contacts', { last_name: 'x', owner_id: sales });
	const message = { channel: 'other', direction: 'inbound', to: ['x'], text: 'x', contact_id: contact.id };
	await post('/v1/messages', message);
	await post('/v1/messages', { ...message, user_id: sales });
	await patch(`/v1/contacts/${contact.id}`, { owner_id: admin });
	const call = sandbox.as(sales, [...scopes, 'messages:read']);
	const seen = async (query: string) => types((await call('GET', `/v1/events?${query}`)).body.data);
	expect(await seen('type=contact.deleted,message.deleted')).toEqual(['contact.deleted', 'message.deleted']);
	await patch(`/v1/contacts/${contact.id}`, { owner_id: sales });
	expect(await seen('type=message.created')).toHaveLength(3);
	expect(await seen('type=contact.created')).toHaveLength(2);
});
