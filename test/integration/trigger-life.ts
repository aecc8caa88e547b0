import type { IDataObject } from 'n8n-workflow';

import type { TestSandbox } from './sandbox';
import { startTrigger, until, type TestTrigger } from './trigger';

/** A trigger in a workflow that each test publishes, and what became of it. */
export interface TriggerLife {
	trigger: TestTrigger;
	/** The subscriptions the service has. */
	subscriptions(): Promise<IDataObject[]>;
	/** Names of the contacts whose events have started the workflow. */
	started(): unknown[];
}

/** One trigger for each test of a file; it is unpublished after the test. */
export function useTriggerLife(sandbox: TestSandbox): TriggerLife {
	const life = {
		subscriptions: async () => (await sandbox.call('GET', '/v1/webhooks')).body.data as IDataObject[],
		started: () =>
			life.trigger.started.map(({ data }) => ((data as IDataObject).object as IDataObject).last_name),
	} as TriggerLife;
	beforeEach(async () => {
		const parameters = { events: ['contact.created'] };
		life.trigger = await startTrigger({ credential: sandbox.credential, parameters });
	});
	afterEach(async () => {
		await sandbox.clear();
		await life.trigger.deactivate();
		await life.trigger.close();
	});
	return life;
}

/** The life of a published workflow, each step as n8n takes it. */
const steps: Record<string, (trigger: TestTrigger) => Promise<void>> = {
	publish: async (trigger) => await trigger.activate(),
	unpublish: async (trigger) => await trigger.deactivate(),
	'publish again': async (trigger) => await trigger.activate(),
	async 'publish a change'(trigger) {
		// n8n logs the error of a deactivation and goes on.
		await trigger.deactivate().catch(() => undefined);
		trigger.parameters = { events: ['contact.created', 'deal.won'] };
		await trigger.activate();
	},
	restart: async (trigger) => await trigger.activate(),
};

/** Tests that each fault, at each of the first four requests of every step, leaves a trigger that works. */
export function surviveFaults(sandbox: TestSandbox, life: TriggerLife, faults: IDataObject[]): void {
	const cases = Object.keys(steps).flatMap((step) =>
		faults.flatMap((fault) => [0, 1, 2, 3].map((after) => ({ step, fault, after }))),
	);
	test.each(cases)('$step with $fault after $after requests leaves a trigger that works', async ({ step, fault, after }) => {
		const { trigger } = life;
		for (const [name, take] of Object.entries(steps)) {
			if (name !== step) {
				await take(trigger);
				continue;
			}
			await sandbox.faults({ path: '/v1', after, times: 1, ...fault });
			const failure = await take(trigger).then(() => undefined, (error: Error) => error);
			await sandbox.clear();
			// A step that fails is told to the user, who takes it again.
			if (failure) await take(trigger);
		}
		const events = ['contact.created', 'deal.won'];
		expect(await life.subscriptions()).toMatchObject([{ status: 'active', url: trigger.url, events }]);
		await sandbox.call('POST', '/v1/contacts', { last_name: 'Moreno' });
		await until(() => trigger.started.length > 0);
		expect(life.started()).toEqual(['Moreno']);
	});
}
