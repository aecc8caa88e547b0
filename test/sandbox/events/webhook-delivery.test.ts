import type { Json } from '../harness/in-process.ts';
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
