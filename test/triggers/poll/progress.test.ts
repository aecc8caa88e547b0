import type { ITriggerFunctions } from 'n8n-workflow';

import { ledgerOf } from '../../../nodes/CrmPlatform/trigger/poll/ledger';
import type { Group, Position } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { Progress } from '../../../nodes/CrmPlatform/trigger/poll/poller';
import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';

const groupOf = (name: string) => ({ name, members: [] }) as unknown as Group;

test('progress is stored if groups have changed, after ten seconds, every twelve hours, and again if it could not be', async () => {
	const stores: DeferredPromise[] = [];
	const n8n = {
		helpers: { createDeferredPromise }, emit: (_items: unknown, _answer: unknown, done: DeferredPromise) => void stores.push(done),
		getInstanceId: () => 'i', getNode: () => ({ id: 'n', type: 'package.poll' }), getWorkflow: () => ({ id: 'w' }),
		getWorkflowStaticData: () => ({}),
	} as unknown as ITriggerFunctions;
	const progress = new Progress(n8n, {} as Position, ledgerOf([groupOf('a')]), 0);
	const storesAfter = (change: () => void) => {
		const before = stores.length;
		change();
		progress.store();
		progress.store();
		return stores.length - before;
	};
	const read = (now: number, ...names: string[]) => () =>
		progress.add({ moved: {}, groups: names.map((name) => ({ group: groupOf(name), input: [], isReread: false })), hasMore: false }, now);
	const halfDay = 12 * 3_600_000;
	const replace = () => (progress.ledger = ledgerOf([groupOf('b'), groupOf('b')]));
	const move = () => progress.moveTo({} as Position);
	const changes = [read(10_000), read(10_001), read(10_001 + halfDay), read(10_002 + halfDay), read(0, 'b'), replace, move];
	expect(changes.map(storesAfter)).toEqual([0, 1, 0, 1, 1, 1, 1]);
	stores.at(-1)!.reject(new Error('The database is away'));
	await new Promise((resolve) => setImmediate(resolve));
	expect(storesAfter(() => undefined)).toBe(1);
	forgetStates();
});
