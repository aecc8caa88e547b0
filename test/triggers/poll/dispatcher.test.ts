import { forgetN8n } from '../../../nodes/CrmPlatform/trigger/poll/starts';
import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { dispatcherOf, loaded, options } from './open-groups.ts';

afterEach(() => {
	forgetN8n();
	forgetStates();
});

test('a trigger is idle once it is closed and its last execution has ended, from the next instant on', async () => {
	const { clock, dispatcher, startDue, succeed } = dispatcherOf('a');
	expect(dispatcher.isIdleSince(Infinity)).toBe(false);
	await startDue();
	await clock.advance(1_000);
	dispatcher.close();
	expect(dispatcher.isIdleSince(Infinity)).toBe(false);
	await succeed(0);
	expect([0, 1].map((ms) => dispatcher.isIdleSince(clock.now() + ms))).toEqual([false, true]);
});

test('a trigger that has been opened again is not idle', () => {
	const { n8n, dispatcher } = dispatcherOf();
	const first = dispatcher.signal;
	dispatcher.reopen(n8n, options);
	expect([first.aborted, dispatcher.signal.aborted, dispatcher.isIdleSince(Infinity)]).toEqual([true, false, false]);
});

test('the position is stored when it has changed, and once', () => {
	const { dispatcher, stored } = dispatcherOf();
	expect(dispatcher.version).toEqual({ takeover: 0, revision: 0 });
	dispatcher.close();
	expect(stored).toHaveLength(0);
	dispatcher.changed();
	dispatcher.close();
	expect(stored).toHaveLength(1);
	dispatcher.store();
	expect(stored).toHaveLength(1);
	expect(dispatcher.version.revision).toBeGreaterThan(0);
});

test('a position that n8n could not store is stored later', async () => {
	const { clock, dispatcher, stored } = dispatcherOf();
	dispatcher.changed();
	dispatcher.store();
	stored[0]!.reject(new Error('Connection terminated'));
	await clock.advance(0);
	dispatcher.store();
	expect(stored).toHaveLength(2);
});

test('while executions are under way, the next start stores the position', async () => {
	const { dispatcher, stored, startDue, succeed } = dispatcherOf('a');
	await startDue();
	dispatcher.changed();
	dispatcher.storeWhenIdle();
	expect(stored).toHaveLength(0);
	await succeed(0);
	dispatcher.storeWhenIdle();
	expect(stored).toHaveLength(1);
});

test('an outcome after the trigger was closed is stored immediately, and wakes nobody', async () => {
	const { dispatcher, position, stored, startDue, succeed } = dispatcherOf('a');
	let wakeCount = 0;
	dispatcher.onSettled = () => (wakeCount += 1);
	await startDue();
	dispatcher.close();
	await succeed(0);
	expect([position.open, stored.length, wakeCount]).toEqual([[], 1, 0]);
});

test('an outcome wakes the reading, which stores it', async () => {
	const { dispatcher, stored, startDue, succeed } = dispatcherOf('a');
	let wakeCount = 0;
	dispatcher.onSettled = () => (wakeCount += 1);
	await startDue();
	await succeed(0);
	expect([stored.length, wakeCount]).toEqual([0, 1]);
});

test('a full queue is reported with the name of the trigger, and then no more is read', () => {
	const { dispatcher, warnings } = dispatcherOf(...Array.from({ length: 500 }, (_, i) => `g${i}`));
	expect(dispatcher.roomForGroups()).toBe(0);
	expect(warnings).toEqual([expect.stringMatching(/^Trigger: 500 executions are queued/)]);
});

test('an execution that fails is repeated with its next attempt, and set aside after the last', async () => {
	const { clock, dispatcher, position, started, reported, startDue, fail } = dispatcherOf('a');
	const waits: number[] = [];
	for (let attempt = 0; attempt < options.attempts; attempt++) {
		await startDue();
		expect(started).toHaveLength(attempt + 1);
		await fail(attempt);
		waits.push(dispatcher.nextDue(clock.now()) - clock.now());
		await clock.advance(Math.min(waits.at(-1)!, 60_000));
	}
	expect([waits, position.open, reported.length]).toEqual([[5_000, 10_000, Infinity], [], 1]);
	expect(new Set(started.map(({ name }) => name)).size).toBe(options.attempts);
});

test('the position that is stored with a start includes that n8n was asked for it', async () => {
	const { position, data, startDue } = dispatcherOf('a');
	await startDue();
	expect(position.open[0]!.isEmitted).toBe(true);
	expect(JSON.stringify(data)).toContain('"isEmitted":true');
});

test('an outcome is stored although nothing else has changed', async () => {
	const { dispatcher, stored, startDue, fail } = dispatcherOf('a');
	await startDue();
	await fail(0);
	dispatcher.store();
	expect(stored).toHaveLength(1);
});

test('no more groups are started than may run at once', async () => {
	const { started, startDue, succeed } = dispatcherOf('a', 'b', 'c');
	await startDue();
	expect(started).toHaveLength(2);
	await startDue();
	expect(started).toHaveLength(2);
	await succeed(0);
	await startDue();
	expect(started).toHaveLength(3);
});

test('an opening that has ended starts and reads nothing', async () => {
	const { n8n, dispatcher, started, startDue } = dispatcherOf('a');
	const { signal } = dispatcher;
	const load = jest.fn(async () => loaded);
	dispatcher.reopen(n8n, options);
	await startDue(load, signal);
	expect(load).not.toHaveBeenCalled();
	expect(started).toHaveLength(0);
});

test('an opening that ends while a group is read does not start it', async () => {
	const { n8n, dispatcher, position, started, startDue } = dispatcherOf('a');
	await startDue(async () => {
		dispatcher.reopen(n8n, options);
		return loaded;
	});
	expect([started.length, position.open.length]).toEqual([0, 1]);
});

test('a group without items ends without an execution', async () => {
	const { position, started, startDue } = dispatcherOf('a');
	await startDue(async () => ({ items: [], failures: [] }));
	expect([started, position.open]).toEqual([[], []]);
});
