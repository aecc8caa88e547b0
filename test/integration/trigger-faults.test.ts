import { useSandbox } from './sandbox';
import { until } from './trigger';
import { surviveFaults, useTriggerLife } from './trigger-life';

const sandbox = useSandbox({ contacts: 0 });
const life = useTriggerLife(sandbox);

surviveFaults(sandbox, life, [{ status: 403 }]);

test.each(['DELETE', 'GET'])('an unpublish whose %s fails for good leaves the next publish a trigger that works', async (method) => {
	await life.trigger.activate();
	await sandbox.faults({ method, path: '/v1/webhooks', status: 403 });
	await expect(life.trigger.deactivate()).rejects.toThrow();
	await sandbox.clear();
	await sandbox.call('POST', '/v1/contacts', { last_name: 'Unheard' });
	await life.trigger.activate();
	await sandbox.call('POST', '/v1/contacts', { last_name: 'Moreno' });
	await until(() => life.trigger.started.length > 1);
	expect(life.started().sort()).toEqual(['Moreno', 'Unheard']);
	expect(await life.subscriptions()).toMatchObject([{ status: 'active' }]);
});

test.each([true, false])('a subscription that somebody has paused makes publishing fail (recovery %s)', async (recover) => {
	life.trigger.parameters = { ...life.trigger.parameters, recover };
	await life.trigger.activate();
	const [own] = await life.subscriptions();
	const path = `/v1/webhooks/${String(own!.id)}`;
	await sandbox.call('PATCH', path, { status: 'paused' });
	await expect(life.trigger.activate()).rejects.toThrow(/paused in the CRM Platform, so no event would start/);
	expect(await life.subscriptions()).toMatchObject([{ id: own!.id, status: 'paused' }]);
	await sandbox.call('PATCH', path, { status: 'active' });
	await life.trigger.activate();
});
