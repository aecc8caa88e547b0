import type { ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import { Dispatcher } from '../../../nodes/CrmPlatform/trigger/poll/dispatcher';
import type { DispatchOptions } from '../../../nodes/CrmPlatform/trigger/poll/pollProperties';
import type { Group, Position } from '../../../nodes/CrmPlatform/trigger/poll/position';

const options: DispatchOptions = { doneWhen: 'succeeded', attempts: 3, afterCrash: 'startAgain', atOnce: 2, groupSize: 1 };

const groupOf = (name: string): Group => ({
	name, attempt: 1, unbegun: 0, kind: 'events', start: '', ids: [name], records: [name],
	sequences: [1], timestamps: ['2026-06-01T00:00:00Z'], types: ['a.x'], shape: 'event',
});

test('a full queue is reported with the name of the trigger, and then no more is read', () => {
	const warnings: string[] = [];
	const n8n = {
		logger: { warn: (message: string) => void warnings.push(message) },
		getInstanceId: () => 'i',
		getNode: () => ({ id: 'node', name: 'Trigger', type: 'package.poll' }),
		getWorkflow: () => ({ id: 'w' }),
		getWorkflowSettings: () => ({}),
		getWorkflowStaticData: () => ({}),
	} as unknown as ITriggerFunctions;
	const open = Array.from({ length: 500 }, (_, i) => groupOf(`g${i}`));
	const dispatcher = new Dispatcher(n8n, { start: '', open } as unknown as Position, options, new SimulatedClock());
	expect(dispatcher.roomForGroups()).toBe(0);
	expect(warnings).toEqual([expect.stringMatching(/^Trigger: 500 executions are queued/)]);
});
