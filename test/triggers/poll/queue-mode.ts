import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import { entryOf, ledgerOf } from '../../../nodes/CrmPlatform/trigger/poll/ledger';
import { Poller, Progress } from '../../../nodes/CrmPlatform/trigger/poll/trigger';
import type { Access, PollOptions, PollSettings } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import type { Position } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { notStarted } from '../../../nodes/CrmPlatform/trigger/storedState';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';

export const minute = 60_000;

/** An execution that n8n was asked to start, and the promises of its response and its run. */
interface Emission {
	key: string;
	items: unknown[];
	response: DeferredPromise | undefined;
	run: DeferredPromise;
}

const events = { output: { names: 'none' } };
const usual = { doneWhen: 'succeeded', attempts: 9, afterCrash: 'startAgain', atOnce: 9, events } as PollSettings;

const access = { records: { scope: {}, existing: async (ids: string[]) => ids.map((id) => ({ id })) } } as unknown as Access;

/** An n8n in queue mode that answers when the test says so, and the trigger. */
export function startInQueueMode(node: object = {}, options: Partial<PollOptions> = {}, workflow: object = {}) {
	const emitted: Emission[] = [];
	const reported: string[] = [];
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { error: () => undefined, warn: (message: string) => void reported.push(message) },
		getInstanceId: () => 'i',
		getNode: () => ({ id: 'node', name: 'Trigger', type: 'package.poll', ...node }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => workflow,
		getWorkflowStaticData: () => ({}),
		saveFailedExecution: (error: Error) => void reported.push(error.message),
		emit: ([items]: [unknown[]], response: DeferredPromise | undefined, run: DeferredPromise, key = 'no key') =>
			void emitted.push({ key: key.replace(/^\w*:\w*:|:1$/g, ''), items, response, run }),
	} as unknown as ITriggerFunctions;
	const clock = new SimulatedClock();
	const progress = new Progress(n8n, { beginning: '' } as Position, ledgerOf([]), clock.now());
	const poller = new Poller({ n8n, clock, settings: { ...usual, ...options } }, access, progress);

	const startDue = async () => {
		await poller.startDue();
		await clock.advance(0);
	};
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
		progress,
		/** What became of the group, as its next start shows. */
		outcome(name: string): 'done' | 'failed' | 'rejected by n8n' | 'ended before its first node' | 'under way' {
			const open = progress.ledger.entries.find(({ group }) => group.name === name);
			if (!open) return 'done';
			if (open.group.unbegun > 0) return 'ended before its first node';
			if (open.group.attempt > 1) return 'failed';
			return open.execution ? 'under way' : 'rejected by n8n';
		},
		async begin(name: string) {
			const group = { name, attempt: 1, unbegun: 0, beginning: '', members: [{ id: name, record: name }] };
			progress.ledger.entries.push(entryOf(group));
			await startDue();
		},
		end,
		succeed: async (emission: number) => await end(emission, runWith('success')),
		/** n8n gives up a job that no worker has finished. */
		giveUp: async (emission: number, error?: object) => await end(emission, runWith('error', { jobId: undefined, data: untouched(error) })),
		/** n8n already has an execution with this key. */
		recognize: async (emission: number) => await end(emission, undefined),
		/** n8n has no execution with this key, and cannot start one. */
		refuse: async (emission: number) => await reject(emission, `Error: ${notStarted}`),
		/** n8n's database is away. */
		disconnect: async (emission: number) => await reject(emission, 'Connection terminated'),
		async after(ms: number) {
			await clock.advance(ms);
			await startDue();
		},
		keys: () => emitted.map(({ key }) => key),
	};
}

/** A run as n8n reports it; on a worker, unless it has no job. */
export const runWith = (status: string, more: object = {}) =>
	({ status, jobId: '1', data: { resultData: { runData: { Trigger: [] } } }, ...more }) as unknown as IRun;

/** The data of an execution in which no node has run. */
export const untouched = (error?: object) => ({ resultData: { runData: {}, error } });
