import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import type { PollHistory, PollStep } from './poll-model/poll-histories.ts';
import { playPollHistory } from './poll-model/play-poll-history.ts';
import { brokenPollPromises } from './poll-model/poll-promises.ts';
import { quick, pollWorld } from './poll-model/poll-world.ts';

afterEach(clearProcessMemory);

const happen = (type: string, count = 1, more: object = {}): PollStep => ({ does: 'happen', count, type, record: 0, late: 0, ...more });
const wait = (ms: number): PollStep => ({ does: 'wait', ms });
const choose = (...types: string[]): PollStep => ({ does: 'choose', node: 0, types });
const publish: PollStep = { does: 'publish', node: 0 };
const write = (record: number, stage: string): PollStep => ({ does: 'write', record, stage, late: 0 });
const kill = (down = 0): PollStep => ({ does: 'kill', down });
const restore = (without: number, grows: number): PollStep => ({ does: 'restore', without, grows });

const succeeding: PollHistory = { ...quick, courses: [{ ms: 1, status: 'success' }] };

/** Each was the shortest history in which the trigger once broke a promise. */
const histories: Array<[string, Partial<PollHistory>]> = [
	[
		'a choice that was replaced does not apply to the log of a restored service',
		{ steps: [happen('a.x', 2), choose('b.x'), kill(60_000), restore(1, 0), happen('a.x')] },
	],
	[
		'the new choice does not apply to earlier events of a restored log',
		{ steps: [happen('a.y', 2), wait(30_000), happen('a.x'), restore(2, 1), choose('a.*'), wait(50)] },
	],
	[
		'an earlier choice applies to what was not read before the log was restored',
		{ steps: [{ does: 'begin', node: 0, at: 300 }, kill(), wait(5_000), restore(2, 9), choose('p.created')] },
	],
	[
		'a group is not started a second time without an event that the log has lost',
		{ groupSize: 3, steps: [restore(1, 2), wait(20_000), restore(1, 0), kill()] },
	],
	[
		'a log that ends before the last event that was read is detected, even if the last look was older',
		{ steps: [happen('a.x', 2), publish, restore(2, 1), publish] },
	],
	[
		'a trigger that has just started over detects that the log is a different one',
		{
			groupSize: 3,
			steps: [happen('a.x', 6), wait(60_000), { does: 'loseStore' }, kill(1_000), restore(2, 15), kill()],
		},
	],
	[
		'an event that is committed 20 seconds after a later one starts, even if nothing follows it',
		{ steps: [wait(14_000), happen('a.x', 4, { late: 20_000 })] },
	],
	[
		'a replica that is behind a restored log hides none of its events, even if the choice has changed meanwhile',
		{
			steps: [
				wait(60_000),
				happen('a.x', 5, { record: 3, late: 8_000 }),
				choose('b.x'),
				happen('a.x', 3, { record: 1, late: 8_000 }),
				happen('b.x', 2, { record: 3 }),
				choose('a.*'),
				wait(60_000),
				{ does: 'lag', ms: 8_000 },
				restore(7, 12),
				choose('a.x', 'b.x'),
			],
		},
	],
	[
		'an older position with an older choice hides no event of the newer choice',
		{ steps: [choose('b.x'), wait(60_000), { does: 'oldStore', back: 2 }, happen('b.x', 3), kill()] },
	],
	[
		'a date loses no event that is committed after one with a higher number',
		{ steps: [happen('a.x', 1, { late: 2_000 }), happen('a.x'), { does: 'begin', node: 0, at: 30 }, kill()] },
	],
	[
		'a lost position is reported with the date at which the trigger starts over',
		{ isDated: true, steps: [{ does: 'zone', hours: 1 }, happen('a.x'), { does: 'loseStore' }, kill()] },
	],
	[
		'the report of a lost position says that earlier choices are lost',
		{
			isDated: true,
			courses: [{ ms: 20_000, status: 'success' }],
			steps: [happen('a.x', 2), kill(60_000), choose('b.x'), { does: 'loseStore' }, kill()],
		},
	],
	[
		'a list of records that is behind the events causes no difference between the records and a copy',
		{
			isCopy: true,
			steps: [
				wait(14_000),
				publish,
				{ does: 'lag', ms: 8_000 },
				write(0, 'customer'),
				write(1, ''),
				write(2, 'customer'),
				write(4, 'lead'),
				wait(60_000),
			],
		},
	],
	[
		'a restored log is reported, even if a late commit and a replica hide it for a while',
		{
			doneWhen: 'ended',
			afterCrash: 'setAside',
			groupSize: 3,
			nodes: 2,
			courses: [{ ms: 3_000, status: 'success' }],
			steps: [
				{ does: 'lag', ms: 8_000 },
				write(4, 'lead'),
				{ does: 'fail', count: 3, failure: 'cut' },
				wait(60_000),
				{ ...restore(7, 3), givesAgain: true } as PollStep,
				happen('b.x', 3, { record: 1, late: 8_000 }),
				{ does: 'fail', count: 5, failure: '404' },
				choose('a.x', 'b.x'),
				publish,
				{ does: 'databaseAway', ms: 30_000 },
			],
		},
	],
	[
		'a replica that does not show the events since a restore hides none of them',
		{
			nodes: 2,
			steps: [
				{ ...restore(8, 2), givesAgain: true } as PollStep,
				{ does: 'lag', ms: 8_000 },
				{ does: 'choose', node: 1, types: ['p.created', 'p.updated'] },
				publish,
			],
		},
	],
	[
		'a restore between a look at the log and its reading hides no event',
		{ steps: [write(0, ''), wait(25_000), kill(60_000), { ...restore(7, 9), givesAgain: true } as PollStep] },
	],
	[
		'with groups, a restore between a look at the log and its reading starts nothing twice',
		{ groupSize: 3, steps: [happen('b.x'), wait(10_000), publish, restore(1, 10)] },
	],
	[
		'executions that end while the CRM is away are stored in every mode',
		{
			doneWhen: 'ended',
			isCopy: true,
			courses: [20_000, 20_000, 20_000, 1].map((ms) => ({ ms, status: 'success' })),
			steps: [{ does: 'fail', count: 3, failure: 'none' }, wait(60_000), { does: 'prune' }, kill()],
		},
	],
	[
		'a list of records that is behind when the trigger starts causes no difference between the records and a copy',
		{ steps: [{ does: 'lag', ms: 2_500 }, write(0, 'lead'), { does: 'begin', node: 0, at: 'records' }, wait(50)] },
	],
	[
		'a record that is created between the publish and the reading of the records is returned once',
		{ steps: [happen('a.x'), { does: 'begin', node: 0, at: 'records' }, wait(50), write(4, 'lead')] },
	],
	[
		'what is read again starts again after a kill, even if the position does not have its first start',
		{
			doneWhen: 'succeeded',
			courses: [{ ms: 20_000, status: 'success' }, { ms: 1, status: 'success' }],
			steps: [
				...[0, 1, 2].map((record) => happen('a.x', 1, { record })), { does: 'begin', node: 0, at: 30 }, { does: 'oldStore', back: 2 }, kill(),
			],
		},
	],
	...(['startAgain', 'setAside'] as const).map((afterCrash): [string, Partial<PollHistory>] => [
		`executions from before the position was lost are known (${afterCrash})`,
		{ doneWhen: 'succeeded', afterCrash, steps: [happen('a.x', 4), wait(60_000), wait(60_000), { does: 'loseStore' }, kill()] },
	]),
	[
		'records that were read before the position was lost are not reported as interrupted',
		{ doneWhen: 'succeeded', afterCrash: 'setAside', isCopy: true, steps: [wait(60_000), { does: 'loseStore' }, kill()] },
	],
	[
		'nothing of which n8n may have an execution is reported as not started, even if it can no longer be read',
		{
			courses: [{ ms: 60_000, status: 'success' }],
			steps: [happen('a.x'), wait(20_000), { does: 'slow', ms: 4_000 }, kill(), restore(1, 0)],
		},
	],
	[
		'an event that can no longer be read after a failed execution is not reported as without one',
		{ doneWhen: 'succeeded', courses: [{ ms: 20_000, status: 'error' }], steps: [happen('a.x'), wait(20_000), restore(1, 0)] },
	],
	[
		'an execution in progress does not keep the trigger busy while another waits for its turn',
		{ doneWhen: 'succeeded', courses: [{ ms: 20_000, status: 'error' }], steps: [restore(1, 4), happen('a.x', 5)] },
	],
];

test.each(histories)('%s', async (_name, history) => {
	expect(brokenPollPromises(await playPollHistory({ ...succeeding, ...history }))).toEqual([]);
});

test('two publishes, one of each of two triggers, and a kill repeat no success', async () => {
	const steps = [happen('a.x', 4), wait(60_000), publish, happen('a.x', 2), { does: 'publish', node: 1 } as PollStep, wait(60_000), kill()];
	const played = await playPollHistory({ ...succeeding, nodes: 2, doneWhen: 'succeeded', steps });
	const successes = played.n8n.allRows.filter(({ status }) => status === 'success');
	expect(successes).toHaveLength(12);
	expect(played.n8n.reports).toEqual([]);
});

test('fifty idle triggers look together, 240 times an hour, and send nothing else', async () => {
	const { clock, service, n8n, choose } = await pollWorld();
	for (let i = 0; i < 50; i++) await n8n.publish(`trigger ${i}`, choose());
	await clock.advance(10 * 60_000);
	const looks = jest.spyOn(service.log, 'newest');
	const reads = jest.spyOn(service.log, 'after');
	await clock.advance(60 * 60_000);
	await n8n.kill();
	expect(reads).not.toHaveBeenCalled();
	expect(Math.abs(looks.mock.calls.length - 240)).toBeLessThanOrEqual(1);
});

test('at an interval of a second, a trigger reads nine times after an event', async () => {
	const { clock, service, happen, choose, publish } = await pollWorld();
	await publish({ ...choose(), interval: 1_000 });
	const reads = jest.spyOn(service.log, 'after');
	happen('r0');
	await clock.advance(600_000);
	expect(reads.mock.calls.length).toBeLessThanOrEqual(9);
});
