import { errorsOf } from '../harness/in-process.ts';
import { isDone, seconds, startWebhookSandbox, type WebhookSandbox } from '../harness/webhook-client.ts';

let sandbox: WebhookSandbox;
beforeEach(async () => void (sandbox = await startWebhookSandbox()));
afterEach(() => sandbox.close());

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
