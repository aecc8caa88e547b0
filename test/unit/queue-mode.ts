import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Outcome } from '../../nodes/CrmPlatform/trigger/changes/outcome';
import type { Group } from '../../nodes/CrmPlatform/trigger/changes/position';
import { Starts } from '../../nodes/CrmPlatform/trigger/changes/starts';

export const minute = 60_000;

/** What n8n was asked to start, and how it answers. */
interface Emitted {
	key: string;
	items: unknown[];
	answer(response: object): void;
	resolve(run: IRun | undefined): void;
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
		emit: ([items]: [unknown[]], answer: { resolve(response: object): void } | undefined, done: Emitted, key = '::no key') =>
			void emitted.push({
				key: key.split(':')[2]!,
				items,
				answer: (response) => answer!.resolve(response),
				resolve: (run) => done.resolve(run),
				reject: (error) => done.reject(error),
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
	const settle = {} as { resolve(value: unknown): void; reject(error: Error): void };
	const promise = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
	return { promise, ...settle };
}

export const settled = async () => await new Promise((resolve) => setImmediate(resolve));
export const runQueueMode = (status: string, more: object = {}) => ({ status, jobId: '1', data: { resultData: { runData: { Trigger: [] } } }, ...more }) as unknown as IRun;
