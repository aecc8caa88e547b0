import type { INodeExecutionData, IRun, ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import { Dispatcher } from '../../../nodes/CrmPlatform/trigger/poll/dispatcher';
import type { DispatchOptions } from '../../../nodes/CrmPlatform/trigger/poll/eventChoice';
import type { Loaded } from '../../../nodes/CrmPlatform/trigger/poll/loadGroup';
import type { Group, Position } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';
import { isUnwritable } from './poll-model/poll-world.ts';

export const options: DispatchOptions = { doneWhen: 'succeeded', attempts: 3, afterCrash: 'startAgain', atOnce: 2, groupSize: 1 };

export const groupOf = (name: string): Group => ({
	name, attempt: 1, unbegun: 0, kind: 'events', start: '', ids: [name], records: [name],
	sequences: [1], timestamps: ['2026-06-01T00:00:00Z'], types: ['a.x'], shape: 'event',
});

const run = { status: 'success', data: { resultData: { runData: { Trigger: [] } } } } as unknown as IRun;
export const loaded: Loaded = { items: [{ json: {} }], failures: [] };

/** A dispatcher with these open groups, and an n8n that answers when the test says so. */
export function dispatcherOf(...names: string[]) {
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
	const loadAll: (group: Group, tries: number) => Promise<Loaded> = async () => loaded;
	const startDue = async (load = loadAll, signal = dispatcher.signal) => await dispatcher.startDue(load, signal);
	const end = (status: string) => async (start: number) => {
		started[start]!.run.resolve({ ...run, status });
		await clock.advance(0);
	};
	const [succeed, fail] = [end('success'), end('error')];
	return { clock, n8n, dispatcher, position, started, stored, warnings, reported, state, startDue, succeed, fail, data };
}
