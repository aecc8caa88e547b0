import { alteredService } from '../../support/altered-service';
import { until } from '../../support/until.ts';
import {
	came, change, deliveries, disableSubscription, happen, names, onlySubscription, replaceTrigger, sandbox, subscriptions, trigger,
} from '../../support/watched-trigger';
import { startTrigger } from '../../support/webhook-trigger';

test('activation subscribes the workflow’s address to the chosen events, under the workflow’s name', async () => {
	trigger.parameters = { events: ['deal.*', 'contact.created'] };
	await trigger.activate();
	expect(await onlySubscription()).toMatchObject({
		url: trigger.url,
		events: ['contact.created', 'deal.*'],
		description: 'n8n: Welcome new contacts / CRM Platform Trigger',
		status: 'active',
	});
	await trigger.deactivate();
	expect(await subscriptions()).toEqual([]);
});

test('publishing again leaves a correct subscription alone, and changes another one', async () => {
	trigger.parameters = { ...trigger.parameters, recover: false };
	await trigger.activate();
	const first = await onlySubscription();
	await trigger.activate();
	expect(await onlySubscription()).toEqual(first);
	trigger.parameters = { ...trigger.parameters, events: ['deal.won'] };
	await trigger.activate();
	expect(await onlySubscription()).toMatchObject({ id: first.id, events: ['deal.won'] });
});

test('a failure is reported, and nothing is left behind', async () => {
	trigger.parameters = { events: [] };
	await expect(trigger.activate()).rejects.toThrow('Choose at least one event');
	trigger.parameters = { events: ['deal.danced'] };
	await expect(trigger.activate()).rejects.toThrow(/There is no event deal.danced/);
	await trigger.close();
	const credential = { ...sandbox.credential, apiKey: 'wrong' };
	replaceTrigger(await startTrigger({ credential, parameters: { events: ['contact.created'] } }));
	await expect(trigger.activate()).rejects.toThrow(/credential/);
	await expect(trigger.deactivate()).rejects.toThrow(/credential/);
	expect(await subscriptions()).toEqual([]);
});

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

/** Publishes. n8n, which starts, answers the event of a new contact itself. */
async function answeredByN8n(name: string): Promise<void> {
	await trigger.activate();
	trigger.isStarting = true;
	await happen(name);
	await until(() => trigger.answers.length === 1);
	trigger.isStarting = false;
}

test.each([
	['is delivered again', true, ['after', 'meanwhile']], ['is not, without recovery', false, ['after']],
])('an event that n8n has answered itself %s', async (_, recover, expected) => {
	trigger.parameters = { ...trigger.parameters, recover };
	await answeredByN8n('meanwhile');
	for (let i = 0; i < 2; i++) await trigger.look();
	await happen('after');
	await came(...expected);
	expect(trigger.answers).toHaveLength(1 + expected.length);
});

test('behind a gateway that answers by itself, an event is sent a second time and then no more', async () => {
	await answeredByN8n('first');
	trigger.isStarting = true;
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

describe('a subscription', () => {
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

	test('an event that the CRM refuses to send again is named in the log, and the watch goes on', async () => {
		await answeredByN8n('meanwhile');
		service.alter({ request: ({ url }) => (url.pathname.endsWith('/retry') ? { status: 403, body: '{"code":"forbidden"}' } : undefined) });
		for (let i = 0; i < 6; i++) await trigger.look();
		expect(trigger.reported).toEqual([]);
		expect(trigger.warnings).toEqual([expect.stringMatching(/does not send the event evt_\w+ again/)]);
	});

	test('numeric ids are used as they are', async () => {
		const numbers = new Map<string, number>();
		service.alter({
			request(request) {
				const real = (id: string) => [...numbers].find(([, number]) => number === Number(id))![0];
				request.url.pathname = request.url.pathname.replace(/(?<=\/)\d+(?=\/|$)/g, real);
			},
			answer: (text, { url }) =>
				/\/webhooks/.test(url.pathname)
					? text.replace(/"((?:whk|dlv|evt)_\w+)"/g, (_, id: string) => String(numbers.get(id) ?? numbers.set(id, numbers.size + 1).get(id)))
					: text,
		});
		await answeredByN8n('Moreno');
		await trigger.look();
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
});

// From here on, the clock of the CRM is ahead.

const hour = 3_600_000;

afterEach(() => void jest.restoreAllMocks());

/** Waits until this many events have started the workflow, and no delivery is pending. */
const settle = async (count: number) =>
	await until(async () => {
		const [pending] = await deliveries('?status=pending&limit=1');
		// A retry that is due in five seconds is made now. Deliveries in flight are left alone: if all were due at once,
		// they would arrive in any order.
		if ((pending?.attempts as unknown[] | undefined)?.length) await sandbox.advance(6);
		return trigger.started.length >= count && !pending;
	});

/** An event that occurs after the workflow was published and unpublished. */
const miss = async (name: string) => {
	await trigger.activate();
	await trigger.deactivate();
	await happen(name);
};

test.each([
	['before the first activation', happen, true], ['while the workflow was inactive, without recovery', miss, false],
])('events that occurred %s start nothing', async (_, occur, recover) => {
	trigger.parameters = { ...trigger.parameters, recover };
	await occur('before');
	await trigger.activate();
	await happen('after');
	await settle(1);
	expect(names()).toEqual(['after']);
});

test('events that occurred while the workflow was inactive arrive afterwards, once', async () => {
	await trigger.activate();
	await happen('a', 'b');
	await settle(2);
	await trigger.deactivate();
	const missed = Array.from({ length: 30 }, (_, i) => `${i}`);
	await happen(...missed);
	await trigger.activate();
	await settle(32);
	await trigger.activate();
	await happen('z');
	await settle(33);
	expect(names().sort()).toEqual(['a', 'b', 'z', ...missed].sort());
});

test('events older than the limit stay missed', async () => {
	trigger.parameters = { ...trigger.parameters, recoverHours: 2 };
	await miss('too old');
	await sandbox.advance(90 * 60);
	await happen('young enough');
	const now = Date.now();
	jest.spyOn(Date, 'now').mockImplementation(() => now + 3 * hour);
	await trigger.activate();
	jest.restoreAllMocks();
	await settle(1);
	expect(names()).toEqual(['young enough']);
});

test('in a test run, nothing is recovered', async () => {
	await miss('missed');
	await trigger.activate(true);
	await happen('tried');
	await until(() => trigger.started.length === 1);
	await trigger.deactivate(true);
	expect(names()).toEqual(['tried']);
});
