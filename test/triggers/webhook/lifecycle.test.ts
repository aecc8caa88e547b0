import type { IDataObject } from 'n8n-workflow';
import { useSandbox } from '../../support/sandbox';
import { startTrigger, type TestTrigger, type TriggerSetup } from '../../support/webhook-trigger';

const sandbox = useSandbox({ contacts: 0 });
const open: TestTrigger[] = [];

const contacts = { events: ['contact.created'] };
const start = async (setup: Partial<TriggerSetup> = {}): Promise<TestTrigger> => {
	const trigger = await startTrigger({ credential: sandbox.credential, parameters: contacts, ...setup });
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

test('publishing again leaves a correct subscription alone, and changes another one', async () => {
	const trigger = await start({ parameters: { ...contacts, recover: false } });
	await trigger.activate();
	const first = await only();
	await trigger.activate();
	expect(await only()).toEqual(first);
	trigger.parameters = { ...trigger.parameters, events: ['deal.won'] };
	await trigger.activate();
	expect(await only()).toMatchObject({ id: first.id, events: ['deal.won'] });
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
