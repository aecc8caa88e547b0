import type { IDataObject } from 'n8n-workflow';

import { useSandbox } from './sandbox';
import { until } from './until.ts';
import { startTrigger, type TestTrigger } from './webhook-trigger';

export const sandbox = useSandbox({ contacts: 0 });
/** A webhook trigger for new contacts. Each test of the file that imports this has a new one. */
export let trigger: TestTrigger;
beforeEach(async () => {
	trigger = await startTrigger({ credential: sandbox.credential, parameters: { events: ['contact.created'] } });
});
afterEach(async () => {
	await sandbox.clear();
	await trigger.deactivate().catch(() => undefined);
	await trigger.close();
	for (const { id } of await subscriptions()) await sandbox.call('DELETE', `/v1/webhooks/${id}`);
});

export const subscriptions = async () => await sandbox.list('webhooks');
export const onlySubscription = async (): Promise<IDataObject> => {
	const all = await subscriptions();
	expect(all).toHaveLength(1);
	return all[0]!;
};
export const change = async (method: string, body?: object) =>
	await sandbox.call(method, `/v1/webhooks/${String((await onlySubscription()).id)}`, body);
export const happen = async (...names: string[]) => {
	for (const last_name of names) await sandbox.create('contacts', { last_name });
};
/** Last names of the contacts whose events have started the workflow, in order. */
export const names = () => trigger.started.map(({ data }) => String(((data as IDataObject).object as IDataObject).last_name));
export const came = async (...expected: string[]) => {
	await until(() => trigger.started.length >= expected.length);
	expect(names().sort()).toEqual(expected.sort());
};

/** The deliveries of the only subscription. */
export const deliveries = async (query = '') =>
	await sandbox.list<IDataObject>(`webhooks/${String((await onlySubscription()).id)}/deliveries${query}`);

/** Has the service disable the subscription: the receiver says that it is gone, so the service gives up at once. */
export async function disableSubscription(): Promise<void> {
	trigger.fails = 410;
	await happen('gone');
	await until(async () => (await onlySubscription()).status === 'disabled');
	trigger.fails = undefined;
}

/** Replaces the trigger of this test. */
export const replaceTrigger = (other: TestTrigger) => (trigger = other);
