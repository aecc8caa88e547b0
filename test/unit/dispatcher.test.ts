import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import { Dispatcher } from '../../nodes/CrmPlatform/trigger/changes/dispatcher';
import type { DispatchOptions } from '../../nodes/CrmPlatform/trigger/changes/eventChoice';
import type { Loaded } from '../../nodes/CrmPlatform/trigger/changes/loadGroup';
import type { Group, Position } from '../../nodes/CrmPlatform/trigger/changes/position';
import { forgetN8n } from '../../nodes/CrmPlatform/trigger/changes/starts';
import { forgetStates } from '../../nodes/CrmPlatform/trigger/storedState';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';
import { isUnwritable } from './poll-model/poll-world.ts';

afterEach(() => {
	forgetN8n();
	forgetStates();
});

const options: DispatchOptions = { doneWhen: 'succeeded', attempts: 3, afterCrash: 'startAgain', atOnce: 2, groupSize: 1 };

const groupOf = (name: string): Group => ({
	name, attempt: 1, unbegun: 0, kind: 'events', start: '', ids: [name], records: [name],
	sequences: [1], timestamps: ['2026-06-01T00:00:00Z'], types: ['a.x'], shape: 'event',
});

const run = { status: 'success', data: { resultData: { runData: { Trigger: [] } } } } as unknown as IRun;
const loaded: Loaded = { items: [{ json: {} }], failures: [] };

/** A dispatcher with these open groups, and an n8n that answers when the test says so. */
function dispatcherOf(...names: string[]) {
	const clock = new SimulatedClock();
	const started: Array<{ name: string; run: DeferredPromise }> = [];
	const stored: DeferredPromise[] = [];
	const warnings: string[] = [];
	const reported: string[] = [];
	/** Whether n8n has an execution for any group that it is asked about. */
	const state = { hasExecution: false };
	const data = {};
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { warn: (message: string) => void warnings.push(message), error: () => undefined },
		getInstanceId: () => 'i',
		getNode: () => ({ id: 'node', name: 'Trigger', type: 'package.poll' }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => ({}),
		getWorkflowStaticData: () => data,
		saveFailedExecution: ({ message }: Error) => void reported.push(message),
		emit: ([items]: [INodeExecutionData[]], _response: unknown, done: DeferredPromise, key = '') => {
			if (!isUnwritable(items)) started.push({ name: key, run: done });
			else if (key === '') stored.push(done);
			else if (state.hasExecution) done.resolve(undefined);
			else done.reject(new Error('No execution was started'));
		},
	} as unknown as ITriggerFunctions;
	const position = { start: '', open: names.map(groupOf) } as unknown as Position;
	const dispatcher = new Dispatcher(n8n, position, options, clock);
	const startDue = async (load: (group: Group, tries: number) => Promise<Loaded> = async () => loaded, signal = dispatcher.signal) => await dispatcher.startDue(load, signal);
	const succeed = async (start: number) => {
		started[start]!.run.resolve(run);
		await clock.advance(0);
	};
	return { clock, n8n, dispatcher, position, started, stored, warnings, reported, state, startDue, succeed };
}

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
	expect(dispatcher.room).toBe(0);
	expect(warnings).toEqual([expect.stringMatching(/^Trigger: 500 executions are queued/)]);
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

test('a group without items ends without an execution, and its events may be read again', async () => {
	const { dispatcher, position, started, startDue } = dispatcherOf('a');
	const identity = 'a 2026-06-01T00:00:00Z';
	for (const read of [identity, 'other']) dispatcher.read.set(read, true);
	await startDue(async () => ({ items: [], failures: [] }));
	expect([started, position.open]).toEqual([[], []]);
	expect([dispatcher.read.get(identity), dispatcher.read.get('other')]).toEqual([undefined, true]);
});

describe('a group that cannot be read as a whole', () => {
	/** A group of two events, of which the second cannot be read. */
	function halfReadable(isFinal: boolean, items = loaded.items) {
		const world = dispatcherOf();
		const { clock, dispatcher, position, startDue } = world;
		const { timestamps, ...first } = groupOf('a');
		position.open = [{ ...first, ids: ['a', 'b'], records: ['a', 'b'], sequences: [1, 2], timestamps: [...timestamps, ...timestamps] }];
		const ids = items.length === 0 ? ['a', 'b'] : ['b'];
		const load = jest.fn(async () => ({ items, failures: [{ ids, error: new Error('no answer'), isFinal }] }));
		const readUntilDue = async () => {
			await startDue(load);
			const wait = dispatcher.nextDue(clock.now()) - clock.now();
			if (Number.isFinite(wait)) await clock.advance(wait);
			return wait;
		};
		return { ...world, load, readUntilDue };
	}

	test('waits longer each time, and starts without the unreadable part after the fourth reading', async () => {
		const { clock, position, started, load, dispatcher, readUntilDue, startDue } = halfReadable(true);
		const waits = [await readUntilDue(), await readUntilDue(), await readUntilDue()];
		expect([waits, started.length, load.mock.calls.map(([, tries]: unknown[]) => tries)]).toEqual([[5_000, 10_000, 20_000], 0, [0, 1, 2]]);
		await startDue(load);
		expect(started).toHaveLength(1);
		expect(position.open.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
		expect(dispatcher.nextDue(clock.now()) - clock.now()).toBe(40_000);
	});

	test('is not read before it is due', async () => {
		const { load, startDue } = halfReadable(true);
		await startDue(load);
		await startDue(load);
		expect(load).toHaveBeenCalledTimes(1);
	});

	test('ends if its execution exists, as all of it was readable before', async () => {
		const { position, started, reported, state, readUntilDue } = halfReadable(true);
		position.open[0]!.isEmitted = true;
		state.hasExecution = true;
		for (let i = 0; i < 4; i++) await readUntilDue();
		// It is attempted again, as its execution may have failed.
		expect([started, position.open.map(({ attempt }) => attempt), reported]).toEqual([[], [2], []]);
	});

	test('is set aside and reported if the service refuses all of it', async () => {
		const { position, started, reported, readUntilDue } = halfReadable(true, []);
		for (let i = 0; i < 4; i++) await readUntilDue();
		expect([started, position.open]).toEqual([[], []]);
		expect(reported).toEqual([expect.stringContaining('set aside')]);
	});

	test('waits for as long as the service does not answer, and is reported once', async () => {
		const { position, started, reported, readUntilDue } = halfReadable(false, []);
		for (let i = 0; i < 6; i++) await readUntilDue();
		expect([started.length, position.open.length]).toEqual([0, 1]);
		expect(reported).toEqual([expect.stringContaining('could not be read yet')]);
	});
});
