import type { ITriggerFunctions } from 'n8n-workflow';

import type { CrmEvent } from '../../../nodes/CrmPlatform/log/crmEvent';
import type { EventLog } from '../../../nodes/CrmPlatform/log/eventLog';
import {
	abandonGroups, afterLoading, type Decided, type Ledger, type LedgerEffect, ledgerOf, nextDue, roomForGroups,
	startable, type Group, groupOfEvents, groupOfRecords,
} from '../../../nodes/CrmPlatform/trigger/poll/ledger';
import type { Existence, Outcome } from '../../../nodes/CrmPlatform/trigger/poll/n8nExecutions';
import { afterAnswer, afterEnd, afterTime, nextCheck, type OutcomeSettings } from '../../../nodes/CrmPlatform/trigger/poll/outcomes';
import type { PollOptions } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import type { EventChoice } from '../../../nodes/CrmPlatform/trigger/eventFilter';
import { latestChosen, type Position, storedPosition, typesToRead, whyNotChosen } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { storeState } from '../../../nodes/CrmPlatform/trigger/storedState';

const options = { doneWhen: 'succeeded', attempts: 3, afterCrash: 'startAgain' } as const;

const groupOf = (name: string): Group => ({
	name, attempt: 1, unbegun: 0, beginning: '', members: [{ id: name, record: name }],
});

const replacedAt = Date.parse('2026-06-01T12:00:00Z');

const choiceOf = (type: string): EventChoice => ({ events: [type], filter: { changedFields: [], equal: {} } });

const positionOf = (more: Partial<Position> = {}): Position => ({
	account: 'acc', beginning: 'now', since: '', choice: choiceOf('deal.won'), replaced: [], readBefore: 0, sequence: 1_000,
	at: '2026-06-01T00:00:00.000Z', ...more,
});

const event = (sequence: number, ms: number, type = 'deal.won') =>
	({
		id: `e${sequence}`, sequence, type, timestamp: new Date(ms).toISOString(), data: { object: {}, previous: null, changed: [] },
	}) as CrmEvent;

describe('After the user has replaced a choice, an event', () => {
	const position = positionOf({ replaced: [{ choice: choiceOf('deal.lost'), lastBefore: 100, lastPossiblyBefore: 150 }] });
	const chosenBy = (sequence: number) => ({
		old: whyNotChosen(position, event(sequence, replacedAt, 'deal.lost')) === undefined,
		new: whyNotChosen(position, event(sequence, replacedAt, 'deal.won')) === undefined,
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
		const reasons = [replacedAt - 1, replacedAt].map((at) => whyNotChosen(position, event(5, at)));
		expect(reasons).toEqual(['it happened before 2026-06-01T12:00:00Z', undefined]);
	});

	test('is read if any choice has its type, each type once and always in one order', () => {
		const replaced = ['ticket.solved', 'contact.*'].map((type) => ({ choice: choiceOf(type), lastBefore: 0, lastPossiblyBefore: 0 }));
		expect(typesToRead(positionOf({ choice: { ...choiceOf('deal.won'), events: ['deal.won', 'contact.*'] }, replaced }))).toEqual([
			'contact.*', 'deal.won', 'ticket.solved',
		]);
		expect(typesToRead(positionOf())).toEqual(['deal.won']);
	});
});

/** What a user reads of an effect, or its name. */
const textOf = (effect: LedgerEffect): string => ('report' in effect ? effect.report.message : effect.do);

describe('The ledger of open groups', () => {
	/** The ledger after these groups were started. */
	const started = (ledger: Ledger, ...names: string[]): Ledger =>
		names.reduce((next, name) => ({ ...afterLoading(next, name, { items: [{}], failures: [] }, 0), effects: [] }), ledger);

	test.each<[Outcome, Partial<Group>, Partial<PollOptions>, unknown]>([
		['succeeded', {}, {}, 'done'],
		['failed', {}, { doneWhen: 'ended' }, 'done'],
		['failed', { attempt: 3 }, {}, 'The record a was set aside: 3 executions failed'],
		['failed', {}, { afterCrash: 'setAside' }, [2, 0, 5_000]],
		['failed', { attempt: 12 }, { attempts: 20 }, [13, 0, 300_000]],
		['unknown', {}, {}, [2, 0, 0]],
		['unknown', {}, { afterCrash: 'setAside' }, 'The record a was set aside: n8n stopped during the execution, so its outcome is unknown'],
		['unknown', { possibleExecution: 'ofEarlierReading' }, {}, 'done'],
		['failed', { possibleExecution: 'ofEarlierReading' }, {}, [2, 0, 5_000]],
		['rejected by n8n', {}, {}, [1, 0, 5_000]],
		['ended before its first node', { unbegun: 1 }, {}, [1, 2, 10_000]],
		['ended before its first node', { unbegun: 9 }, {}, 'The record a was set aside: n8n ended 10 executions before they began'],
	])('after “%s”, for %j with %j: %j', (outcome, group, more, expected) => {
		const open = [groupOf('other'), { ...groupOf('a'), ...group }];
		const ledger = started(ledgerOf(open), 'a');
		const endOf = (start: number) => afterEnd(ledger, 'a', start, { outcome, hasRun: true }, { ...options, ...more, now: 1_000 });
		expect(endOf(0)).toBe(ledger);
		const { entries: [other, after], effects = [] } = endOf(1);
		const [end = 'done'] = effects.map(textOf);
		expect(other?.group).toBe(open[0]);
		expect(after ? [after.group.attempt, after.group.unbegun, after.due - 1_000] : end).toEqual(expected);
	});

	test('starts groups of one record one after the other, and has room for fifty events', () => {
		const open = ['a1', 'b1', 'c2', 'd3', 'e14'].map(([name = '', ...records]) =>
			({ ...groupOf(name), members: records.map((record) => ({ id: 'e', record })) }));
		const ledger = ledgerOf(open);
		ledger.entries[3]!.due = 7;
		const names = (now: number, after = ledger) => startable(after.entries, now).map(({ group }) => group.name).join('');
		expect([names(6), names(7), names(7, started(ledger, 'a'))]).toEqual(['ac', 'acd', 'cd']);
		expect(startable(ledger.entries, 7, true)).toEqual([ledger.entries[0]]);
		const checks = [undefined, true, false].map((onWorkers) => nextCheck(started(ledger, 'a'), onWorkers, 7));
		expect([...checks, nextCheck(ledger, true, 7)]).toEqual([30_007, 30_007, Infinity, Infinity]);
		expect(startable(started(ledger, 'a').entries, 7, true)).toEqual([]);
		expect([nextDue(ledger.entries, 6), nextDue(ledger.entries, 7)]).toEqual([7, Infinity]);
		/** @param ready how many of the open groups may start */
		const roomWith = ([count, ready, size]: number[]) => {
			const full = ledgerOf(Array.from({ length: count! }, (_, i) => groupOf(`${i}`)));
			for (const waiting of full.entries.slice(ready)) waiting.due = 1;
			return roomForGroups(full.entries, 0, size!);
		};
		const rooms = [[0, 0, 1], [25, 25, 1], [26, 26, 1], [499, 0, 1], [500, 0, 1], [1, 1, 100], [2, 2, 100]];
		expect(rooms.map(roomWith)).toEqual([50, 25, 0, 1, 0, 1, 0]);
	});

	test.each([
		['now', ['deal.won', 'deal.updated'], { id: 5 }, 1],
		['now', ['deal.won', 'contact.updated'], { id: 5 }, 2],
		['now', ['deal.won', 'deal.won'], {}, 2],
		['records /deals', ['', 'deal.updated'], { id: 5 }, 1],
	])('beginning with %s, of groups about %j of %j, starts %i', (beginning, types, object, count) => {
		const open = types.map((type, i) => (type === ''
			? groupOfRecords([object], { ...positionOf({ beginning }), begun: '' })
			: groupOfEvents([{ ...event(i, 0, type), data: { object, previous: null, changed: [] } }], { beginning })));
		expect(startable(ledgerOf(open).entries, 0)).toHaveLength(count);
	});

	const refusals: Array<[boolean, string[]]> = [[false, ['The record b could not be read yet: away']], [true, []]];
	test.each(refusals)('reads a group four times, and then starts it without what cannot be read (refused: %s)', (isFinal, reports) => {
		const members = [{ id: 'a', record: '1' }, { id: 'b', record: '2' }];
		const group = { ...groupOf('a'), members };
		let ledger = ledgerOf([group]);
		const failures = [{ ids: ['b'], error: new Error('away'), isFinal }];
		const read = () => {
			const { effects = [], ...next } = afterLoading(ledger, 'a', { items: [{}], failures }, 0);
			ledger = next;
			return [...effects.map(textOf), ledger.entries[0]!.due];
		};
		const before = { ...ledger, entries: [{ ...ledger.entries[0]!, failedReadings: 3 }] };
		const withoutItems = afterLoading(before, 'a', { items: [], failures }, 0);
		expect((withoutItems.effects ?? []).map(textOf)).toEqual(reports);
		expect([read(), read(), read(), read()]).toEqual([[5_000], [10_000], [20_000], [...reports, 'start', 0]]);
		expect(ledger.entries.map((open) => open.group.members)).toEqual(members.map((member) => [member]));
		const [, unread] = ledger.entries;
		expect(unread).toMatchObject({ due: 40_000, failedReadings: 4, isUnreadReported: !isFinal });
		const [later] = ledgerOf([groupOf('c')]).entries;
		expect(startable([unread!, later!], 0, true)).toEqual([later]);
	});
});

type Event = (ledger: Ledger, rules: OutcomeSettings) => Decided;

/** What happens and when (minutes), the effects that follow, and what has become of each group. */
type Step = [number, Event, string, string];

const loaded = (name: string): Event => (ledger, { now }) => afterLoading(ledger, name, { items: [{}], failures: [] }, now);
const unread = (name: string, ...finals: boolean[]): Event => {
	const failures = finals.map((isFinal, i) => ({ ids: [`${name}${i || ''}`], error: new Error('away'), isFinal }));
	return (ledger, { now }) => afterLoading(ledger, name, { items: [], failures }, now);
};
const ended = (name: string, start: number, outcome: Outcome): Event => (ledger, rules) =>
	afterEnd(ledger, name, start, { outcome, hasRun: false }, rules);
const answered = (name: string, existence: Existence, mayProbe = false): Event => (ledger, rules) =>
	afterAnswer(ledger, name, existence, mayProbe, rules);
const time = (onWorkers?: boolean, { beginning = '', timeout = Infinity, mayProbe = false } = {}): Event => (ledger, rules) =>
	abandonGroups(afterTime(ledger, { onWorkers, timeout, mayProbe }, rules), { beginning });
const probing = { mayProbe: true };
const chosen = { beginning: 'records new' };

test.each<[string, Array<Partial<Group>>, Step[], Partial<PollOptions>?]>([
	['an outage is reported once for all groups, and the next one for those of which the user does not know', 'abc'.split('').map(groupOf), [
		...[1, 2, 3].map((): Step => [0, unread('a', false), '', 'a new, b new, c new']),
		[0, unread('a', false), 'report', 'a new, b new, c new'],
		...[1, 2, 3, 4].map((): Step => [0, unread('b', false), '', 'a new, b new, c new']),
		[0, loaded('c'), 'store, start c', 'a new, b new, c requested'],
		[0, unread('a', false), '', 'a new, b new, c requested'],
		[0, unread('b', false), 'report', 'a new, b new, c requested'],
	]],
	['only a group whose records the service refuses, all of them, is set aside', [
		{ ...groupOf('a'), members: ['a', 'a1'].map((id) => ({ id, record: id })) }, groupOf('b'),
	], [
		...[1, 2, 3].flatMap((): Step[] => [[0, unread('a', true, false), '', 'a new, b new'], [0, unread('b', true), '', 'a new, b new']]),
		[0, unread('b', true), 'store, report', 'a new'],
		[0, unread('a', true, false), 'report', 'a new'],
	]],
	['a group starts once, and one that is closed takes no notice', [groupOf('a')], [
		[0, loaded('a'), 'store, start a', 'a requested'],
		[0, loaded('a'), '', 'a requested'],
		[0, ended('a', 1, 'succeeded'), 'store', ''],
		[0, ended('a', 1, 'failed'), '', ''],
		[0, answered('a', 'yes'), '', ''],
	]],
	['after a crash, only a group that was started and that n8n has is started anew', [
		{ ...groupOf('a'), possibleExecution: 'ofStart' }, groupOf('b'), { ...groupOf('c'), possibleExecution: 'ofEarlierReading' },
	], [
		[0, answered('b', 'yes'), '', 'a waits, b new, c new'],
		[0, answered('a', 'yes'), 'store', 'a2 new, b new, c new'],
		[0, answered('c', 'yes'), 'store', 'a2 new, b new'],
	]],
	['what is refused is set aside as a whole if n8n never says whether it has started it', [
		{ ...groupOf('a'), possibleExecution: 'ofStart', members: ['a', 'b'].map((id) => ({ id, record: id })) },
	], [
		...['', '', '', ', report', '', '', '', '', ''].flatMap((more): Step[] =>
			[[0, unread('a', true), `ask a${more}`, 'a waits'], [0, answered('a', more === '' ? 'no answer' : 'no database'), '', 'a waits']]),
		[0, unread('a', true), 'store, ask a, report', ''],
	]],
	['what n8n has not started is divided, however often it gave no answer before', [
		{ ...groupOf('a'), possibleExecution: 'ofStart', members: ['a', 'b'].map((id) => ({ id, record: id })) },
	], [
		...['', '', '', ', report', '', '', '', ''].flatMap((more): Step[] =>
			[[0, unread('a', true), `ask a${more}`, 'a waits'], [0, answered('a', 'no answer'), '', 'a waits']]),
		[0, answered('a', 'no'), 'store', 'a new'],
		[0, unread('a', true), 'store', 'records:a:tTi01JzoNP9iWPnrWvJjKH new'],
	]],
	['what n8n does not start is set aside after ten times, of which none counts while its database is away', [groupOf('a')], [
		...Array.from({ length: 21 }, (_, i): Step[] => [
			[0, loaded('a'), 'store, start a', 'a requested'],
			[0, ended('a', i + 1, 'rejected by n8n'), 'store, ask a', 'a waits'],
			...(i < 11 ? [[0, answered('a', 'no database'), '', 'a waits'] as Step] : []),
			...(i >= 11 && i < 20 ? [[0, answered('a', 'no'), 'store', 'a new'] as Step] : []),
		]).flat(),
		[0, answered('a', 'no'), 'store, report', ''],
	]],
	['what only an earlier beginning could read is set aside, unless it is running', [
		{ ...groupOf('a'), beginning: 'records old', attempt: 2 }, { ...groupOf('b'), beginning: 'records old' },
		{ ...groupOf('c'), beginning: 'old' }, { ...groupOf('d'), beginning: 'records old' }, { ...groupOf('e'), ...chosen },
	], [
		[0, loaded('d'), 'store, start d', 'a2 new, b new, c new, d requested, e new'],
		[0, time(false, chosen), 'store, report', 'c new, d requested, e new'],
		[0, time(false, chosen), '', 'c new, d requested, e new'],
		[0, loaded('e'), 'store, start e', 'c new, d requested, e requested'],
		[0, ended('e', 2, 'succeeded'), 'store', 'c new, d requested'],
		[1, time(true, chosen), 'store, report', 'c new'],
	]],
	['a start is lost if a later one has had an outcome, on workers, and again if it could not be repeated', 'abcd'.split('').map(groupOf), [
		[0, loaded('a'), 'store, start a', 'a requested, b new, c new, d new'],
		[0, loaded('b'), 'store, start b', 'a requested, b requested, c new, d new'],
		[0, loaded('c'), 'store, start c', 'a requested, b requested, c requested, d new'],
		[0, loaded('d'), 'store, start d', 'a requested, b requested, c requested, d requested'],
		[0, ended('b', 2, 'rejected by n8n'), 'store, ask b', 'a requested, b waits, c requested, d requested'],
		[1, time(true), '', 'a requested, b waits, c requested, d requested'],
		[1, ended('c', 3, 'ended before its first node'), 'store', 'a requested, b waits, c new, d requested'],
		[2, time(), '', 'a requested, b waits, c new, d requested'],
		[2, time(true), '', 'a lost, b waits, c new, d requested'],
		[3, time(true, { timeout: 0 }), '', 'a lost, b waits, c new, d requested'],
		[3, loaded('a'), 'store, start a', 'a requested, b waits, c new, d requested'],
		[3, ended('a', 5, 'rejected by n8n'), '', 'a requested, b waits, c new, d requested'],
		[3.4, time(true), '', 'a requested, b waits, c new, d requested'],
		[3.5, time(true), '', 'a lost, b waits, c new, d requested'],
		[4, loaded('a'), 'store, start a', 'a requested, b waits, c new, d requested'],
		[4, ended('a', 6, 'unknown'), '', 'a running, b waits, c new, d requested'],
		[64, time(), 'report, report', 'a running, b waits, c new, d requested'],
	]],
	['what an earlier reading or a rejected start may have started is reported once n8n has its key, which tells nothing about other starts', [
		groupOf('a'), { ...groupOf('b'), possibleExecution: 'ofEarlierReading' },
	], [
		[0, loaded('a'), 'store, start a', 'a requested, b new'],
		[0, loaded('b'), 'store, start b', 'a requested, b requested'],
		[0, ended('b', 2, 'rejected by n8n'), 'store, ask b', 'a requested, b new'],
		[0, loaded('b'), 'store, start b', 'a requested, b requested'],
		[0, ended('b', 3, 'unknown'), 'store, report', 'a requested'],
		[1, time(true), '', 'a requested'],
	]],
	['an execution that has begun is never lost, is reported once, and fails a minute after its timeout', 'abc'.split('').map(groupOf), [
		[0, loaded('a'), 'store, start a', 'a requested, b new, c new'],
		[60, time(), 'report', 'a requested, b new, c new'],
		[60, loaded('b'), 'store, start b', 'a requested, b requested, c new'],
		[60, ended('b', 2, 'succeeded'), 'store', 'a requested, c new'],
		[61, time(true), '', 'a lost, c new'],
		[61, loaded('a'), 'store, start a', 'a requested, c new'],
		[61, time(true, { timeout: 0 }), '', 'a requested, c new'],
		[61, ended('a', 3, 'unknown'), '', 'a running, c new'],
		[61, answered('a', 'yes'), '', 'a running, c new'],
		[62, loaded('c'), 'store, start c', 'a running, c requested'],
		[62, ended('c', 4, 'succeeded'), 'store', 'a running'],
		[300, time(true), '', 'a running'],
		[301.9, time(true, { timeout: 240 * 60_000 }), '', 'a running'],
		[302, time(true, { timeout: 240 * 60_000 }), 'store', 'a2 new'],
	]],
	['n8n is asked for the oldest start first, and for none while one is lost', 'abcde'.split('').map(groupOf), [
		[0, loaded('b'), 'store, start b', 'a new, b requested, c new, d new, e new'],
		[0, loaded('a'), 'store, start a', 'a requested, b requested, c new, d new, e new'],
		[1, time(undefined, probing), 'ask b or probe', 'a requested, b requested, c new, d new, e new'],
		[1, answered('b', 'yes'), '', 'a requested, b found, c new, d new, e new'],
		[1, time(undefined, probing), 'ask a or probe', 'a requested, b found, c new, d new, e new'],
		[1, loaded('e'), 'store, start e', 'a requested, b found, c new, d new, e requested'],
		[1, loaded('c'), 'store, start c', 'a requested, b found, c requested, d new, e requested'],
		[2, ended('c', 4, 'succeeded'), 'store', 'a requested, b found, d new, e requested'],
		[2, loaded('d'), 'store, start d', 'a requested, b found, d requested, e requested'],
		[12, time(true, probing), '', 'a lost, b running, d requested, e lost'],
		[12, answered('a', 'yes'), '', 'a running, b running, d requested, e lost'],
		[12, answered('e', 'no'), 'store', 'a running, b running, d requested, e new'],
		[12, answered('d', 'no answer', true), 'probe', 'a running, b running, d requested, e new'],
	]],
	['an execution that n8n has is reported after an hour, and followed by one without items if it may run anywhere', [groupOf('a')], [
		[0, loaded('a'), 'store, start a', 'a requested'],
		[1, answered('a', 'yes'), '', 'a found'],
		[61, time(), '', 'a found'],
		[60.9, time(true, probing), '', 'a found'],
		[60.9, time(undefined, probing), '', 'a found'],
		[61, time(true, probing), 'report', 'a found'],
		[61, time(undefined, probing), 'probe', 'a found'],
	]],
	['an execution that may wait for a worker fails a minute after its timeout, counted from when it has begun', 'ab'.split('').map(groupOf), [
		[0, loaded('a'), 'store, start a', 'a requested, b new'],
		[1, answered('a', 'yes'), '', 'a found, b new'],
		[1, time(true, { timeout: 60_000, ...probing }), 'probe', 'a found, b new'],
		[9, time(true, { timeout: 60_000 }), '', 'a found, b new'],
		[9, loaded('b'), 'store, start b', 'a found, b requested'],
		[10, ended('b', 3, 'succeeded'), 'store', 'a found'],
		[11.9, time(true, { timeout: 60_000 }), '', 'a running'],
		[11.9, time(true, { timeout: 60_000 }), '', 'a running'],
		[12, time(true, { timeout: 60_000 }), 'store', 'a2 new'],
	]],
	['a start of which n8n tells nothing is reported after an hour, if it may run in the main process', [groupOf('a')], [
		[0, loaded('a'), 'store, start a', 'a requested'],
		[59, time(), '', 'a requested'],
		[60, time(true, { timeout: 0 }), '', 'a requested'],
		[60, time(), 'report', 'a requested'],
	], { doneWhen: 'started' }],
])('%s', (_, groups, steps, more = {}) => {
	let ledger = ledgerOf(groups as Group[]);
	const seen = steps.map(([minutes, event]): Step => {
		const { effects = [], ...next } = event(ledger, { ...options, ...more, now: minutes * 60_000 });
		const [before = [], after = []] = [ledger, next].map(({ entries }) => entries.map(({ group }) => group));
		ledger = next;
		const isChanged = before.length !== after.length || after.some((group, i) => group !== before[i]);
		const done = effects.map((effect) => ('group' in effect ? `${effect.do} ${effect.group.name}` : effect.do)
			+ ('mayProbe' in effect && effect.mayProbe ? ' or probe' : ''));
		const states = next.entries.map(({ group: { name, attempt, possibleExecution }, execution }) =>
			`${name}${attempt > 1 ? attempt : ''} ${execution?.state ?? (possibleExecution === 'ofStart' ? 'waits' : 'new')}`);
		return [minutes, event, [...(isChanged ? ['store'] : []), ...done].join(', '), states.join(', ')];
	});
	expect(seen).toEqual(steps);
});

test('a position is read again with everything that was stored', () => {
	const ignored = { origins: [{ instance: 'i', workflow: 'w', isUndo: true }], users: ['u'] };
	const choice: EventChoice = { events: ['deal.won'], filter: { changedFields: ['stage'], equal: { owner_id: ['o'] }, ignored } };
	const member = { id: 'e', record: 'r', event: { type: 'deal.won', sequence: 1, timestamp: 't' } };
	const position = positionOf({
		choice, replaced: [{ choice, lastBefore: 1, lastPossiblyBefore: 2 }], newest: { identity: 'e', sequence: 3, timestamp: 't' },
		backfill: { scopeIdentity: 's', begun: '1 ', last: { created: 'c', ids: ['r'] }, until: 't', ready: 4, isReread: true },
		filters: { entered: 'f', queries: [{ stage: 's' }] },
	});
	const state = { ...position, open: [{ ...groupOf('a'), possibleExecution: 'ofStart', members: [member] }] };
	const data = {};
	const node = { id: 'node', type: 'package.crmPlatformPollTrigger' };
	const n8n = {
		getInstanceId: () => 'i', getNode: () => node, getWorkflow: () => ({ id: 'w' }), getWorkflowStaticData: () => data,
	} as unknown as ITriggerFunctions;
	storeState(n8n, state);
	clearProcessMemory();
	expect(storedPosition(n8n)).toEqual(state);
	clearProcessMemory();
});

test('the latest chosen events are searched for until there are enough, and among a thousand', async () => {
	let count = 0;
	const newestFirst = async function* () {
		while (count < 3_000) yield event((count += 1), replacedAt);
	};
	const log = { newestFirst } as unknown as EventLog;
	const won = choiceOf('deal.won');
	expect(await latestChosen(log, won, 2)).toMatchObject([{ sequence: 1 }, { sequence: 2 }]);
	expect(await latestChosen(log, { ...won, filter: { ...won.filter, equal: { owner_id: ['o'] } } }, 2)).toEqual([]);
	expect(count).toBe(1_002);
});

test('a group of records is named after its beginning and all its records, and no other has its name', () => {
	const nameOf = (ids: string[], begun = '1 ', beginning = '') =>
		groupOfRecords(ids.map((id) => ({ id })), { ...positionOf({ beginning }), begun }).name;
	const names = [nameOf(['a']), nameOf(['a', 'b']), nameOf(['a', 'c']), nameOf(['a'], '2 '), nameOf(['a'], '1 ', 'other')];
	expect(new Set(names).size).toBe(names.length);
	expect(nameOf(['a'.repeat(99)])).toMatch(/^records:a{64}:[\w-]{22}$/);
});
