import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import type { PollSettings } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import { choiceOf } from './poll-model/poll-histories.ts';
import { pollWorld } from './poll-model/poll-world.ts';

afterEach(clearProcessMemory);

/** A trigger with records of which some changes are open, and what the user may choose instead. */
async function openRecords() {
	const testWorld = await pollWorld();
	const { clock, service, n8n, publish } = testWorld;
	const since = new Date(clock.now()).toISOString();
	const settings = { doneWhen: 'ended', groupSize: 1, afterCrash: 'startAgain' } as const;
	const records = choiceOf(settings, [], { start: '', since: '', stage: '' });
	const from = (start: string, instant: string): PollSettings => choiceOf(settings, ['p.*'], { start, since: instant });
	await publish(records);
	n8n.courses = [{ ms: 20_000, status: 'success' }];
	for (let i = 0; i < 6; i++) service.write(`r${i}`, 'lead');
	while (n8n.allRows.length < 2) await clock.advance(100);
	/** How often each event has started an execution. */
	const executions = () => service.all.slice(1).map(({ id }) => n8n.allRows.filter(({ key }) => key.includes(`events:${id}:`)).length);
	return { ...testWorld, since, records, from, executions };
}

test('changes of records that are set aside start with a later date', async () => {
	const { clock, since, from, publish, executions, messages } = await openRecords();
	await publish(from('', ''));
	const [notice] = messages();
	expect(notice).toMatch(/^4 pending records were set aside because the trigger now starts from another point\..*r2x0, r3x0, r4x0, r5x0/);
	expect(messages()).toHaveLength(1);
	await publish(from('A', since));
	await clock.advance(300_000);
	expect(executions()).toEqual([1, 1, 1, 1, 1, 1]);
	expect(messages()).toHaveLength(1);
});

test('open records of one type are reported immediately, in one notice, when another type is chosen', async () => {
	const { clock, n8n, records, messages } = await openRecords();
	await n8n.publish('one', { ...records, scope: { ...records.scope!, path: '/others' } });
	await clock.advance(1_000);
	expect(messages()).toEqual([expect.stringMatching(/^4 pending records were set aside/)]);
});

test('of two simultaneous publishes, only the last follows its choice, until the next publish', async () => {
	const { n8n, happen, choose, publish, started } = await pollWorld();
	await Promise.all([n8n.publish('one', choose()), n8n.publish('one', choose())]);
	const { events, ...choice } = choose();
	await publish({ ...choice, events: { ...events, events: ['b.x'] } });
	happen('r0');
	await publish({ ...choice, events: { ...events, events: ['b.x'] } });
	expect(started()).toEqual([]);
});

test('a publish continues where another publish at the same time has come', async () => {
	const { clock, n8n, service, happen, choose, publish, started } = await pollWorld();
	const choice = choose({ doneWhen: 'succeeded' });
	await publish(choice);
	const { newest } = service.log;
	const waits = [0, 40_000];
	service.log.newest = async () => await clock.sleep(waits.shift() ?? 0).then(newest);
	const publishing = Promise.all([n8n.publish('one', choice), n8n.publish('one', choice)]);
	await clock.advance(5_000);
	happen('r0');
	await clock.advance(300_000);
	await publishing;
	expect(started()).toEqual(['e2']);
});

test('an event that was refused starts with a later date, once it is allowed', async () => {
	const { clock, happen, chooseCurrent, publish, started, messages } = await pollWorld();
	const since = new Date(clock.now()).toISOString();
	let isRefused = true;
	const choice = chooseCurrent({}, () => (isRefused ? '403' : undefined));
	await publish(choice);
	happen('r0');
	await clock.advance(120_000);
	expect(messages()).toEqual([expect.stringContaining('was set aside and started no execution')]);
	isRefused = false;
	await publish({ ...choice, beginning: 'A', since });
	expect(started()).toHaveLength(1);
});

test('a record of the backfill that fails repeatedly delays no change of another record', async () => {
	const { clock, service, n8n, publish } = await pollWorld();
	for (const record of ['r0', 'r1']) service.write(record, 'lead');
	await clock.advance(60_000);
	const settings = { doneWhen: 'succeeded', groupSize: 1, attempts: 20, afterCrash: 'startAgain' } as const;
	n8n.courseOf = (items) => ({ ms: 1, status: items[0]?.id === 'r0x0' ? 'error' : 'success' });
	await publish(choiceOf(settings, [], { start: '', since: '', stage: '' }));
	service.write('r0', 'customer');
	service.write('r1', 'customer');
	await clock.advance(60_000);
	const changes = n8n.allRows.filter(({ items }) => items[0]!.change === 'updated').map(({ ids }) => ids[0]);
	expect(changes).toEqual(['r1x0']);
	n8n.courseOf = () => ({ ms: 1, status: 'success' });
	await clock.advance(3_600_000);
	expect(n8n.allRows.at(-1)).toMatchObject({ ids: ['r0x0'], items: [{ change: 'updated', stage: 'customer' }] });
});

test.each(['started', 'succeeded'] as const)('records chosen again start again, without an event between (%s)', async (doneWhen) => {
	const { n8n, service, publish, messages } = await pollWorld();
	service.write('r0', 'lead');
	const choose = (stage?: string) => choiceOf({ doneWhen, groupSize: 1, afterCrash: 'setAside' }, ['a.x'], { start: '', since: '', stage });
	for (const stage of ['', undefined, '']) await publish(choose(stage));
	expect(n8n.allRows.map(({ ids }) => ids)).toEqual([['r0x0'], ['r0x0']]);
	expect(messages()).toEqual([]);
});

test('a scope that is changed during the backfill starts no record again, and the rest without a pause', async () => {
	const { clock, service, n8n } = await pollWorld();
	for (let i = 0; i < 60; i++) service.write(`r${i}`, 'lead');
	await clock.advance(60_000);
	n8n.courses = [{ ms: 4_000, status: 'success' }];
	const publishScope = async (stage: string) => await n8n.publish('one', choiceOf(
		{ doneWhen: 'succeeded', groupSize: 1, afterCrash: 'startAgain' }, [], { start: '', since: '', stage },
	));
	await publishScope('').then(async () => await clock.advance(15_000));
	await publishScope('lead').then(async () => await clock.advance(200_000));
	expect(n8n.allRows.map(({ ids }) => ids[0]).sort()).toEqual([...service.records.keys()].sort());
});
