import { newDatabase } from '../harness/databases.ts';
import type { Json } from '../harness/in-process.ts';
import { startKillable } from '../harness/killable-sandbox.ts';
import { startReceiver, verify } from '../harness/receiver.ts';
import { answering, hasTried, isDone, seconds, startWebhookSandbox, type WebhookSandbox } from '../harness/webhook-client.ts';

let sandbox: WebhookSandbox;
beforeEach(async () => void (sandbox = await startWebhookSandbox()));
afterEach(() => sandbox.close());

const names = (events: Json[]): string[] => events.map(({ data }) => data.object.last_name);

test('missed events are recovered in sequence, delivered events are not sent again', async () => {
	const { receiver, subscribe, happen, advance, deliveries, patch, post } = sandbox;
	await happen('too early');
	await advance(60);
	const since = new Date(Date.now() + 30_000).toISOString();
	await happen('before it was there');
	const { id } = await subscribe('contact.created');
	await happen('arrived');
	await deliveries(id, isDone);
	receiver.answer = answering(500);
	await happen('given up');
	await deliveries(id, ({ attempts }: Json) => attempts.length > 0);
	await advance(5 * seconds.day);
	await deliveries(id, ({ status }: Json) => status !== 'pending');
	await happen('while disabled');
	await patch(`/v1/webhooks/${id}`, { status: 'paused' });
	await happen('while paused');
	const path = `/v1/webhooks/${id}/recover`;
	expect((await post(path, { since })).body.code).toBe('webhook_not_active');
	await patch(`/v1/webhooks/${id}`, { status: 'active' });
	receiver.answer = answering(200);
	receiver.received.length = 0;
	const { status, body } = await post(path, { since });
	expect([status, body]).toEqual([202, { recovered: 4 }]);
	await receiver.events(4);
	await deliveries(id, isDone);
	expect(names(receiver.received.map(({ event }) => event))).toEqual([
		'before it was there',
		'given up',
		'while disabled',
		'while paused',
	]);
	expect((await post(path, { since })).body).toEqual({ recovered: 0 });
	expect((await post(path, {})).status).toBe(422);
});

test('recovered events arrive one by one, in sequence', async () => {
	const { receiver, subscribe, happen, deliveries, post } = sandbox;
	const since = new Date(0).toISOString();
	for (let i = 0; i < 30; i++) await happen(`${i}`);
	let open = 0;
	let maxOpen = 0;
	receiver.answer = (_request, response) => {
		maxOpen = Math.max(maxOpen, ++open);
		setImmediate(() => {
			open -= 1;
			response.writeHead(200).end();
		});
	};
	const { id } = await subscribe('contact.created');
	expect((await post(`/v1/webhooks/${id}/recover`, { since })).body).toEqual({ recovered: 30 });
	await deliveries(id, isDone);
	const expected = Array.from({ length: 30 }, (_, i) => `${i}`);
	expect(names(receiver.received.map(({ event }) => event))).toEqual(expected);
	expect(maxOpen).toBe(1);
});

test('an event that fails again is retried later, and does not delay the others', async () => {
	const { receiver, subscribe, happen, deliveries, post, advance } = sandbox;
	for (const name of ['one', 'two', 'three']) await happen(name);
	receiver.answer = (request, response) => {
		const isFirst = receiver.received.length === 1;
		answering(isFirst ? 500 : 200)(request, response);
	};
	const { id } = await subscribe('contact.created');
	await post(`/v1/webhooks/${id}/recover`, { since: new Date(0).toISOString() });
	await deliveries(id, hasTried(1));
	await advance(6);
	await deliveries(id, isDone);
	expect(names(receiver.received.map(({ event }) => event))).toEqual(['one', 'two', 'three', 'one']);
});

test('events that were acknowledged but not yet delivered when the process is killed still arrive', async () => {
	const receiver = await startReceiver();
	// It never answers, so nothing is delivered.
	receiver.answer = () => undefined;
	const killable = startKillable(newDatabase(), { flags: '--allow-private-webhooks' });
	const subscription = { url: receiver.url, events: ['contact.created'] };
	const { body: { secret } } = await killable.send('POST', '/v1/webhooks', subscription);
	const expected = Array.from({ length: 15 }, (_, i) => `${i}`);
	for (const name of expected) await killable.send('POST', '/v1/contacts', { last_name: name });
	await receiver.events(10);
	receiver.received.length = 0;
	receiver.answer = answering(204);
	await killable.kill();
	expect(names(await receiver.events(15))).toEqual(expected);
	for (const delivery of receiver.received) expect(verify(delivery, secret)).toEqual(delivery.event);
	await killable.close();
	await receiver.close();
});
