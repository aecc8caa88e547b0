import { errorsOf, type Json } from '../harness/in-process.ts';
import { startReceiver } from '../harness/receiver.ts';
import { answering, hasTried, isDone, seconds, startWebhookSandbox, type WebhookSandbox } from '../harness/webhook-client.ts';

const { minute, hour, day } = seconds;
let sandbox: WebhookSandbox;
beforeEach(async () => void (sandbox = await startWebhookSandbox()));
afterEach(() => sandbox.close());

test('a failed delivery is retried after longer and longer waits, then given up', async () => {
	const { receiver, subscribe, happen, advance, deliveries } = sandbox;
	receiver.answer = answering(500);
	const { id } = await subscribe('contact.created');
	await happen();
	const waits = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, day];
	for (const [i, wait] of waits.entries()) {
		const [delivery] = await deliveries(id, hasTried(i + 1));
		const { started_at: startedAt } = delivery.attempts.at(-1);
		const seconds = (Date.parse(delivery.next_attempt_at) - Date.parse(startedAt)) / 1000;
		expect(seconds).toBeGreaterThanOrEqual(wait * 0.9);
		expect(seconds).toBeLessThan(wait * 1.1 + 60);
		await advance(wait * 1.1);
	}
	const [delivery] = await deliveries(id, hasTried(10));
	expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null });
	expect(delivery.attempts[0]).toMatchObject({ response_status: 500, error: 'The receiver responded with 500.' });
	expect(new Set(receiver.received.map(({ text }) => text)).size).toBe(1);
	expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

test('a delivery that finally succeeds no longer counts as failing', async () => {
	const { receiver, firstAttempt, advance, deliveries, webhook } = sandbox;
	const { id } = await firstAttempt(answering(503));
	expect(await webhook(id)).toMatchObject({ last_success_at: null, failing_since: expect.any(String) });
	receiver.answer = answering(200);
	await advance(6);
	const [delivery] = await deliveries(id, isDone);
	expect(delivery.attempts).toHaveLength(2);
	expect(await webhook(id)).toMatchObject({ failing_since: null, version: 1 });
	expect((await webhook(id)).last_success_at >= delivery.attempts[1].started_at).toBe(true);
});

test.each(['seconds', 'date'])('a receiver that names a time to retry (%s) gets nothing sooner', async (how) => {
	const { delivery } = await sandbox.firstAttempt((_request, response) => {
		const retryAfter = how === 'date' ? new Date(Date.now() + 120_000).toUTCString() : '120';
		response.writeHead(429, { 'Retry-After': retryAfter }).end();
	});
	const wait = Date.parse(delivery.next_attempt_at) - Date.parse(delivery.attempts[0].started_at);
	expect(wait / 1000).toBeGreaterThan(60);
	expect(wait / 1000).toBeLessThan(180);
});

test('a redirect is not followed', async () => {
	const elsewhere = await startReceiver();
	const { delivery } = await sandbox.firstAttempt(answering(307, { Location: elsewhere.url }));
	await elsewhere.close();
	expect(elsewhere.received).toEqual([]);
	expect(delivery).toMatchObject({ status: 'pending' });
	expect(delivery.attempts[0].error).toContain('redirects (307)');
});

test('a receiver that does not exist is named in the delivery', async () => {
	const { post, happen, deliveries } = sandbox;
	const url = 'http://127.0.0.1:1/hook';
	const { body } = await post('/v1/webhooks', { url, events: ['contact.created'] });
	await happen();
	const [delivery] = await deliveries(body.id, hasTried(1));
	expect(delivery.attempts[0]).toMatchObject({ response_status: null });
	expect(delivery.attempts[0].error).toBe('The receiver cannot be reached (ECONNREFUSED).');
});

test('a slow receiver gets ten at a time and delays no other', async () => {
	const { receiver, subscribe, happen, deliveries } = sandbox;
	const waiting: Array<() => void> = [];
	receiver.answer = (_request, response) => void waiting.push(() => response.writeHead(200).end());
	const slow = await subscribe('contact.created');
	const quick = await startReceiver();
	await sandbox.post('/v1/webhooks', { url: quick.url, events: ['contact.created'] });
	for (let i = 0; i < 25; i++) await happen(`${i}`);
	await quick.events(25);
	await quick.close();
	await receiver.events(10);
	expect([waiting.length, receiver.received.length]).toEqual([10, 10]);
	receiver.answer = answering(200);
	for (const answer of waiting) answer();
	expect(await deliveries(slow.id, isDone)).toHaveLength(25);
});

test('a delivery can be read, and retried on request', async () => {
	const { receiver, subscribe, happen, deliveries, get, post, patch } = sandbox;
	receiver.answer = answering(500);
	const { id } = await subscribe('contact.created');
	await happen();
	await happen();
	const [first] = await deliveries(id, hasTried(1));
	const path = `/v1/webhooks/${id}/deliveries`;
	expect((await get(`${path}/${first.id}`)).body).toEqual(first);
	const page = (await get(`${path}?limit=1&status=pending,failed`)).body;
	expect(page).toMatchObject({ total: 2, next_cursor: expect.any(String) });
	const next = await get(`${path}?limit=1&status=pending,failed&cursor=${page.next_cursor}`);
	expect(next.body).toEqual({ data: [first], next_cursor: null, total: 2 });
	expect((await get(`${path}?status=lost`)).body.code).toBe('invalid_parameter');
	receiver.answer = answering(200);
	const retried = await post(`${path}/${first.id}/retry`, undefined);
	expect([retried.status, retried.body.status]).toEqual([202, 'pending']);
	await receiver.events(3);
	const isThere = (delivery: Json) => delivery.id !== first.id || isDone(delivery);
	expect(await deliveries(id, isThere)).toHaveLength(2);
	await patch(`/v1/webhooks/${id}`, { status: 'paused' });
	const refused = await post(`${path}/${first.id}/retry`, undefined);
	expect([refused.status, refused.body.code]).toEqual([409, 'webhook_not_active']);
	expect((await get(`${path}/dlv_x`)).status).toBe(404);
});

test('events caused by time alone are delivered without a request', async () => {
	const { receiver, subscribe, post, advance } = sandbox;
	await subscribe('message.*');
	const message = { channel: 'email', direction: 'outbound', to: ['a@x.example'], text: 'x' };
	await post('/v1/messages', message);
	await receiver.events(1);
	await advance(60);
	const types = (await receiver.events(6)).map(({ type }) => type);
	expect(types).toEqual(expect.arrayContaining(['message.sent', 'message.delivered']));
});

test('410 disables a subscription immediately, and this is reported as an event', async () => {
	const { receiver, subscribe, happen, deliveries, webhook, patch } = sandbox;
	receiver.answer = answering(410);
	const { id } = await subscribe('contact.created');
	const watch = await startReceiver();
	await sandbox.post('/v1/webhooks', { url: watch.url, events: ['webhook.disabled'] });
	await happen();
	const [event] = await watch.events(1);
	await watch.close();
	expect(event).toMatchObject({
		actor: { type: 'system' },
		data: { object: { id, status: 'disabled', disabled_reason: 'gone' } },
	});
	const [delivery] = await deliveries(id, hasTried(1));
	expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null });
	receiver.answer = answering(200);
	await happen('not sent');
	const enabled = await patch(`/v1/webhooks/${id}`, { status: 'active' });
	expect(enabled.body).toMatchObject({ status: 'active', disabled_reason: null, failing_since: null });
	await happen('sent');
	const events = await receiver.events(2);
	expect(events.at(-1).data.object.last_name).toBe('sent');
	expect((await webhook(id)).disabled_reason).toBeNull();
});

test('five days of failure disable it, and give up pending attempts', async () => {
	const { firstAttempt, happen, advance, deliveries, webhook } = sandbox;
	const { id } = await firstAttempt(answering(500));
	await advance(5 * day - hour);
	await deliveries(id, hasTried(2));
	expect(await webhook(id)).toMatchObject({ status: 'active' });
	await happen();
	await deliveries(id, ({ attempts }: Json) => attempts.length > 0);
	await advance(hour);
	const failedDeliveries = await deliveries(id, ({ status }: Json) => status === 'failed');
	expect(failedDeliveries).toHaveLength(2);
	expect(await webhook(id)).toMatchObject({ status: 'disabled', disabled_reason: 'failures' });
});

test('while paused nothing is sent; queued events wait', async () => {
	const { receiver, firstAttempt, happen, advance, deliveries, patch } = sandbox;
	const { id } = await firstAttempt(answering(500));
	await patch(`/v1/webhooks/${id}`, { status: 'paused' });
	receiver.answer = answering(200);
	await happen('missed');
	await advance(hour);
	await patch(`/v1/webhooks/${id}`, { status: 'active' });
	const [delivery, ...others] = await deliveries(id, isDone);
	expect([delivery.attempts.length, others]).toEqual([2, []]);
});

test('queued events of types that a webhook no longer subscribes to are not sent, not even manually', async () => {
	const { receiver, firstAttempt, advance, deliveries, patch, post } = sandbox;
	const { id } = await firstAttempt(answering(500), 'company.created');
	await post('/v1/companies', { name: 'x' });
	await deliveries(id, ({ attempts }: Json) => attempts.length > 0);
	await patch(`/v1/webhooks/${id}`, { events: ['company.*'] });
	receiver.answer = answering(200);
	receiver.received.length = 0;
	await advance(60);
	const [contact, company] = await deliveries(id, ({ status }: Json) => status !== 'pending');
	expect([contact.status, company.status]).toEqual(['failed', 'succeeded']);
	expect(contact.attempts.at(-1).error).toBe('Not sent. The webhook no longer subscribes to contact.created.');
	await post(`/v1/webhooks/${id}/deliveries/${contact.id}/retry`, undefined);
	await deliveries(id, ({ status, attempts }: Json) => status !== 'pending' && (status === 'succeeded' || attempts.length > 2));
	expect(receiver.received.map(({ event }) => event.type)).toEqual(['company.created']);
	// A test is delivered whatever the subscription, also when it is retried by hand.
	const { body: test } = await post(`/v1/webhooks/${id}/test`, undefined);
	await post(`/v1/webhooks/${id}/deliveries/${test.id}/retry`, undefined);
	await receiver.events(3);
});

const inSeconds = (s: number): string => new Date(Date.now() + s * 1000).toISOString();

test('a webhook with a filter gets only events of the records in it, also when it recovers missed events', async () => {
	const { receiver, happen, post, patch, deliveries } = sandbox;
	const [ana, eva] = [await happen('Ana'), await happen('Eva')];
	const { status, body } = await post('/v1/webhooks', {
		url: receiver.url,
		events: ['contact.updated'],
		filter: { ids: [ana.id] },
	});
	expect([status, body.filter]).toEqual([201, { ids: [ana.id] }]);
	const change = async (job: string) => {
		for (const { id } of [eva, ana]) await patch(`/v1/contacts/${id}`, { job_title: job });
	};
	await change('first');
	await deliveries(body.id, isDone);
	await patch(`/v1/webhooks/${body.id}`, { status: 'paused' });
	await change('second');
	await patch(`/v1/webhooks/${body.id}`, { status: 'active' });
	expect((await post(`/v1/webhooks/${body.id}/recover`, { since: new Date(0).toISOString() })).body).toEqual({ recovered: 1 });
	await deliveries(body.id, isDone);
	expect(receiver.received.map(({ event }) => event.data.object)).toMatchObject([
		{ id: ana.id, job_title: 'first' },
		{ id: ana.id, job_title: 'second' },
	]);
	expect((await post(`/v1/webhooks/${body.id}/test`, {})).body.status).toBe('succeeded');
});

test('a filter names 1 to 500 records', async () => {
	const make = (ids: string[]) => sandbox.post('/v1/webhooks', { url: 'https://x.example', events: ['*'], filter: { ids } });
	expect(errorsOf(await make([]))).toEqual({ '/filter/ids': 'too_short' });
	expect((await make(Array(500).fill('con_0'))).status).toBe(201);
	expect(errorsOf(await make(Array(501).fill('con_0')))).toEqual({ '/filter/ids': 'too_long' });
});

test('a webhook is deleted when it expires, unless the time is renewed', async () => {
	const { receiver, post, patch, get, advance, all } = sandbox;
	const make = async () =>
		(await post('/v1/webhooks', { url: receiver.url, events: ['*'], expires_at: inSeconds(seconds.hour) })).body;
	const [ended, renewed] = [await make(), await make()];
	await patch(`/v1/webhooks/${renewed.id}`, { expires_at: inSeconds(2 * seconds.hour) });
	await advance(seconds.hour + 1);
	expect((await get(`/v1/webhooks/${ended.id}`)).status).toBe(404);
	expect((await get(`/v1/webhooks/${renewed.id}`)).status).toBe(200);
	expect(await all('/v1/events?type=webhook.deleted')).toMatchObject([{ actor: { type: 'system' }, data: { object: { id: ended.id } } }]);
	const past = await patch(`/v1/webhooks/${renewed.id}`, { expires_at: inSeconds(seconds.hour) });
	expect(errorsOf(past)).toEqual({ '/expires_at': 'invalid_value' });
});
