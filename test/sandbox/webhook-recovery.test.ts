import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from './harness/in-process.ts';
import { startReceiver, verify } from './harness/receiver.ts';
import { answering, hasTried, isDone, seconds, startWebhookSandbox } from './harness/webhook-client.ts';

const main = join(__dirname, '../../sandbox/main.ts');

const names = (events: Json[]): string[] => events.map(({ data }) => data.object.last_name);

test('missed events are recovered in sequence, delivered events are not sent again', async () => {
	const sandbox = await startWebhookSandbox();
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
	await sandbox.close();
});

test('recovered events arrive one by one, in sequence', async () => {
	const sandbox = await startWebhookSandbox();
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
	await sandbox.close();
});

test('an event that fails again is retried later, and does not delay the others', async () => {
	const sandbox = await startWebhookSandbox();
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
	await sandbox.close();
});

test('events that were acknowledged but not yet delivered when the process is killed still arrive', async () => {
	const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
	const receiver = await startReceiver();
	// It never answers, so nothing is delivered.
	receiver.answer = () => undefined;
	const args = ['--port', '0', '--contacts', '0', '--api-key', 'KEY', '--allow-private-webhooks'];
	const start = async (): Promise<{ child: ChildProcess; url: string }> => {
		const child = spawn(process.execPath, [main, ...args, '--db', join(folder, 'sandbox.db')]);
		const [line] = await once(child.stdout, 'data');
		return { child, url: /http:\S+/.exec(String(line))![0] };
	};
	const first = await start();
	const post = async (path: string, body: Json): Promise<Json> => {
		const response = await fetch(first.url + path, {
			method: 'POST',
			headers: { Authorization: 'Bearer KEY', 'Content-Type': 'application/json' },
			body: JSON.stringify(body),
		});
		return response.json();
	};
	const subscription = { url: receiver.url, events: ['contact.created'] };
	const { secret } = await post('/v1/webhooks', subscription);
	const expected = Array.from({ length: 15 }, (_, i) => `${i}`);
	for (const name of expected) await post('/v1/contacts', { last_name: name });
	await receiver.events(10);
	first.child.kill('SIGKILL');
	await once(first.child, 'exit');
	receiver.received.length = 0;
	receiver.answer = answering(204);
	const second = await start();
	expect(names(await receiver.events(15))).toEqual(expected);
	for (const delivery of receiver.received) expect(verify(delivery, secret)).toEqual(delivery.event);
	second.child.kill();
	await once(second.child, 'exit');
	await receiver.close();
	rmSync(folder, { recursive: true });
});
