import { useAlteredService } from '../../support/altered-trigger';
import { quickRetries } from '../../support/quick-retries';
import { until } from '../../support/until.ts';
import { came, change, deliveriesFail, happen, onlySubscription, sandbox, trigger } from '../../support/watched-trigger';

const service = useAlteredService();

const createdAt = async () => Date.parse(String((await onlySubscription()).created_at));
/** Moves the service's clock, as its responses show it. */
const dated = (ms: number) => {
	service.edit((answer) => void (answer.date = new Date(Date.now() + ms).toUTCString()));
};

/** More than a minute, which is always looked at again, passes after the last change of the subscription. */
const tenMinutesPass = async () => {
	await sandbox.advance(600);
	dated(Date.parse(String((await onlySubscription()).updated_at)) + 600_000 - Date.now());
};

describe.each([
	['paused', { status: 'paused' }, { status: 'active' }],
	['asked for other events', { events: ['deal.won'] }, { events: ['contact.created'] }],
])('an event that a subscription misses, because somebody has %s and restored it before the next look,', (_, there, back) => {
	beforeEach(async () => {
		await trigger.activate();
		await trigger.look();
		await change('PATCH', there);
		await happen('meanwhile');
		await change('PATCH', back);
		await tenMinutesPass();
	});

	test('arrives after the look', async () => {
		await trigger.look();
		await came('meanwhile');
		const recoveries = () => service.passed.filter((request) => request.endsWith('/recover')).length;
		const before = recoveries();
		await trigger.look();
		expect(recoveries()).toBe(before);
	});

	test('arrives after a publish', async () => {
		await trigger.deactivate();
		await trigger.activate();
		await came('meanwhile');
	});

	test('arrives after a start of n8n', async () => {
		await trigger.restart();
		await trigger.look();
		await came('meanwhile');
	});
});

test('if a look has repaired the subscription but could not recover events, they arrive after a publish', async () => {
	await trigger.activate();
	await trigger.look();
	await change('PATCH', { events: ['deal.won'] });
	await happen('meanwhile');
	await tenMinutesPass();
	await sandbox.faults({ method: 'POST', path: '/v1/webhooks', status: 403 });
	await trigger.look();
	expect(await onlySubscription()).toMatchObject({ events: ['contact.created'] });
	await sandbox.clear();
	await trigger.deactivate();
	await trigger.activate();
	await came('meanwhile');
});

test.each([
	['event of a delivery', 403],
	['event of a delivery', 404],
	['event of a delivery', 500],
	['list of deliveries', 403],
	['list of deliveries', 404],
])('if the %s answers with %d, the watch and an unpublish continue, and nothing is lost', async (endpoint, status) => {
	quickRetries();
	await trigger.activate();
	trigger.fails = 503;
	await happen('failed');
	await deliveriesFail();
	await trigger.look();
	trigger.fails = undefined;
	const part = endpoint === 'event of a delivery' ? '/v1/events/' : '/deliveries';
	service.edit((answer) => void (answer.path.includes(part) && (answer.status = status)));
	for (let i = 0; i < 2; i++) await trigger.look();
	expect(trigger.warnings).toEqual([]);
	expect(trigger.reported).toEqual([]);
	await trigger.deactivate();
	await trigger.activate();
	await came('failed');
});

describe('n8n is stopped for days', () => {
	const stop = async (days: number, ...names: string[]) => {
		await trigger.activate();
		await happen('before');
		await came('before');
		trigger.fails = 503;
		await happen(...names);
		await deliveriesFail();
		const now = (await createdAt()) + days * 86_400_000;
		await sandbox.advance(days * 86_400);
		await happen('young');
		await until(async () => trigger.answers.length > 2 * names.length + 1 || (await onlySubscription()).status === 'disabled');
		trigger.fails = undefined;
		jest.spyOn(Date, 'now').mockReturnValue(now);
	};
	afterEach(() => void jest.restoreAllMocks());

	test('its subscription was disabled: events older than Maximum Age are reported', async () => {
		await stop(6, 'old');
		await until(async () => (await onlySubscription()).status === 'disabled');
		await happen('while disabled');
		await trigger.restart();
		await trigger.look();
		expect(await onlySubscription()).toMatchObject({ status: 'active' });
		expect(trigger.reported).toEqual([
			expect.stringMatching(/was disabled .* Events may be missing, those before .* are older than Maximum Age/),
		]);
	});

	test('its deliveries failed: events older than Maximum Age are reported', async () => {
		await stop(3, 'old');
		await trigger.restart();
		await trigger.look();
		expect(trigger.reported).toEqual([expect.stringMatching(/^Events may be missing, those before .* are older than Maximum Age/)]);
	});
});

test('n8n that was stopped for days without any event reports nothing', async () => {
	await trigger.activate();
	const now = (await createdAt()) + 3 * 86_400_000;
	await sandbox.advance(3 * 86_400);
	dated(now - Date.now());
	jest.spyOn(Date, 'now').mockReturnValue(now);
	await trigger.restart();
	await trigger.look();
	jest.restoreAllMocks();
	expect(trigger.reported).toEqual([]);
});
