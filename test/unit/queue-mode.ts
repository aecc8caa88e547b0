import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Outcome } from '../../nodes/CrmPlatform/trigger/changes/outcome';
import type { Group } from '../../nodes/CrmPlatform/trigger/changes/position';
import { Starts } from '../../nodes/CrmPlatform/trigger/changes/starts';

export const minute = 60_000;

/** An emission, and the answers of n8n: each waits until the trigger has handled it. */
interface Emitted {
	key: string;
	items: unknown[];
	answer(response: object): Promise<void>;
	resolve(run: IRun | undefined): Promise<void>;
	reject(error: Error): Promise<void>;
}

interface Deferred {
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** An n8n in queue mode that answers when the test says so. */
export function startInQueueMode(node: object = {}, settings: object = {}) {
	const emitted: Emitted[] = [];
	const reported: string[] = [];
	let now = 0;
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { error: () => undefined },
		getNode: () => ({ id: 'node', name: 'Trigger', ...node }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => settings,
		saveFailedExecution: (error: Error) => void reported.push(error.message),
		emit: ([items]: [unknown[]], answer: Deferred | undefined, done: Deferred, key = '::no key') =>
			void emitted.push({
				key: key.split(':')[2]!,
				items,
				answer: async (response) => await settled(() => answer!.resolve(response)),
				resolve: async (run) => await settled(() => done.resolve(run)),
				reject: async (error) => await settled(() => done.reject(error)),
			}),
	} as unknown as ITriggerFunctions;
	const waits: Array<() => void> = [];
	const sleep = async () => await new Promise<void>((resolve) => void waits.push(resolve));
	const starts = new Starts({ now: () => now, sleep, random: () => 0 });
	const outcomes: Record<string, Outcome> = {};
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
		async after(ms: number) {
			now += ms;
			for (const wake of waits.splice(0)) wake();
			await settled();
			starts.check(n8n);
			await settled();
		},
		keys: () => emitted.map(({ key }) => key),
	};
}

/** A deferred promise, like n8n's helper of this name. */
function createDeferredPromise() {
	const settle = {} as Deferred;
	const promise = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
	return { promise, ...settle };
}

/** Answers, then waits until the promises that depend on the answer are settled. */
async function settled(answer?: () => void): Promise<void> {
	answer?.();
	await new Promise((resolve) => setImmediate(resolve));
}

/** The run of an execution on a worker. */
export const workerRun = (status: string, more: object = {}) => ({ status, jobId: '1', data: { resultData: { runData: { Trigger: [] } } }, ...more }) as unknown as IRun;

/** The run that n8n makes up for a job that failed. */
export const failedJobRun = () => workerRun('error', { jobId: undefined, data: { resultData: { runData: {} } } });
