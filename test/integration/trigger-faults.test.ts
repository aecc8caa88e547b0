import type { IDataObject } from 'n8n-workflow';

import { useSandbox } from './sandbox';
import { startTrigger, until, type TestTrigger } from './trigger';

const sandbox = useSandbox({ contacts: 0 });

let trigger: TestTrigger;
beforeEach(async () => {
	trigger = await startTrigger({
		credential: sandbox.credential,
		parameters: { events: ['contact.created'] },
	});
});
afterEach(async () => {
	await sandbox.clear();
	await trigger.deactivate();
	await trigger.close();
});

const subscriptions = async () =>
	(await sandbox.call('GET', '/v1/webhooks')).body.data as IDataObject[];

/** Names of the contacts whose events have started the workflow. */
const started = () =>
	trigger.started.map(({ data }) => ((data as IDataObject).object as IDataObject).last_name);

/** The life of a published workflow, each step as n8n takes it. */
const steps: Record<string, () => Promise<void>> = {
	publish: async () => await trigger.activate(),
	unpublish: async () => await trigger.deactivate(),
	'publish again': async () => await trigger.activate(),
	async 'publish a change'() {
		// n8n logs the error of a deactivation and goes on.
		await trigger.deactivate().catch(() => undefined);
		trigger.parameters = { events: ['contact.created', 'deal.won'] };
		await trigger.activate();
	},
	restart: async () => await trigger.activate(),
};

const faults: IDataObject[] = [{ status: 403 }, { drop: 'after' }];

/** Every fault at every request of every step. */
const cases = Object.keys(steps).flatMap((step) =>
	faults.flatMap((fault) => [0, 1, 2, 3].map((after) => ({ step, fault, after }))),
);

test.each(cases)('$step with $fault after $after requests leaves a trigger that works', async ({ step, fault, after }) => {
	for (const [name, take] of Object.entries(steps)) {
		if (name !== step) {
			await take();
			continue;
		}
		await sandbox.faults({ path: '/v1', after, times: 1, ...fault });
		const failure = await take().then(() => undefined, (error: Error) => error);
		await sandbox.clear();
		// A step that fails is told to the user, who takes it again.
		if (failure) await take();
	}
	const active = await subscriptions();
	expect(active).toMatchObject([{ status: 'active', url: trigger.url, events: ['contact.created', 'deal.won'] }]);
	await sandbox.call('POST', '/v1/contacts', { last_name: 'Moreno' });
	await until(() => trigger.started.length > 0);
	expect(started()).toEqual(['Moreno']);
});

test.each(['DELETE', 'GET'])('an unpublish whose %s fails for good leaves the next publish a trigger that works', async (method) => {
	await trigger.activate();
	await sandbox.faults({ method, path: '/v1/webhooks', status: 403 });
	await expect(trigger.deactivate()).rejects.toThrow();
	await sandbox.clear();
	await sandbox.call('POST', '/v1/contacts', { last_name: 'Unheard' });
	await trigger.activate();
	await sandbox.call('POST', '/v1/contacts', { last_name: 'Moreno' });
	await until(() => trigger.started.length > 1);
	expect(started().sort()).toEqual(['Moreno', 'Unheard']);
	expect(await subscriptions()).toMatchObject([{ status: 'active' }]);
});

test.each([true, false])('a subscription that somebody has paused makes publishing fail (recovery %s)', async (recover) => {
	trigger.parameters = { ...trigger.parameters, recover };
	await trigger.activate();
	const [own] = await subscriptions();
	const path = `/v1/webhooks/${String(own!.id)}`;
	await sandbox.call('PATCH', path, { status: 'paused' });
	await expect(trigger.activate()).rejects.toThrow(/paused in the CRM Platform, so no event would start/);
	expect(await subscriptions()).toMatchObject([{ id: own!.id, status: 'paused' }]);
	await sandbox.call('PATCH', path, { status: 'active' });
	await trigger.activate();
});
