import { customEventTypes, eventTypes } from '../../../sandbox/domain/events/event-types.ts';
import { document } from '../harness/contract.ts';
import { inProcess, type Json } from '../harness/in-process.ts';

const { schemas } = document.components;
const offered: string[] = schemas.EventPattern.anyOf[0].enum;

test('every type of event is described with its payload and an example of it', () => {
	const types = [...eventTypes, ...customEventTypes].map(({ type }) => type);
	expect(Object.keys(document.webhooks)).toEqual(types);
	for (const [type, { post }] of Object.entries<Json>(document.webhooks)) {
		const { schema } = post.requestBody.content['application/json'];
		const { example } = schema;
		const { properties, required } = schemas[schema.$ref.split('/').at(-1)];
		expect(Object.keys(example)).toEqual(required);
		expect(Object.keys(properties)).toEqual(required);
		expect(properties.type.enum ?? [type]).toContain(type);
		const record = properties.data.properties.object.$ref.split('/').at(-1);
		expect(Object.keys(example.data.object)).toEqual(Object.keys(schemas[record].properties));
	}
});

test('every offered type can be subscribed to, all together and individually', async () => {
	const { post } = inProcess();
	// Paused, so that nothing is sent.
	const about = { url: 'https://x.example', status: 'paused' };
	const subscribe = (events: string[]) => post('/v1/webhooks', { ...about, events });
	const described = Object.keys(document.webhooks).filter((type) => !type.includes('{key}'));
	expect(offered).toEqual(expect.arrayContaining(['*', 'contact.*', 'custom.*', ...described]));
	expect((await subscribe(offered)).status).toBe(201);
	for (const event of offered) expect((await subscribe([event])).status).toBe(201);
});

test('events of custom objects are offered as a pattern', async () => {
	const { post } = inProcess();
	const { pattern, examples } = schemas.EventPattern.anyOf[1];
	const custom = [...examples, 'custom.machines.*', 'custom.machines.deleted'];
	for (const event of custom) expect(event).toMatch(new RegExp(pattern));
	const { status } = await post('/v1/webhooks', {
		url: 'https://x.example',
		events: custom,
	});
	expect(status).toBe(201);
});

test('the log responds as described', async () => {
	const { post, get } = inProcess();
	await post('/v1/contacts', { last_name: 'x' });
	const [event] = (await get('/v1/events')).body.data;
	expect(Object.keys(event)).toEqual(schemas.ContactEvent.required);
	expect(schemas.ContactEvent.properties.data.required).toEqual(['object']);
	expect(Object.keys(schemas.ContactEvent.properties.data.properties)).toEqual([...Object.keys(event.data), 'erased']);
});

test('the example of a new webhook creates one, and its response is as described', async () => {
	const { post, get } = inProcess();
	const { status, body } = await post('/v1/webhooks', schemas.WebhookCreate.example);
	expect(status).toBe(201);
	expect(Object.keys(body).sort()).toEqual(Object.keys(schemas.WebhookWithSecret.properties).sort());
	const read = await get(`/v1/webhooks/${body.id}`);
	expect(Object.keys(read.body).sort()).toEqual(Object.keys(schemas.Webhook.properties).sort());
});
