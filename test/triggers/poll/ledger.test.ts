import type { CrmEvent } from '../../../nodes/CrmPlatform/log/crmEvent';
import type { Outcome } from '../../../nodes/CrmPlatform/trigger/poll/execution';
import {
	type Ledger, type LedgerEvent, ledgerOf, nextDue, nextLedger, roomForGroups, startable,
} from '../../../nodes/CrmPlatform/trigger/poll/ledger';
import type { ChangeChoice } from '../../../nodes/CrmPlatform/trigger/poll/pollProperties';
import { type Choice, type Group, type Position, typesToRead, wasChosen } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { startInQueueMode } from '../../http/queue-mode.ts';

const options = { doneWhen: 'succeeded', attempts: 3, afterCrash: 'startAgain' } as const;

const groupOf = (name: string): Group => ({
	name, attempt: 1, unbegun: 0, kind: 'events', start: '', members: [{ id: name, record: name }], isReread: false,
});

test('a full queue is reported with the name of the trigger, and then no more is read', async () => {
	const n8n = startInQueueMode({}, { atOnce: 0 });
	for (let i = 0; i < 500; i++) await n8n.begin(`g${i}`);
	expect(roomForGroups(n8n.poller.ledger, 0, 1)).toBe(0);
	expect(n8n.reported).toEqual([expect.stringMatching(/^Trigger: 500 executions are queued/)]);
});

const replacedAt = Date.parse('2026-06-01T12:00:00Z');

const choiceOf = (type: string): Choice => ({ events: [type], filter: { changedFields: [], equal: {} } });

const positionOf = (more: Partial<Position> = {}): Position => ({
	account: 'acc', start: 'now', since: '', choice: choiceOf('deal.won'), replaced: [], readBefore: 0, sequence: 1_000,
	at: '2026-06-01T00:00:00.000Z', ...more,
});

const event = (sequence: number, ms: number, type = 'deal.won') =>
	({
		id: `e${sequence}`, sequence, type, timestamp: new Date(ms).toISOString(), data: { object: {}, previous: null, changed: [] },
	}) as CrmEvent;

describe('After the user has replaced a choice, an event', () => {
	const position = positionOf({ replaced: [{ choice: choiceOf('deal.lost'), lastBefore: 100, lastPossiblyBefore: 150 }] });
	const chosenBy = (sequence: number) => ({
		old: wasChosen(position, event(sequence, replacedAt, 'deal.lost')),
		new: wasChosen(position, event(sequence, replacedAt, 'deal.won')),
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
		expect([replacedAt - 1, replacedAt].map((at) => wasChosen(position, event(5, at)))).toEqual([false, true]);
	});

	test('is read if any choice has its type, each type once and always in one order', () => {
		const replaced = ['ticket.solved', 'contact.*'].map((type) => ({ choice: choiceOf(type), lastBefore: 0, lastPossiblyBefore: 0 }));
		expect(typesToRead(positionOf({ choice: { ...choiceOf('deal.won'), events: ['deal.won', 'contact.*'] }, replaced }))).toEqual([
			'contact.*', 'deal.won', 'ticket.solved',
		]);
		expect(typesToRead(positionOf())).toEqual(['deal.won']);
	});
});

describe('The ledger of open groups', () => {
	/** The ledger after these groups were emitted. */
	const emitted = (ledger: Ledger, ...names: string[]): Ledger =>
		names.reduce((next, name) => nextLedger(next, { is: 'loaded', name, items: [{}], failures: [] }, options, 0).ledger, ledger);

	test.each<[Outcome, Partial<Group>, Partial<ChangeChoice>, unknown]>([
		['succeeded', {}, {}, 'done'],
		['failed', {}, { doneWhen: 'ended' }, 'done'],
		['failed', { attempt: 2 }, {}, [3, 0, 10_000]],
		['failed', { attempt: 3 }, {}, 'set aside'],
		['failed', { attempt: 12 }, { attempts: 20 }, [13, 0, 300_000]],
		['unknown', {}, {}, [2, 0, 0]],
		['unknown', {}, { afterCrash: 'setAside' }, 'set aside'],
		['unknown', { isReread: true }, {}, 'done'],
		['rejected by n8n', {}, {}, [1, 0, 5_000]],
		['ended before its first node', { unbegun: 1 }, {}, [1, 2, 10_000]],
		['ended before its first node', { unbegun: 9 }, {}, 'set aside'],
	])('after “%s”, for %j with %j: %j', (outcome, group, more, expected) => {
		const open = [groupOf('other'), { ...groupOf('a'), ...group }];
		const ended = { is: 'ended', name: 'a', emission: 1, outcome, hasRun: true } as const;
		const { ledger, effects } = nextLedger(emitted(ledgerOf(open), 'a'), ended, { ...options, ...more }, 1_000);
		const [other, after] = ledger.open;
		const end = effects.length > 0 ? 'set aside' : 'done';
		expect(other?.group).toBe(open[0]);
		expect(after ? [after.group.attempt, after.group.unbegun, after.due - 1_000] : end).toEqual(expected);
	});

	test('starts groups of one record one after the other, and has room for fifty events', () => {
		const open = ['a1', 'b1', 'c2', 'd3'].map((text) => ({ ...groupOf(text.charAt(0)), members: [{ id: 'e', record: text.charAt(1) }] }));
		const ledger = ledgerOf(open);
		ledger.open[3]!.due = 7;
		const names = (now: number, after = ledger) => startable(after, now).map(({ group }) => group.name).join('');
		expect([names(6), names(7), names(7, emitted(ledger, 'a'))]).toEqual(['ac', 'acd', 'cd']);
		expect(startable(ledger, 7, true)).toEqual([ledger.open[0]]);
		expect(startable(emitted(ledger, 'a'), 7, true)).toEqual([]);
		expect([nextDue(ledger, 6), nextDue(ledger, 7)]).toEqual([7, Infinity]);
		/** @param ready how many of the open groups may start */
		const roomWith = ([count, ready, size]: number[]) => {
			const full = ledgerOf(Array.from({ length: count! }, (_, i) => groupOf(`${i}`)));
			for (const waiting of full.open.slice(ready)) waiting.due = 1;
			return roomForGroups(full, 0, size!);
		};
		const rooms = [[0, 0, 1], [25, 25, 1], [26, 26, 1], [499, 0, 1], [500, 0, 1], [1, 1, 100], [2, 2, 100]];
		expect(rooms.map(roomWith)).toEqual([50, 25, 0, 1, 0, 1, 0]);
	});

	test('reads a group four times, reports it once, and then starts it without what cannot be read', () => {
		const members = [{ id: 'a', record: '1' }, { id: 'b', record: '2' }];
		const group = { ...groupOf('a'), members };
		let ledger = ledgerOf([group]);
		const failures = [{ ids: ['b'], error: new Error('away'), isFinal: false }];
		const read = () => {
			const step = nextLedger(ledger, { is: 'loaded', name: 'a', items: [{}], failures }, options, 0);
			ledger = step.ledger;
			return [...step.effects.map((effect) => effect.do), ledger.open[0]!.due];
		};
		const before = { ...ledger, open: [{ ...ledger.open[0]!, failedReadings: 3 }] };
		const withoutItems = nextLedger(before, { is: 'loaded', name: 'a', items: [], failures }, options, 0);
		expect(withoutItems.effects.map((effect) => effect.do)).toEqual(['report']);
		expect([read(), read(), read(), read()]).toEqual([[5_000], [10_000], [20_000], ['report', 'emit', 0]]);
		expect(ledger.open.map((open) => open.group.members)).toEqual(members.map((member) => [member]));
		const [, unread] = ledger.open;
		expect(unread).toMatchObject({ due: 40_000, failedReadings: 4, isReported: false });
		const [later] = ledgerOf([groupOf('c')]).open;
		expect(startable({ ...ledger, open: [unread!, later!] }, 0, true)).toEqual([later]);
	});

	test('reports once that an execution is silent, even if it is repeated', () => {
		const hour = 3_600_000;
		const time = (onWorkers?: boolean): LedgerEvent => ({ is: 'time', onWorkers, timeout: Infinity, mayProbe: false, beginning: '' });
		const loaded = (name: string): LedgerEvent => ({ is: 'loaded', name, items: [{}], failures: [] });
		const ended = (name: string, emission: number, outcome: Outcome): LedgerEvent =>
			({ is: 'ended', name, emission, outcome, hasRun: false });
		const begun = emitted(ledgerOf([groupOf('a')]), 'a');
		const steps: Array<[number, LedgerEvent]> = [
			[hour, time()], [hour, loaded('b')], [hour, ended('b', 2, 'succeeded')], [hour + 30_000, time(true)],
			[hour + 30_000, loaded('a')], [hour + 30_000, ended('a', 3, 'unknown')], [3 * hour, time()],
		];
		let ledger: Ledger = { ...begun, open: [...begun.open, ...ledgerOf([groupOf('b')]).open] };
		const effects = steps.map(([now, event]) => {
			const next = nextLedger(ledger, event, options, now);
			ledger = next.ledger;
			return next.effects.map((effect) => effect.do).join();
		});
		expect(effects).toEqual(['report', 'emit', '', '', 'emit', '', '']);
	});

	test('fails an execution that a worker has stopped at its timeout, a minute later', () => {
		const seen = nextLedger(emitted(ledgerOf([groupOf('a')]), 'a'), { is: 'sought', name: 'a', exists: true }, options, 1_000).ledger;
		const time = { is: 'time', onWorkers: true, mayProbe: false, beginning: '' } as const;
		const attemptAt = (now: number) =>
			nextLedger(seen, { ...time, timeout: 60_000 }, options, now).ledger.open[0]!.group.attempt;
		expect([120_999, 121_000].map(attemptAt)).toEqual([1, 2]);
	});
});
