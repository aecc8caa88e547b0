import { inProcess, type InProcess, type Json } from './in-process.ts';
import { type Receiver, startReceiver, verify } from './receiver.ts';

let receiver: Receiver;
let sandbox: InProcess;
beforeEach(async () => {
	receiver = await startReceiver();
	sandbox = inProcess({ allowPrivateWebhooks: true });
});
afterEach(async () => {
	sandbox.store.close();
	await receiver.close();
});

const subscribe = async (...events: string[]): Promise<Json> =>
	(await sandbox.post('/v1/webhooks', { url: receiver.url, events })).body;

test('a subscription gets the events it asked for, signed as Standard Webhooks says', async () => {
	const webhook = await subscribe('contact.*');
	expect(webhook.secret).toMatch(/^whsec_/);
	const contact = await sandbox.post('/v1/contacts', { email: 'ana@x.example' });
	await sandbox.post('/v1/companies', { name: 'x' });
	await sandbox.patch(`/v1/contacts/${contact.body.id}`, { first_name: 'Ana' });
	const [created, updated] = await receiver.events(2);
	expect(created).toMatchObject({ type: 'contact.created', data: { object: contact.body } });
	expect(updated).toMatchObject({
		type: 'contact.updated',
		data: { previous: { first_name: null }, changed: ['first_name', 'name'] },
	});
	for (const one of receiver.received) {
		expect(verify(one, webhook.secret)).toEqual(one.event);
		expect(one.headers['webhook-id']).toBe(one.event.id);
	}
});
