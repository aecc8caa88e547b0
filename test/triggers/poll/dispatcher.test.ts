import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import { Dispatcher } from '../../../nodes/CrmPlatform/trigger/poll/dispatcher';
import type { DispatchOptions } from '../../../nodes/CrmPlatform/trigger/poll/pollProperties';
import type { Loaded } from '../../../nodes/CrmPlatform/trigger/poll/loadGroup';
import type { Group, Position } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';
import { isUnwritable } from './poll-model/poll-world.ts';
import { forgetN8n } from '../../../nodes/CrmPlatform/trigger/poll/starts';
import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';

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
	const started: DeferredPromise[] = [];
	const stored: DeferredPromise[] = [];
	const warnings: string[] = [];
	const data = {};
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { warn: (message: string) => void warnings.push(message), error: () => undefined },
		getInstanceId: () => 'i',
		getNode: () => ({ id: 'node', name: 'Trigger', type: 'package.poll' }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => ({}),
		getWorkflowStaticData: () => data,
		emit: ([items]: [INodeExecutionData[]], _response: unknown, done: DeferredPromise) => {
			if (!isUnwritable(items)) started.push(done);
			else stored.push(done);
		},
	} as unknown as ITriggerFunctions;
	const position = { start: '', open: names.map(groupOf) } as unknown as Position;
	const dispatcher = new Dispatcher(n8n, position, options, clock);
	const startDue = async () => await dispatcher.startDue(async () => loaded, dispatcher.signal);
	const succeed = async (start: number) => {
		started[start]!.resolve(run);
		await clock.advance(0);
	};
	return { clock, n8n, dispatcher, stored, warnings, startDue, succeed };
}

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

test('a full queue is reported with the name of the trigger, and then no more is read', () => {
	const { dispatcher, warnings } = dispatcherOf(...Array.from({ length: 500 }, (_, i) => `g${i}`));
	expect(dispatcher.roomForGroups()).toBe(0);
	expect(warnings).toEqual([expect.stringMatching(/^Trigger: 500 executions are queued/)]);
});
