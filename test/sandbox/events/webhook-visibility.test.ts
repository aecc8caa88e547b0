import { type TokenSandbox, tokenSandbox } from '../harness/access-tokens.ts';
import type { Call, Json } from '../harness/in-process.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';

const scopes = ['contacts:read', 'contacts:write', 'jobs:read', 'webhooks:read', 'webhooks:write', 'events:read'];

let sandbox: TokenSandbox;
let receiver: Receiver;
let asSales: Call;
let asAccount: Call;

beforeEach(async () => {
	sandbox = tokenSandbox({ allowPrivateWebhooks: true });
	asSales = sandbox.as(sandbox.sales, scopes);
	asAccount = sandbox.send;
	receiver = await startReceiver();
});
afterEach(async () => {
	await receiver.close();
	sandbox.store.close();
});

const contactOf = async (owner_id: string | null, last_name: string): Promise<Json> =>
	(await asAccount('POST', '/v1/contacts', { owner_id, last_name })).body;
const subscribe = async (call: Call, events: string[]): Promise<Json> =>
	(await call('POST', '/v1/webhooks', { url: receiver.url, events })).body;
const names = (events: Json[]): string[] => events.map(({ data }) => data.object.last_name);

test('a user’s subscription gets only events of records that they may see', async () => {
	const { admin, sales } = sandbox;
	const { id } = await subscribe(asSales, ['contact.*']);
	const foreign = await contactOf(admin, 'foreign');
	await contactOf(null, 'free');
	await contactOf(sales, 'own');
	await asAccount('PATCH', `/v1/contacts/${foreign.id}`, { owner_id: sales });
	// It is delivered before they lose it: afterwards it would not be sent.
	await receiver.events(3);
	await asAccount('PATCH', `/v1/contacts/${foreign.id}`, { owner_id: admin, last_name: 'away' });
	await contactOf(sales, 'last');
	const events = await receiver.events(5);
	// A record that becomes visible is created for them. One that they lose is deleted, as they last saw it.
	expect(events.map(({ type, data }) => [type, data.object.last_name, data.previous])).toEqual([
		['contact.created', 'free', null],
		['contact.created', 'own', null],
		['contact.created', 'foreign', null],
		['contact.deleted', 'foreign', null],
		['contact.created', 'last', null],
	]);
	const eventsReply = await asSales('GET', '/v1/events?type=contact.*');
	expect([names(eventsReply.body.data), eventsReply.body.total]).toEqual([names(events), 5]);
	await asSales('DELETE', `/v1/webhooks/${id}`);
	const { body: next } = await asSales('POST', '/v1/webhooks', { url: receiver.url, events: ['contact.deleted'] });
	const since = new Date(0).toISOString();
	const { body } = await asSales('POST', `/v1/webhooks/${next.id}/recover`, { since });
	expect(body).toEqual({ recovered: 1 });
	expect(names(await receiver.events(6)).filter((name) => name === 'foreign')).toHaveLength(3);
});

test('an event of a record that a user may not see does not exist', async () => {
	await contactOf(sandbox.admin, 'foreign');
	const { body } = await asAccount('GET', '/v1/events?type=contact.created');
	const [event] = body.data;
	expect((await asSales('GET', `/v1/events/${event.id}`)).status).toBe(404);
	expect((await asAccount('GET', `/v1/events/${event.id}`)).status).toBe(200);
});

test('a token subscribes only to records it may read, and reads only their events', async () => {
	for (const event of ['company.created', '*']) {
		const { status, body } = await asSales('POST', '/v1/webhooks', { url: receiver.url, events: ['contact.created', event] });
		expect([status, body.code, body.scope]).toEqual([403, 'insufficient_scope', 'companies:read']);
	}
	const subscription = await subscribe(asSales, ['contact.*']);
	const changed = await asSales('PATCH', `/v1/webhooks/${subscription.id}`, { events: ['company.*'] });
	expect(changed.status).toBe(403);
	expect((await asSales('GET', `/v1/webhooks/${subscription.id}`)).body.events).toEqual(['contact.*']);
	await asAccount('POST', '/v1/companies', { name: 'x' });
	expect((await asSales('GET', '/v1/events?type=company.*')).body.total).toBe(0);
	expect((await asAccount('GET', '/v1/events?type=company.*')).body.total).toBe(1);
});
