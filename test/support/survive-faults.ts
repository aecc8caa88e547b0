import type { IDataObject } from 'n8n-workflow';

import { came, happen, sandbox, subscriptions, trigger } from './watched-trigger';

/** The steps in the life of a published workflow, each as n8n takes it. */
const steps: Record<string, () => Promise<void>> = {
	publish: async () => await trigger.activate(),
	unpublish: async () => await trigger.deactivate(),
	'publish again': async () => await trigger.activate(),
	async 'publish a change'() {
		// n8n logs the error of a deactivation and continues.
		await trigger.deactivate().catch(() => undefined);
		trigger.parameters = { events: ['contact.created', 'deal.won'] };
		await trigger.activate();
	},
	restart: async () => await trigger.activate(),
};

/** Tests that each fault, at each of the first four requests of every step, leaves a trigger that works. */
export function surviveFaults(faults: IDataObject[]): void {
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
			// n8n shows the user that a step failed, and the user repeats it.
			if (failure) await take();
		}
		const events = ['contact.created', 'deal.won'];
		expect(await subscriptions()).toMatchObject([{ status: 'active', url: trigger.url, events }]);
		await happen('Moreno');
		await came('Moreno');
	});
}
