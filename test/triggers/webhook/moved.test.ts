import { useAlteredService } from '../../support/altered-trigger';
import { until } from '../../support/until.ts';
import { startTrigger } from '../../support/webhook-trigger';
import {
	came,
	change,
	deliveries,
	elsewhere,
	happen,
	moved,
	oneTakenOneRefused,
	onlySubscription,
	sandbox,
	subscriptions,
	trigger,
} from '../../support/watched-trigger';

describe('n8n gets another address', () => {
	test('its subscription is moved: events that failed meanwhile arrive, and none arrives twice', async () => {
		await trigger.activate();
		const { id } = await onlySubscription();
		await oneTakenOneRefused();
		await trigger.restart(moved());
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ id, url: elsewhere() });
		await happen('after');
		await came('after', 'before', 'meanwhile');
		await trigger.look();
		await trigger.look();
		expect(trigger.answers.sort()).toEqual([200, 200, 200, 503]);
		expect(trigger.warnings.join()).toContain('n8n has a new URL');
		expect(trigger.reported).toEqual([]);
	});

	test('twice in a row, while the CRM is away', async () => {
		await trigger.activate();
		const { id } = await onlySubscription();
		await happen('before');
		await came('before');
		await sandbox.faults({ path: '/v1/webhooks', status: 403 });
		await trigger.restart('http://127.0.0.1:9');
		await trigger.look();
		await trigger.restart(moved());
		await sandbox.clear();
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ id, url: elsewhere() });
		expect(await deliveries()).toHaveLength(1);
	});

	test('while the subscription is paused: once it is resumed, events arrive at the new one', async () => {
		await trigger.activate();
		await change('PATCH', { status: 'paused' });
		await happen('meanwhile');
		await trigger.restart(moved());
		await trigger.look();
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ status: 'paused', url: elsewhere() });
		expect(trigger.reported).toHaveLength(1);
		await trigger.restart('http://127.0.0.1:9');
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ url: expect.stringContaining('http://127.0.0.1:9/') });
		await trigger.restart(moved());
		await trigger.look();
		await change('PATCH', { status: 'active' });
		await trigger.look();
		await came('meanwhile');
		const { id } = await onlySubscription();
		await trigger.restart('http://127.0.0.1:9');
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ id });
	});

	test('a publish before the first look loses nothing', async () => {
		await trigger.activate();
		await oneTakenOneRefused();
		await trigger.restart(moved());
		await trigger.deactivate();
		await trigger.activate();
		await came('before', 'meanwhile');
	});

	test('a second n8n with the same database ends up with its own subscription, and both receive each event', async () => {
		const other = await startTrigger({ credential: sandbox.credential, parameters: trigger.parameters });
		await trigger.activate();
		other.staticData = structuredClone(trigger.staticData);
		await other.restart();
		await other.look();
		expect(await onlySubscription()).toMatchObject({ url: other.url });
		await happen('meanwhile');
		for (let i = 0; i < 3; i++) {
			// Both are in this process, as watches of one trigger.
			await trigger.restart();
			await trigger.look();
			await other.restart();
			await other.look();
		}
		expect((await subscriptions()).map(({ url }) => url).sort()).toEqual([trigger.url, other.url].sort());
		await happen('after');
		await until(() => other.answers.includes(200) && trigger.answers.includes(200));
		await other.close();
	});
});

describe('A service that cannot change addresses', () => {
	const service = useAlteredService();

	test.each(['has no PATCH', 'ignores the new one'])('%s: a new subscription gets the failed events and the last minute’s', async (how) => {
		let ahead = 0;
		const former = trigger.url;
		service.edit((answer) => {
			const { method, path, body } = answer;
			answer.date = new Date(Date.now() + ahead).toUTCString();
			const { paths } = body as { paths?: Record<string, Record<string, unknown>> };
			if (paths && how === 'has no PATCH') delete paths['/v1/webhooks/{id}']!.patch;
			if (method === 'PATCH' && path.startsWith('/v1/webhooks')) body.url = former;
		});
		await trigger.activate();
		const { id } = await onlySubscription();
		await happen('before');
		await came('before');
		await sandbox.advance(120);
		ahead = 600_000;
		trigger.fails = 503;
		await happen('meanwhile');
		await until(() => trigger.answers.includes(503));
		trigger.fails = undefined;
		await trigger.restart(moved());
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ url: elsewhere() });
		expect((await onlySubscription()).id).not.toBe(id);
		await came('before', 'meanwhile');
		expect(await deliveries()).toHaveLength(1);
		if (how === 'has no PATCH') expect(service.passed.filter((request) => request.startsWith('PATCH'))).toEqual([]);
		await trigger.deactivate();
	});
});

test('a subscription that n8n no longer listens to does not prevent ending the trigger', async () => {
	await trigger.activate();
	await trigger.restart('http://127.0.0.1:9');
	await trigger.deactivate();
	expect(await subscriptions()).toEqual([]);
});
