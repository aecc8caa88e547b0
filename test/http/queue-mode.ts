import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../bench/scale/clock.ts';
import type { Outcome } from '../../nodes/CrmPlatform/trigger/poll/outcome';
import type { Group } from '../../nodes/CrmPlatform/trigger/poll/position';
import { Starts } from '../../nodes/CrmPlatform/trigger/poll/starts';
import { createDeferredPromise, type DeferredPromise } from '../triggers/poll/deferred-promise.ts';

export const minute = 60_000;

/** An execution that n8n was asked to start, and the promises of its response and its run. */
interface Emission {
	key: string;
	items: unknown[];
	response: DeferredPromise | undefined;
	run: DeferredPromise;
}

/** An n8n in queue mode that answers when the test says so. */
export function startInQueueMode(node: object = {}, settings: object = {}) {
	const emitted: Emission[] = [];
	const reported: string[] = [];
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { error: () => undefined },
		getNode: () => ({ id: 'node', name: 'Trigger', ...node }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => settings,
		saveFailedExecution: (error: Error) => void reported.push(error.message),
		emit: ([items]: [unknown[]], response: DeferredPromise | undefined, run: DeferredPromise, key = '::no key') =>
			void emitted.push({ key: key.split(':')[2]!, items, response, run }),
	} as unknown as ITriggerFunctions;
	const clock = new SimulatedClock();
	const starts = new Starts(clock);
	const outcomes: Record<string, Outcome> = {};

	const end = async (emission: number, run: IRun | undefined) => {
		emitted.at(emission)!.run.resolve(run);
		await clock.advance(0);
	};
	const reject = async (emission: number, message: string) => {
		emitted.at(emission)!.run.reject(new Error(message));
		await clock.advance(0);
	};
	return {
		emitted,
		reported,
		outcomes,
		starts,
		begin(name: string, isDoneWhenBegun = false) {
			const group = { name, attempt: 1, unbegun: 0, kind: 'events', ids: [name] } as unknown as Group;
			const settle = (outcome: Outcome) => void (outcomes[name] = outcome);
			starts.begin(n8n, { group, items: [{ json: { id: name } }], isDoneWhenBegun, settle });
		},
		end,
		succeed: async (emission: number) => await end(emission, runWith('success')),
		/** n8n gives up a job that no worker has finished. */
		giveUp: async (emission: number, error?: object) => await end(emission, runWith('error', { jobId: undefined, data: untouched(error) })),
		/** n8n already has an execution with this key. */
		recognize: async (emission: number) => await end(emission, undefined),
		/** n8n has no execution with this key, and cannot start one. */
		refuse: async (emission: number) => await reject(emission, 'No execution was started'),
		/** n8n's database is away. */
		disconnect: async (emission: number) => await reject(emission, 'Connection terminated'),
		async after(ms: number) {
			await clock.advance(ms);
			starts.check(n8n);
			await clock.advance(0);
		},
		keys: () => emitted.map(({ key }) => key),
	};
}

/** A run as n8n reports it; on a worker, unless it has no job. */
export const runWith = (status: string, more: object = {}) =>
	({ status, jobId: '1', data: { resultData: { runData: { Trigger: [] } } }, ...more }) as unknown as IRun;

/** The data of an execution in which no node has run. */
export const untouched = (error?: object) => ({ resultData: { runData: {}, error } });
