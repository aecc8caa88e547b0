import type { Json } from '../harness/in-process.ts';
import { startReceiver } from '../harness/receiver.ts';
import { answering, hasTried, isDone, seconds, startWebhookSandbox, type WebhookSandbox } from '../harness/webhook-client.ts';

const { hour, day } = seconds;

let sandbox: WebhookSandbox;
beforeEach(async () => void (sandbox = await startWebhookSandbox()));
afterEach(() => sandbox.close());

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
