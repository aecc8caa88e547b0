import type { IDataObject } from 'n8n-workflow';

import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { useSandbox } from '../../support/sandbox';
import { until } from '../../support/until.ts';
import { startTrigger, type TestTrigger, type TriggerSetup } from '../../support/webhook-trigger';

const sandbox = useSandbox({ contacts: 0 });
const open: TestTrigger[] = [];

const contacts = { events: ['contact.created'] };
const start = async (setup: Partial<TriggerSetup> = {}): Promise<TestTrigger> => {
	const trigger = await startTrigger({
		credential: sandbox.credential,
		parameters: contacts,
		...setup,
	});
	open.push(trigger);
	return trigger;
};

const subscriptions = async (): Promise<IDataObject[]> => await sandbox.list('webhooks');
const only = async (): Promise<IDataObject> => {
	const all = await subscriptions();
	expect(all).toHaveLength(1);
	return all[0]!;
};

afterEach(async () => {
	for (const trigger of open.splice(0)) await trigger.close();
	for (const { id } of await subscriptions()) await sandbox.call('DELETE', `/v1/webhooks/${String(id)}`);
});

test('activation subscribes the workflow’s address to the chosen events, under the workflow’s name', async () => {
	const trigger = await start({ parameters: { events: ['deal.*', 'contact.created'] } });
	await trigger.activate();
	expect(await only()).toMatchObject({
		url: trigger.url,
		events: ['contact.created', 'deal.*'],
		description: 'n8n: Welcome new contacts / CRM Platform Trigger',
		status: 'active',
	});
	await trigger.deactivate();
	expect(await subscriptions()).toEqual([]);
});

test('ten activations leave the same single subscription', async () => {
	const trigger = await start();
	await trigger.activate();
	const { id } = await only();
	for (let i = 0; i < 9; i++) await trigger.activate();
	expect((await only()).id).toBe(id);
});

test('without recovery, a correct subscription is left alone', async () => {
	const trigger = await start({ parameters: { ...contacts, recover: false } });
	expect(await trigger.checkExists()).toBe(false);
	await trigger.activate();
	expect(await trigger.checkExists()).toBe(true);
	trigger.parameters = { ...trigger.parameters, events: ['deal.won'] };
	expect(await trigger.checkExists()).toBe(false);
	await trigger.activate();
	expect(await trigger.checkExists()).toBe(true);
	expect(await only()).toMatchObject({ events: ['deal.won'] });
});

test('a deleted subscription is created again, a disabled one is enabled', async () => {
	const trigger = await start();
	await trigger.activate();
	const { id } = await only();
	await sandbox.call('DELETE', `/v1/webhooks/${String(id)}`);
	await trigger.activate();
	const renewed = await only();
	expect(renewed).not.toMatchObject({ id });

	// The receiver answers that it is gone, so the service gives up at once.
	trigger.fails = 410;
	await sandbox.create('contacts', { last_name: 'Moreno' });
	await until(async () => (await only()).status === 'disabled');
	trigger.fails = undefined;
	await trigger.activate();
	expect(await only()).toMatchObject({ id: renewed.id, status: 'active' });
	await until(() => trigger.started.length === 1);
});

test('a subscription whose id n8n has lost is found by its address, and gets a new secret', async () => {
	const trigger = await start();
	await trigger.activate();
	const { id } = await only();
	trigger.staticData = {};
	forgetStates();
	await trigger.activate();
	expect((await only()).id).toBe(id);
	await sandbox.create('contacts', { last_name: 'Moreno' });
	await until(() => trigger.answers.length > 0);
	expect(trigger.answers).toEqual([200]);
});

test('a secret that was rotated elsewhere is replaced at the next activation', async () => {
	const trigger = await start();
	await trigger.activate();
	const { id } = await only();
	const path = `/v1/webhooks/${String(id)}/rotate-secret`;
	const { body } = await sandbox.call('POST', path);
	await trigger.activate();
	expect((await only()).secret_hint).not.toBe(body.secret_hint);
});

test('a renamed node keeps its subscription', async () => {
	const trigger = await start();
	await trigger.activate();
	const { id } = await only();
	trigger.nodeName = 'When a contact is created';
	await trigger.activate();
	expect((await only()).id).toBe(id);
	await trigger.deactivate();
	expect(await subscriptions()).toEqual([]);
});

test('two workflows with the same events have a subscription each, and end only their own', async () => {
	const [firstTrigger, secondTrigger] = [await start(), await start({ workflowId: 'workflow-2' })];
	await firstTrigger.activate();
	await secondTrigger.activate();
	expect(await subscriptions()).toHaveLength(2);
	await firstTrigger.deactivate();
	expect(await only()).toMatchObject({ url: secondTrigger.url });
});

test('a copy of the workflow does not take over the stored state of the original', async () => {
	const original = await start();
	await original.activate();
	const copy = await start({ workflowId: 'workflow-2' });
	copy.staticData = structuredClone(original.staticData);
	await copy.activate();
	expect(await subscriptions()).toHaveLength(2);
	await copy.deactivate();
	expect(await only()).toMatchObject({ url: original.url, status: 'active' });
});

test('the subscriptions of others are never touched', async () => {
	const body = { url: 'https://elsewhere.example/hook', events: ['*'], status: 'paused' };
	const other = await sandbox.create('webhooks', body);
	const trigger = await start();
	await trigger.activate();
	await trigger.deactivate();
	expect(await only()).toMatchObject({ id: other.id, version: 1, status: 'paused' });
});

test('a test run has its own subscription and leaves none behind', async () => {
	const trigger = await start();
	await trigger.activate();
	const { id } = await only();
	await trigger.activate(true);
	expect((await subscriptions()).map(({ url }) => url).sort()).toEqual([trigger.testUrl, trigger.url].sort());
	await trigger.deactivate(true);
	expect((await only()).id).toBe(id);
});

test('a subscription that is already gone does not prevent deactivation', async () => {
	const trigger = await start();
	await trigger.activate();
	await sandbox.call('DELETE', `/v1/webhooks/${String((await only()).id)}`);
	await trigger.deactivate();
});

test('a failure is reported, and nothing is left behind', async () => {
	const none = await start({ parameters: { events: [] } });
	await expect(none.activate()).rejects.toThrow('Choose at least one event');
	const unknown = await start({ parameters: { events: ['deal.danced'] } });
	await expect(unknown.activate()).rejects.toThrow(/There is no event deal.danced/);
	const stranger = await start({ credential: { ...sandbox.credential, apiKey: 'wrong' } });
	await expect(stranger.activate()).rejects.toThrow(/credential/);
	await expect(stranger.deactivate()).rejects.toThrow(/credential/);
	expect(await subscriptions()).toEqual([]);
});
