import { alteredService } from '../../support/altered-service';
import { came, happen, onlySubscription, replaceTrigger, sandbox, subscriptions, trigger } from '../../support/watched-trigger';
import { startTrigger } from '../../support/webhook-trigger';

const service = alteredService(sandbox, true);
beforeEach(async () => {
	await trigger.close();
	replaceTrigger(await startTrigger({ credential: service.credential, parameters: { events: ['contact.created'] } }));
});

test('a look at a correct subscription needs two small requests, in whatever order the CRM returns its events', async () => {
	service.edit(({ body }) => void (body.events as string[] | undefined)?.reverse());
	trigger.parameters = { events: ['contact.created', 'deal.won'] };
	await trigger.activate();
	await trigger.look();
	service.passed.splice(0);
	await trigger.look();
	expect(service.passed).toHaveLength(2);
});

test('another client’s webhook with n8n’s address is never changed or deleted', async () => {
	const other = await sandbox.create('webhooks', { url: trigger.url, events: ['deal.won'], description: 'Billing' });
	await trigger.activate();
	expect(await subscriptions()).toHaveLength(2);
	await happen('Moreno');
	await came('Moreno');
	trigger.staticData = {};
	await trigger.restart();
	await trigger.look();
	expect(await subscriptions()).toHaveLength(2);
	await trigger.deactivate();
	await trigger.deactivate();
	expect(await onlySubscription()).toMatchObject({ id: other.id, version: 1, events: ['deal.won'] });
});

test('a webhook that the CRM says it has changed, and has not, fails the publish', async () => {
	await trigger.activate();
	service.edit(({ method, body }) => void (method === 'PATCH' && (body.events = ['contact.created'])));
	trigger.parameters = { events: ['deal.won'] };
	await expect(trigger.activate()).rejects.toThrow(/did not change the webhook whk_/);
});

test('numeric ids are used as they are', async () => {
	const numbers = new Map<string, number>();
	service.alter({
		request(request) {
			const id = /webhooks\/(\d+)/.exec(request.url.pathname)?.[1];
			const real = [...numbers].find(([, number]) => String(number) === id)?.[0];
			if (real) request.url.pathname = request.url.pathname.replace(`webhooks/${id!}`, `webhooks/${real}`);
		},
		answer: (text, { url }) =>
			/\/webhooks/.test(url.pathname)
				? text.replace(/"(whk_\w+)"/g, (_, id: string) => String(numbers.get(id) ?? numbers.set(id, numbers.size + 1).get(id)))
				: text,
	});
	await trigger.activate();
	await trigger.look();
	await happen('Moreno');
	await came('Moreno');
	await trigger.deactivate();
	expect(await subscriptions()).toEqual([]);
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
