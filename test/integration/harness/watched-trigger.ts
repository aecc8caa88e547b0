import type { IDataObject } from 'n8n-workflow';

import { useSandbox } from './sandbox';
import { until } from '../../until.ts';
import { startTrigger, type TestTrigger } from './webhook-trigger';

export const sandbox = useSandbox({ contacts: 0 });
/** A webhook trigger for new contacts, a new one for each test of the file that imports this. */
export let trigger: TestTrigger;
beforeEach(async () => {
	trigger = await startTrigger({ credential: sandbox.credential, parameters: { events: ['contact.created'] } });
});
afterEach(async () => {
	await sandbox.clear();
	await trigger.deactivate().catch(() => undefined);
	await trigger.close();
	for (const { id } of await subscriptions()) await sandbox.call('DELETE', `/v1/webhooks/${String(id)}`);
});

export const subscriptions = async () => (await sandbox.call('GET', '/v1/webhooks')).body.data as IDataObject[];
export const onlySubscription = async (): Promise<IDataObject> => {
	const all = await subscriptions();
	expect(all).toHaveLength(1);
	return all[0]!;
};
export const change = async (method: string, body?: object) =>
	await sandbox.call(method, `/v1/webhooks/${String((await onlySubscription()).id)}`, body);
export const happen = async (...names: string[]) => {
	for (const last_name of names) await sandbox.call('POST', '/v1/contacts', { last_name });
};
/** Names of the contacts whose events have started the workflow, in that order. */
export const names = () => trigger.started.map(({ data }) => String(((data as IDataObject).object as IDataObject).last_name));
export const came = async (...expected: string[]) => {
	await until(() => trigger.started.length >= expected.length);
	expect(names().sort()).toEqual(expected.sort());
};

/** The event *before* is taken, and n8n refuses *meanwhile*, which the service will send again. */
export async function oneTakenOneRefused(): Promise<void> {
	await happen('before');
	await came('before');
	trigger.fails = 503;
	await happen('meanwhile');
	await until(() => trigger.answers.includes(503));
	trigger.fails = undefined;
}

/** Takes the place of the trigger of this test. */
export const replaceTrigger = (other: TestTrigger) => (trigger = other);
