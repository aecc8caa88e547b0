import { came, happen, onlySubscription, sandbox, subscriptions, trigger } from '../../support/watched-trigger';

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

// A fault that is retried, and one that is not.
const faults = [{ status: 403 }, { drop: 'after' }];
const cases = Object.keys(steps).flatMap((step) => faults.flatMap((fault) => [0, 1, 2, 3].map((after) => ({ step, fault, after }))));
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

test.each(['DELETE', 'GET'])('an unpublish whose %s fails permanently leaves the next publish a trigger that works', async (method) => {
	await trigger.activate();
	await sandbox.faults({ method, path: '/v1/webhooks', status: 403 });
	await expect(trigger.deactivate()).rejects.toThrow();
	await sandbox.clear();
	await happen('Unheard');
	await trigger.activate();
	await happen('Moreno');
	await came('Moreno', 'Unheard');
	expect(await onlySubscription()).toMatchObject({ status: 'active' });
});

test.each([true, false])('a subscription that somebody has paused makes publishing fail (recovery %s)', async (recover) => {
	trigger.parameters = { ...trigger.parameters, recover };
	await trigger.activate();
	const { id } = await onlySubscription();
	const path = `/v1/webhooks/${String(id)}`;
	await sandbox.call('PATCH', path, { status: 'paused' });
	await expect(trigger.activate()).rejects.toThrow(/paused in the CRM, so no event would start/);
	expect(await subscriptions()).toMatchObject([{ id, status: 'paused' }]);
	await sandbox.call('PATCH', path, { status: 'active' });
	await trigger.activate();
});
