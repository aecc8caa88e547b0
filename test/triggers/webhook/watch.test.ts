import {
	came, change, deliveries, disableSubscription, happen, onlySubscription, sandbox, subscriptions, trigger,
} from '../../support/watched-trigger';
import { until } from '../../support/until.ts';

test('a subscription deleted in the CRM is created again, and missed events arrive', async () => {
	await trigger.activate();
	await happen('before');
	await came('before');
	const { id } = await onlySubscription();
	await change('DELETE');
	await happen('meanwhile');
	await trigger.look();
	expect((await onlySubscription()).id).not.toBe(id);
	await happen('after');
	await came('after', 'before', 'meanwhile');
	expect(trigger.warnings.join()).toContain(`The webhook ${String(id)} was deleted in the CRM`);
	expect(trigger.reported).toEqual([]);
	// What n8n has stored has the new secret.
	await trigger.restart();
	await happen('later');
	await came('after', 'before', 'later', 'meanwhile');
});

test('a subscription that is changed in the CRM is changed back, and a rotated secret is replaced', async () => {
	await trigger.activate();
	for (const body of [{ url: 'https://elsewhere.example/hook' }, { events: ['deal.won'] }]) {
		await change('PATCH', body);
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ url: trigger.url, events: ['contact.created'] });
	}
	const path = `/v1/webhooks/${String((await onlySubscription()).id)}/rotate-secret`;
	const { body } = await sandbox.call('POST', path);
	await trigger.look();
	expect((await onlySubscription()).secret_hint).not.toBe(body.secret_hint);
	await happen('Moreno');
	await came('Moreno');
});

test('a subscription that is paused in the CRM is reported once and, when resumed, missed events arrive', async () => {
	await trigger.activate();
	await change('PATCH', { status: 'paused' });
	await happen('meanwhile');
	await trigger.look();
	await trigger.look();
	expect(trigger.reported).toEqual([expect.stringContaining('paused in the CRM')]);
	await change('PATCH', { status: 'active' });
	await trigger.look();
	await came('meanwhile');
});

test('an outage that follows a pause of the subscription is reported, too', async () => {
	await trigger.activate();
	await change('PATCH', { status: 'paused' });
	for (let i = 0; i < 5; i++) await trigger.look();
	await sandbox.faults({ path: '/v1/webhooks', status: 403 });
	for (let i = 0; i < 6; i++) await trigger.look();
	expect(trigger.reported).toHaveLength(2);
	await sandbox.clear();
});

test('a subscription that the CRM has disabled is enabled, and missed events arrive', async () => {
	await trigger.activate();
	await disableSubscription();
	await happen('meanwhile');
	await trigger.look();
	expect(await onlySubscription()).toMatchObject({ status: 'active' });
	await came('gone', 'meanwhile');
});

test('without recovery, the user is warned that events may be missing', async () => {
	trigger.parameters = { ...trigger.parameters, recover: false };
	await trigger.activate();
	await change('DELETE');
	await trigger.look();
	expect(trigger.reported).toEqual([expect.stringContaining('Events may be missing, because Recover Missed Events is off')]);
	expect(await onlySubscription()).toMatchObject({ status: 'active' });
});

test('n8n that starts while the CRM is away keeps its trigger, which recovers when the CRM is back', async () => {
	await trigger.activate();
	await change('DELETE');
	await happen('meanwhile');
	await sandbox.faults({ path: '/v1/webhooks', status: 403 });
	await trigger.restart();
	for (let i = 0; i < 6; i++) await trigger.look();
	expect(trigger.reported).toHaveLength(1);
	await sandbox.clear();
	await trigger.look();
	await came('meanwhile');
});

test('an event that n8n has answered itself is delivered again', async () => {
	await trigger.activate();
	trigger.isStarting = true;
	await happen('meanwhile');
	await until(() => trigger.answers.length === 1);
	trigger.isStarting = false;
	await trigger.look();
	await came('meanwhile');
	await trigger.look();
	expect(trigger.answers).toEqual([200, 202]);
});

test('without recovery, it is not', async () => {
	trigger.parameters = { ...trigger.parameters, recover: false };
	await trigger.activate();
	trigger.isStarting = true;
	await happen('meanwhile');
	await until(() => trigger.answers.length === 1);
	await trigger.look();
	expect(await deliveries('?status=pending')).toEqual([]);
});

test('behind a gateway that answers by itself, an event is sent a second time and then no more', async () => {
	await trigger.activate();
	trigger.isStarting = true;
	await happen('first');
	await until(() => trigger.answers.length === 1);
	await trigger.look();
	await until(() => trigger.answers.length === 2);
	await happen('second');
	await until(() => trigger.answers.length === 3);
	await trigger.look();
	const attempts = (await deliveries()).map((delivery) => (delivery['attempts'] as unknown[]).length);
	expect(attempts).toEqual([1, 2]);
});

test('after an unpublish, nothing subscribes again', async () => {
	await trigger.activate();
	await change('DELETE');
	const looking = trigger.look();
	await trigger.deactivate();
	await looking;
	expect(await subscriptions()).toEqual([]);
});

test('if n8n’s clock is wrong by more than five minutes, an execution says so once, and later the refused events arrive', async () => {
	await trigger.activate();
	const { secret_hint: hint } = await onlySubscription();
	const clock = jest.spyOn(Date, 'now').mockImplementation(() => new Date().getTime() + 7 * 60_000);
	await happen('refused', 'refused, too');
	await until(() => trigger.answers.length >= 2);
	await trigger.look();
	await trigger.look();
	expect(trigger.answers.slice(0, 2)).toEqual([401, 401]);
	expect(trigger.reported).toEqual([expect.stringMatching(/^The clock of n8n is 7 minutes ahead of the CRM’s/)]);
	clock.mockRestore();
	await trigger.look();
	// The service retries after five seconds.
	await sandbox.advance(6);
	await came('refused', 'refused, too');
	expect((await onlySubscription()).secret_hint).toBe(hint);
});
