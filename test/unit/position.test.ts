import type { ITriggerFunctions } from 'n8n-workflow';

import type { CrmEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import {
	advance, choiceFor, maxLag, overlap, restartAt, storedPosition, typesToRead, type Choice, type Group, type PastChoice, type Position,
} from '../../nodes/CrmPlatform/trigger/poll/position';
import { forgetStates, storeState } from '../../nodes/CrmPlatform/trigger/storedState';

const day = 24 * 60 * 60_000;
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
	past: [],
	floor: 0,
	sequence: 1_000,
	seen: {},
	at: '2026-06-01T00:00:00.000Z',
	open: [],
	...more,
});

const event = (sequence: number, ms: number, type = 'deal.won') =>
	({
		id: `e${sequence}`, sequence, type, timestamp: new Date(ms).toISOString(), data: { object: {}, previous: null, changed: [] },
	}) as CrmEvent;

describe('After the user has replaced a choice, an event', () => {
	const before = (more: Partial<PastChoice> = {}) =>
		positionOf({ past: [{ choice: choiceOf('deal.lost'), at: replacedAt, upTo: 100, ...more }] });
	const chosenBy = (position: Position, sequence: number, ms: number) => ({
		old: choiceFor(position, event(sequence, ms, 'deal.lost')) !== undefined,
		new: choiceFor(position, event(sequence, ms, 'deal.won')) !== undefined,
	});

	test.each([
		['that was there before follows the old choice alone, whatever its time', before(), 100, replacedAt + day, { old: true, new: false }],
		['whose place is unknown follows either within the lag of a replica', before(), 101, replacedAt + maxLag, { old: true, new: true }],
		['that happened after that follows the new choice alone', before(), 101, replacedAt + maxLag + 1, { old: false, new: true }],
		['that happened before follows either', before(), 101, replacedAt - day, { old: true, new: true }],
		['up to the end of the doubt follows either', before({ until: 150 }), 150, replacedAt, { old: true, new: true }],
		['after the end of the doubt follows the new choice alone', before({ until: 150 }), 151, replacedAt, { old: false, new: true }],
		[
			'in the doubt, but long afterwards, follows the new choice alone', before({ until: 150 }), 150, replacedAt + day,
			{ old: false, new: true },
		],
		['of another log follows the old choice by its time', before({ byTime: true }), 500, replacedAt + maxLag, { old: true, new: false }],
		[
			'of another log that happened afterwards follows the new one', before({ byTime: true }), 50, replacedAt + maxLag + 1,
			{ old: false, new: true },
		],
	])('%s', (_, position, sequence, ms, expected) => {
		expect(chosenBy(position, sequence, ms)).toEqual(expected);
	});

	test('before the chosen date is not started; at the date, it is', () => {
		const position = positionOf({ since: '2026-06-01T12:00:00Z' });
		expect(choiceFor(position, event(5, replacedAt - 1))).toBeUndefined();
		expect(choiceFor(position, event(5, replacedAt))).toBe(position.choice);
	});

	test('is read if any choice has its type, each type once and always in one order', () => {
		const past = ['ticket.solved', 'contact.*'].map((type) => ({ choice: choiceOf(type), at: 0, upTo: 0 }));
		expect(typesToRead(positionOf({ choice: { ...choiceOf('deal.won'), events: ['deal.won', 'contact.*'] }, past }))).toEqual([
			'contact.*', 'deal.won', 'ticket.solved',
		]);
		expect(typesToRead(positionOf())).toEqual(['deal.won']);
	});
});

describe('Advancing the position', () => {
	const now = Date.parse('2026-09-01T00:00:00Z');

	test('keeps the events that the overlap reads again, and drops those below it', () => {
		const position = positionOf({ seen: { old: 1_100 - overlap, edge: 1_100 - overlap + 1 } });
		advance(position, { new: 1_100 }, 1_100, now);
		expect(position).toMatchObject({ sequence: 1_100, at: '2026-09-01T00:00:00.000Z' });
		expect(position.seen).toEqual({ edge: 1_100 - overlap + 1, new: 1_100 });
	});

	test('never moves back', () => {
		const position = positionOf();
		advance(position, {}, 900, now);
		expect(position.sequence).toBe(1_000);
	});

	test.each([
		['is in doubt', {}, true],
		['ends within the overlap', { until: 1_000 - overlap + 1 }, true],
		['ends below the overlap', { until: 1_000 - overlap }, false],
		['is as old as the oldest log', { at: now - 100 * day + 1 }, true],
		['is older than any log', { at: now - 100 * day }, false],
	])('keeps a replaced choice that %s: %j, %p', (_, more, stays) => {
		const position = positionOf({ past: [{ choice: choiceOf('deal.lost'), at: now - day, upTo: 100, ...more }] });
		advance(position, {}, 1_000, now);
		expect(position.past).toHaveLength(stays ? 1 : 0);
	});

	test('to another sequence keeps the events that were read, and compares replaced choices by time', () => {
		const past = [{ choice: choiceOf('deal.lost'), at: now, upTo: 100, until: 150 }];
		const position = positionOf({ seen: { a: 990, b: 1_000 }, newest: { identity: 'b', sequence: 1_000 }, past });
		restartAt(position, 40);
		expect(position).toMatchObject({ floor: 40, sequence: 40, seen: { a: 40, b: 40 }, newest: undefined });
		expect(position.past).toEqual([{ choice: past[0]!.choice, at: now, upTo: 100, byTime: true }]);
	});
});

describe('A stored position', () => {
	function n8n(): ITriggerFunctions {
		const data = {};
		return {
			getInstanceId: () => 'n8n-1',
			getWorkflow: () => ({ id: 'w', active: true }),
			getNode: () => ({ id: 'poll', name: 'Trigger', type: 'n8n-nodes-crm-platform.crmPlatformPollTrigger' }),
			getWorkflowStaticData: () => data,
		} as unknown as ITriggerFunctions;
	}
	const group: Group = {
		name: 'g', attempt: 2, unbegun: 1, isEmitted: true, kind: 'records', start: 'now', ids: ['1'], records: ['1'],
		sequences: [7], timestamps: ['2026-06-01T00:00:00Z'], isReread: true, types: ['deal.won'], shape: 'record',
	};
	const position = positionOf({
		choice: choiceOf('deal.won', {
			filter: {
				changedFields: ['stage'],
				equal: { owner: ['a'] },
				ignored: { keys: [{ instance: 'i', workflow: 'w' }, { instance: 'j' }], users: ['u'] },
			},
			shape: 'current',
		}),
		past: [{ choice: choiceOf('deal.lost'), at: replacedAt, upTo: 100, until: 150, byTime: true }],
		reread: { above: 3, upTo: 9 },
		seen: { a: 990 },
		newest: { identity: 'a', sequence: 990 },
		backfill: {
			cursor: 'c',
			scope: 's',
			begun: 4,
			last: { created: '2026-01-01T00:00:00Z', ids: ['r'] },
			ready: 5,
			reread: '2026-01-01T00:00:00Z',
			from: '2026-01-01T00:00:00Z',
		},
		open: [group],
	});
	beforeEach(forgetStates);

	test('is read as it was stored', () => {
		const here = n8n();
		storeState(here, position);
		expect(storedPosition(here)).toEqual(position);
	});
});
