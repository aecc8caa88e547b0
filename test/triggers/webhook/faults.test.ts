import { came, happen, onlySubscription, sandbox, subscriptions, trigger } from '../../support/watched-trigger';

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
