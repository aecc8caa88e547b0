import { errorsOf, type Json } from '../harness/in-process.ts';
import { verify } from '../harness/receiver.ts';
import { answering, isDone, seconds, startWebhookSandbox, type WebhookSandbox } from '../harness/webhook-client.ts';

let sandbox: WebhookSandbox;
beforeEach(async () => void (sandbox = await startWebhookSandbox()));
afterEach(() => sandbox.close());

test('a subscription gets its events, signed as Standard Webhooks specifies', async () => {
	const { receiver, subscribe, post, patch } = sandbox;
	const webhook = await subscribe('contact.*', 'company.deleted');
	const contact = await post('/v1/contacts', { email: 'ana@x.example' });
	await post('/v1/companies', { name: 'x' });
	await patch(`/v1/contacts/${contact.body.id}`, { first_name: 'Ana' });
	const events = await receiver.events(2);
	expect(events.map(({ type }) => type)).toEqual(['contact.created', 'contact.updated']);
	expect(events[0]!.data.object).toEqual(contact.body);
	for (const delivery of receiver.received) {
		expect(verify(delivery, webhook.secret)).toEqual(delivery.event);
		expect(delivery.headers).toMatchObject({ 'webhook-id': delivery.event.id, 'content-type': 'application/json' });
	}
});

test('every event that is sent can be read in the log, byte by byte', async () => {
	const { receiver, subscribe, happen, get } = sandbox;
	await subscribe('*');
	await happen();
	const [event] = await receiver.events(1);
	const { body } = await get(`/v1/events/${event.id}`);
	expect(JSON.stringify(body)).toBe(receiver.received[0]!.text);
});

test('the secret is shown when it is created, and only then', async () => {
	const { subscribe, get, post, patch, all } = sandbox;
	const { secret, ...webhook } = await subscribe('*');
	expect(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')).toHaveLength(32);
	expect(webhook.secret_hint).toBe(secret.slice(-4));
	const rotated = await post(`/v1/webhooks/${webhook.id}/rotate-secret`, undefined);
	expect(rotated.body.secret).not.toBe(secret);
	const responses = [
		await get(`/v1/webhooks/${webhook.id}`),
		await get('/v1/webhooks'),
		await patch(`/v1/webhooks/${webhook.id}`, { description: 'x' }),
		await all('/v1/events'),
	];
	for (const plainSecret of [secret, rotated.body.secret]) {
		expect(JSON.stringify(responses)).not.toContain(plainSecret);
	}
});

test('for a day after a rotation both secrets sign, then only the new one; older ones at no time', async () => {
	const { receiver, subscribe, post, happen, advance } = sandbox;
	const { id, secret: oldest } = await subscribe('contact.created');
	const rotate = async () => (await post(`/v1/webhooks/${id}/rotate-secret`, undefined)).body.secret as string;
	const [old, secret] = [await rotate(), await rotate()];
	await happen();
	await receiver.events(1);
	expect(verify(receiver.received[0]!, old)).toEqual(verify(receiver.received[0]!, secret));
	expect(() => verify(receiver.received[0]!, oldest)).toThrow('No matching signature');
	await advance(seconds.day);
	await happen();
	await receiver.events(2);
	expect(verify(receiver.received[1]!, secret)).toBeDefined();
	expect(() => verify(receiver.received[1]!, old)).toThrow('No matching signature');
});

test.each([
	['contact.exploded', 'These exist: contact.created, contact.updated, contact.deleted, contact.erased.'],
	['kontakt.created', 'These exist: *, contact.*, company.*'],
	['custom.ships.created', 'custom.machines.*'],
	['contact', 'contact.*'],
	['con*', 'contact.*'],
	['', 'It must not be empty.'],
])('the event "%s" is refused with the existing ones', async (event, names) => {
	const { post } = sandbox;
	const response = await post('/v1/webhooks', { url: 'https://x.example', events: ['deal.won', event] });
	expect(response.status).toBe(422);
	expect(Object.keys(errorsOf(response))).toEqual(['/events/1']);
	expect(response.body.errors[0].detail).toContain(names);
});

test.each([
	[{ url: 'https://x.example' }, { '/events': 'required' }],
	[{ url: 'ftp://x.example', events: ['*'] }, { '/url': 'invalid_format' }],
	[{ url: 'https://x.example', events: [] }, { '/events': 'too_short' }],
	[{ url: 'https://x.example', events: ['*'], status: 'disabled' }, { '/status': 'invalid_value' }],
	[{ url: 'https://x.example', events: ['*'], secret: 'x' }, { '/secret': 'unknown_field' }],
])('%j is refused', async (body, errors) => {
	const response = await sandbox.post('/v1/webhooks', body);
	expect([response.status, errorsOf(response)]).toEqual([422, errors]);
	expect((await sandbox.get('/v1/webhooks')).body.total).toBe(0);
	expect((await sandbox.get('/v1/events')).body.total).toBe(0);
});

test('subscriptions are found by their address, changed, and deleted', async () => {
	const { subscribe, post, get, patch, delete: remove, receiver, happen } = sandbox;
	const { id } = await subscribe('company.created');
	await post('/v1/webhooks', { url: 'https://x.example', events: ['*'], status: 'paused' });
	const found = await get(`/v1/webhooks?url=${encodeURIComponent(receiver.url)}`);
	expect(found.body).toMatchObject({ total: 1, data: [{ id, status: 'active' }] });
	await patch(`/v1/webhooks/${id}`, { events: ['contact.created'] });
	await happen('before');
	await receiver.events(1);
	expect((await remove(`/v1/webhooks/${id}`)).status).toBe(204);
	expect((await get(`/v1/webhooks/${id}`)).status).toBe(404);
	await happen('after');
	const next = await subscribe('contact.created');
	await happen('later');
	const events = await receiver.events(2);
	expect(events.map(({ data }) => data.object.last_name)).toEqual(['before', 'later']);
	expect(next.id).not.toBe(id);
});

test('a test is sent immediately, even while paused, and returns its result', async () => {
	const { receiver, subscribe, patch, post } = sandbox;
	const { id, secret } = await subscribe('deal.won');
	await patch(`/v1/webhooks/${id}`, { status: 'paused' });
	const { status, body } = await post(`/v1/webhooks/${id}/test`, undefined);
	expect(status).toBe(200);
	expect(body).toMatchObject({
		status: 'succeeded',
		event_type: 'webhook.test',
		attempts: [{ response_status: 204, error: null, duration_ms: expect.any(Number) }],
	});
	expect(verify(receiver.received[0]!, secret)).toMatchObject({
		type: 'webhook.test',
		data: { object: { id, status: 'paused' } },
	});
	receiver.answer = answering(500);
	const failed = await post(`/v1/webhooks/${id}/test`, undefined);
	expect(failed.body).toMatchObject({
		status: 'failed',
		next_attempt_at: null,
		attempts: [{ response_status: 500, error: 'The receiver responded with 500.' }],
	});
});

test('a subscription gets no events about itself, but another one does', async () => {
	const { receiver, subscribe, patch, deliveries } = sandbox;
	const first = await subscribe('*');
	const second = await subscribe('webhook.*');
	await patch(`/v1/webhooks/${first.id}`, { description: 'x' });
	const [updated] = await deliveries(second.id, isDone);
	expect(updated.event_type).toBe('webhook.updated');
	const about = (await receiver.events(2)).map(({ type, data }: Json) => [type, data.object.id]);
	expect(about).toEqual(expect.arrayContaining([['webhook.created', second.id], ['webhook.updated', first.id]]));
});

test('a subscription to a deleted object can still be changed', async () => {
	const { subscribe, post, patch, delete: remove } = sandbox;
	const names = { label_singular: 'Ship', label_plural: 'Ships', primary_field: 'name' };
	const ships = await post('/v1/custom-objects', { key: 'ships', ...names });
	const { id } = await subscribe('custom.ships.*');
	await remove(`/v1/custom-objects/${ships.body.id}`);
	const paused = await patch(`/v1/webhooks/${id}`, { status: 'paused' });
	expect(paused.body).toMatchObject({ status: 'paused', events: ['custom.ships.*'] });
	const again = await post('/v1/webhooks', { url: 'https://x.example', events: ['custom.ships.*'] });
	expect(again.status).toBe(422);
});

test('a test with an idempotency key is sent once', async () => {
	const { receiver, subscribe, post } = sandbox;
	const { id } = await subscribe('contact.*');
	const test = () => post(`/v1/webhooks/${id}/test`, undefined, { 'Idempotency-Key': 'test' });
	const first = await test();
	const again = await test();
	expect(first.body).toMatchObject({ status: 'succeeded', attempts: [{ response_status: 204 }] });
	expect([again.status, again.body]).toEqual([200, first.body]);
	expect(again.headers.get('Idempotent-Replayed')).toBe('true');
	expect(receiver.received).toHaveLength(1);
});
