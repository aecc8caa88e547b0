import type { ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import type { CrmEvent } from '../../../nodes/CrmPlatform/log/crmEvent';
import { Dispatcher } from '../../../nodes/CrmPlatform/trigger/poll/dispatcher';
import type { DispatchOptions } from '../../../nodes/CrmPlatform/trigger/poll/pollProperties';
import { type Choice, choiceFor, type Group, type Position, typesToRead } from '../../../nodes/CrmPlatform/trigger/poll/position';

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

const replacedAt = Date.parse('2026-06-01T12:00:00Z');

const choiceOf = (type: string, more: Partial<Choice> = {}): Choice => ({
	events: [type],
	filter: { changedFields: [], equal: {} },
	shape: 'event',
	...more,
});

const positionOf = (more: Partial<Position> = {}): Position => ({
	account: 'acc',
	start: 'now',
	since: '',
	choice: choiceOf('deal.won'),
	replaced: [],
	begun: 0,
	sequence: 1_000,
	at: '2026-06-01T00:00:00.000Z',
	open: [],
	...more,
});

const event = (sequence: number, ms: number, type = 'deal.won') =>
	({
		id: `e${sequence}`, sequence, type, timestamp: new Date(ms).toISOString(), data: { object: {}, previous: null, changed: [] },
	}) as CrmEvent;

describe('After the user has replaced a choice, an event', () => {
	const position = positionOf({ replaced: [{ choice: choiceOf('deal.lost'), lastBefore: 100, lastPossiblyBefore: 150 }] });
	const chosenBy = (sequence: number) => ({
		old: choiceFor(position, event(sequence, replacedAt, 'deal.lost')) !== undefined,
		new: choiceFor(position, event(sequence, replacedAt, 'deal.won')) !== undefined,
	});

	test.each([
		['that happened before follows the old choice alone', 100, { old: true, new: false }],
		['that may have happened before follows either', 101, { old: true, new: true }],
		['up to the end of the doubt follows either', 150, { old: true, new: true }],
		['after the end of the doubt follows the new choice alone', 151, { old: false, new: true }],
	])('%s', (_, sequence, expected) => {
		expect(chosenBy(sequence)).toEqual(expected);
	});

	test('before the chosen date is not started; at the date, it is', () => {
		const position = positionOf({ since: '2026-06-01T12:00:00Z' });
		expect(choiceFor(position, event(5, replacedAt - 1))).toBeUndefined();
		expect(choiceFor(position, event(5, replacedAt))).toBe(position.choice);
	});

	test('is read if any choice has its type, each type once and always in one order', () => {
		const replaced = ['ticket.solved', 'contact.*'].map((type) => ({ choice: choiceOf(type), lastBefore: 0, lastPossiblyBefore: 0 }));
		expect(typesToRead(positionOf({ choice: { ...choiceOf('deal.won'), events: ['deal.won', 'contact.*'] }, replaced }))).toEqual([
			'contact.*', 'deal.won', 'ticket.solved',
		]);
		expect(typesToRead(positionOf())).toEqual(['deal.won']);
	});
});
