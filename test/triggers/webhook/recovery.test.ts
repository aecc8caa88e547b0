import { until } from '../../support/until.ts';
import { deliveries, happen, names, sandbox, trigger } from '../../support/watched-trigger';

const hour = 3_600_000;

afterEach(() => void jest.restoreAllMocks());

const numbered = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `${from + i}`);

/** IDs of the events that the service has delivered at the first attempt. */
const arrivedAtOnce = async (): Promise<string[]> =>
	(await deliveries('?limit=100')).filter(({ attempts }) => (attempts as unknown[]).length === 1).map(({ event_id }) => String(event_id));

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

test('events before the first activation start nothing', async () => {
	await happen('before');
	await trigger.activate();
	await happen('after');
	await settle(1);
	expect(names()).toEqual(['after']);
});

test('events that occurred while the workflow was inactive arrive afterwards, in sequence, once', async () => {
	await trigger.activate();
	await happen('a', 'b');
	await settle(2);
	await trigger.deactivate();
	await happen(...numbered(30));
	await trigger.activate();
	await settle(32);
	// Some may arrive before the activation is complete. They are retried later, and others overtake them.
	const arrived = await arrivedAtOnce();
	const inSequence = trigger.started
		.slice(2)
		.filter(({ id }) => arrived.includes(String(id)))
		.map(({ sequence }) => sequence as number);
	await trigger.activate();
	await happen('z');
	await settle(33);
	const [a, b, ...others] = names();
	expect([a, b, others.pop()]).toEqual(['a', 'b', 'z']);
	expect(others.sort()).toEqual(numbered(30).sort());
	expect(inSequence.length).toBeGreaterThan(0);
	expect(inSequence).toEqual(inSequence.toSorted((a, b) => a - b));
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

test('without recovery, missed events stay missed', async () => {
	trigger.parameters = { ...trigger.parameters, recover: false };
	await miss('missed');
	await trigger.activate();
	await happen('after');
	await settle(1);
	expect(names()).toEqual(['after']);
});

test('in a test run, nothing is recovered', async () => {
	await miss('missed');
	await trigger.activate(true);
	await happen('tried');
	await until(() => trigger.started.length === 1);
	await trigger.deactivate(true);
	expect(names()).toEqual(['tried']);
});
