import type { IDataObject } from 'n8n-workflow';
import { Webhook } from 'standardwebhooks';

import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { useTriggers } from '../../support/open-triggers';
import { useSandbox } from '../../support/sandbox';
import { until } from '../../support/until.ts';
import type { TestTrigger } from '../../support/webhook-trigger';

const sandbox = useSandbox({ contacts: 0 });
const start = useTriggers(sandbox);

const happen = async (last_name: string) => await sandbox.create('contacts', { last_name });
const names = ({ started }: TestTrigger) =>
	started.map(({ data }) => ((data as IDataObject).object as IDataObject).last_name);
const subscriptionPath = async () => `/v1/webhooks/${(await sandbox.list('webhooks'))[0]!.id}`;

test('a new record starts the workflow with the full event', async () => {
	const trigger = await start({ events: ['contact.created'] });
	const contact = await happen('Moreno');
	await until(() => trigger.started.length > 0);
	expect(trigger.started).toEqual([
		expect.objectContaining({
			id: expect.stringMatching(/^evt_/),
			type: 'contact.created',
			sequence: expect.any(Number),
			actor: expect.objectContaining({ type: 'api_key' }),
			data: { object: contact, previous: null, changed: [] },
		}),
	]);
});

test('without a choice, the record is returned, with the event in one of its fields', async () => {
	const trigger = await start({ events: ['contact.*'], output: undefined });
	const contact = await happen('Moreno');
	await until(() => trigger.started.length > 0);
	const [{ event: about, ...record } = {}] = trigger.started;
	expect(record).toEqual(contact);
	expect(about).toMatchObject({ id: expect.stringMatching(/^evt_/), type: 'contact.created', changed: [], previous: null });
	await sandbox.call('PATCH', `/v1/contacts/${String(contact.id)}`, { last_name: 'Ruiz' });
	await until(() => trigger.started.length > 1);
	const change = {
		type: 'contact.updated', changed: expect.arrayContaining(['last_name']), previous: { name: 'Moreno', last_name: 'Moreno' },
	};
	expect(trigger.started[1]).toMatchObject({ last_name: 'Ruiz', event: change });
});

test('the record is returned as it is now or, if it was deleted, as it was', async () => {
	const trigger = await start({ events: ['contact.*'], output: 'current' });
	// n8n refuses the delivery at first, so that the record has changed when it is delivered again.
	trigger.fails = 503;
	const { id } = await happen('before');
	await until(() => trigger.answers.length > 0);
	await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { last_name: 'now' });
	await until(() => trigger.answers.length > 1);
	trigger.fails = undefined;
	await trigger.activate();
	await until(() => trigger.started.length === 2);
	expect(trigger.started).toMatchObject([{ last_name: 'now' }, { last_name: 'now' }]);
	await sandbox.call('DELETE', `/v1/contacts/${String(id)}`);
	await until(() => trigger.started.length === 3);
	expect(trigger.started[2]).toMatchObject({ last_name: 'now', event: { fetched_at: null } });
	expect(trigger.started[1]!.event).toMatchObject({ fetched_at: expect.stringMatching(/Z$/) });
});

test('an event that does not pass the filters starts nothing and is done', async () => {
	const { id } = await happen('Moreno');
	const trigger = await start({
		events: ['contact.updated'],
		filters: { changedFields: 'job_title, language' },
	});
	await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { first_name: 'Ana' });
	await sandbox.call('PATCH', `/v1/contacts/${String(id)}`, { job_title: 'Buyer' });
	await until(() => trigger.answers.length === 2);
	expect(trigger.answers).toEqual([202, 202]);
	expect(trigger.started.map(({ data }) => (data as IDataObject).changed)).toEqual([['job_title']]);
});

test.each([
	['this process of n8n has taken', false],
	['another process of n8n has taken', true],
])('an event that %s starts the workflow again: %s', async (_, isOther) => {
	const trigger = await start({ events: ['contact.created'] });
	await happen('Moreno');
	await until(() => trigger.started.length > 0);
	const path = `${await subscriptionPath()}/deliveries`;
	await until(async () => ((await sandbox.call('GET', path)).body.data as IDataObject[])[0]?.status === 'succeeded');
	const [delivery] = (await sandbox.call('GET', path)).body.data as IDataObject[];
	if (isOther) clearProcessMemory();
	await sandbox.call('POST', `${path}/${String(delivery!.id)}/retry`);
	await until(() => trigger.answers.length === 2);
	expect(names(trigger)).toEqual(isOther ? ['Moreno', 'Moreno'] : ['Moreno']);
});

test('a secret that is rotated stays valid for a day', async () => {
	const trigger = await start({ events: ['contact.created'] });
	await sandbox.call('POST', `${await subscriptionPath()}/rotate-secret`);
	await happen('before');
	await until(() => trigger.started.length === 1);
	await trigger.activate();
	await happen('after');
	await until(() => trigger.started.length === 2);
	expect(trigger.answers).toEqual([202, 202]);
});

test('the CRM’s test is answered, and starts the workflow only if chosen', async () => {
	const trigger = await start({ events: ['*'] });
	const path = `${await subscriptionPath()}/test`;
	const test = async () => (await sandbox.call('POST', path)).body;
	expect(await test()).toMatchObject({ status: 'succeeded' });
	expect(trigger.started).toEqual([]);
	trigger.parameters = { ...trigger.parameters, options: { testEvents: true } };
	expect(await test()).toMatchObject({ status: 'succeeded' });
	expect(trigger.started).toMatchObject([{ type: 'webhook.test' }]);
	trigger.parameters = { ...trigger.parameters, options: { testEvents: 'sometimes' } };
	await test();
	expect(trigger.reported).toEqual(['Test Events: enter true or false instead of “sometimes”.']);
});

test('during a test run, an event starts both the workflow and the test run', async () => {
	const trigger = await start({ events: ['contact.created'] });
	await trigger.activate(true);
	await happen('Moreno');
	await until(() => trigger.started.length === 2);
	await trigger.deactivate(true);
	expect(names(trigger)).toEqual(['Moreno', 'Moreno']);
});

/** The secret as n8n keeps it. */
const secretOf = ({ staticData }: TestTrigger): string => {
	const { global } = staticData as { global: Record<string, { state: { secret: string } }> };
	return Object.values(global)[0]!.state.secret;
};

const event = (id: string, more: IDataObject = {}) => ({
	id,
	type: 'contact.created',
	timestamp: new Date().toISOString(),
	sequence: 1,
	data: { object: { id: 'con_1', last_name: id }, previous: null, changed: [] },
	...more,
});

/** A delivery as the service would make it, or anyone who has the secret. */
function sign(secret: string, body: string) {
	const [at, id] = [new Date(), 'evt_forged'];
	return {
		'content-type': 'application/json',
		'webhook-id': id,
		'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
		'webhook-signature': new Webhook(secret).sign(id, at, body),
	};
}

test('a sender without a valid signature, and any without a stored secret, gets 401, and nothing starts', async () => {
	const trigger = await start({ events: ['contact.created'] });
	const other = await start({ events: ['contact.created'] }, 'workflow-2');
	const body = JSON.stringify(event('evt_forged'));
	const good = sign(secretOf(trigger), body);
	const { 'webhook-signature': _, ...unsigned } = good;
	const refused = [trigger.post(body, unsigned), trigger.post(body, sign(secretOf(other), body)), trigger.post(`${body} `, good)];
	for (const response of await Promise.all(refused)) expect(response.status).toBe(401);
	expect(trigger.started).toEqual([]);
	expect(trigger.warnings.join()).toMatch(/not signed/);
	expect((await trigger.post(body, good)).status).toBe(202);
	expect(names(trigger)).toEqual(['evt_forged']);
	const { staticData } = trigger;
	trigger.staticData = {};
	clearProcessMemory();
	expect((await trigger.post(body, good)).status).toBe(401);
	trigger.staticData = staticData;
});

test('an event whose ID is a number starts the workflow with it as text', async () => {
	const trigger = await start({ events: ['contact.created'] });
	const body = JSON.stringify(event('Moreno', { id: 7 }));
	expect((await trigger.post(body, sign(secretOf(trigger), body))).status).toBe(202);
	expect(trigger.started).toMatchObject([{ id: '7' }]);
});

test.each(['', '[]', '{"id":1,"type":2}', 'contact'])(
	'a signed body that is not an event is answered with 400: %j',
	async (body) => {
		const trigger = await start({ events: ['contact.created'] });
		const { status } = await trigger.post(body, sign(secretOf(trigger), body));
		expect(status).toBe(400);
		expect(trigger.started).toEqual([]);
	},
);
