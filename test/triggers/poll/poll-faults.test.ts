import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { choiceOf } from './poll-model/poll-histories.ts';
import { isUnwritable, pollWorld } from './poll-model/poll-world.ts';
import { readerOf, scopeOf } from './poll-model/records.ts';

afterEach(clearProcessMemory);

const afterCrashes = ['startAgain', 'setAside'] as const;
const states = ['restarted', 'running', 'without its database', 'slow', 'for a while on another account', 'behind a replica'] as const;
const cases = states.flatMap((n8nIs) => afterCrashes.map((afterCrash) => [afterCrash, n8nIs] as const));
test.each(cases)('a date that was chosen before starts only events without an execution (%s, n8n is %s)', async (afterCrash, n8nIs) => {
	const { clock, service, n8n, happen, choose, publish, started } = await pollWorld();
	const since = new Date(clock.now()).toISOString();
	const before = await service.log.newest();
	happen('r0', 'r1', 'r2');
	await clock.advance(1_000);
	const from = (beginning: string, instant: string) => ({ ...choose({ doneWhen: 'succeeded', afterCrash }), beginning, since: instant });
	await publish(from('A', since));
	const { newest } = service.log;
	if (n8nIs === 'for a while on another account') service.log.newest = async () => ({ ...(await newest())!, account: 'other' });
	const isBehind = n8nIs === 'behind a replica';
	if (isBehind) service.log.newest = async () => before;
	await publish(from('B', new Date(clock.now()).toISOString()));
	if (!isBehind) service.log.newest = newest;
	const restart = async () => (n8nIs === 'restarted' ? await n8n.kill().then(async () => await n8n.start()) : undefined);
	await restart();
	n8n.isDatabaseAway = n8nIs === 'without its database';
	if (n8nIs === 'slow') n8n.beforeWriting = async () => await clock.sleep(4_000);
	await publish(from('A', since));
	n8n.isDatabaseAway = false;
	service.log.newest = newest;
	await restart();
	await clock.advance(300_000);
	expect(started()).toEqual(['e2', 'e3', 'e4']);
	expect(n8n.reports).toEqual([]);
});

const recordsOf = (stage: string) =>
	choiceOf({ doneWhen: 'started', afterCrash: 'startAgain', groupSize: 1 }, [], { start: '', since: '', stage });

test('a date starts events that happened outside the scope of records chosen before', async () => {
	const { clock, service, n8n, choose, publish } = await pollWorld();
	const since = new Date(clock.now()).toISOString();
	await publish(recordsOf('lead'));
	service.write('r0', 'customer');
	service.write('r1', 'lead');
	await clock.advance(60_000);
	const events = { ...choose(), beginning: 'A', since };
	events.events.events = ['p.created'];
	await publish(events);
	expect(n8n.allRows.map(({ items }) => items[0]!.type ?? items[0]!.change)).toEqual(['created', 'p.created']);
});

test('records whose position is lost do not arrive again', async () => {
	const { clock, n8n, service, publish, started } = await pollWorld();
	for (const record of ['r0', 'r1', 'r2']) service.write(record, 'lead');
	await clock.advance(60_000);
	await publish(recordsOf(''));
	service.write('r0', 'customer');
	await clock.advance(60_000);
	const before = started();
	n8n.staticData = '{}';
	await n8n.kill();
	await n8n.start();
	await clock.advance(120_000);
	expect(before).toHaveLength(4);
	expect(started()).toEqual(before);
});

test('events with ids that a restored service had assigned before start', async () => {
	const { clock, service, happen, choose, publish, started } = await pollWorld();
	await publish(choose());
	happen('r1', 'r2', 'r3');
	await clock.advance(60_000);
	service.restore(3);
	await clock.advance(180_000);
	for (const id of ['e2', 'e3', 'e4']) service.happen('a.x', 'r1', 0, id);
	await clock.advance(180_000);
	expect(started()).toEqual(['e2', 'e3', 'e4', 'e2', 'e3', 'e4']);
});

test('a position from before another start of the log is reported', async () => {
	const { clock, n8n, happen, choose, publish, started, messages } = await pollWorld();
	await publish({ ...choose(), beginning: 'A', since: new Date(clock.now()).toISOString() });
	const old = n8n.staticData;
	await publish(choose());
	happen('r1');
	await clock.advance(60_000);
	n8n.staticData = old;
	await n8n.kill();
	happen('r2');
	await clock.advance(60_000);
	await n8n.start();
	await clock.advance(120_000);
	expect(started()).toEqual(['e2', 'e3']);
	expect(messages()).toEqual([expect.stringContaining('was restored from the executions')]);
});

test.each([
	['its event', 1, 0],
	['its group, even if n8n has no database for a while', 2, 120_000],
])('an execution from before a kill settles %s, although a record may no longer be read', async (_, groupSize, outage) => {
	const { clock, n8n, happen, chooseCurrent, publish, started, messages } = await pollWorld();
	let isRefused = false;
	await publish(chooseCurrent({ groupSize }, (id) => (isRefused && id === 'r1' ? '403' : undefined)));
	n8n.courses = [{ ms: 60_000, status: 'success' }];
	happen(...['r1', 'r2'].slice(0, groupSize));
	while (started().length === 0) await clock.advance(1_000);
	isRefused = true;
	await n8n.kill();
	n8n.isDatabaseAway = outage > 0;
	await n8n.start();
	await clock.advance(outage);
	n8n.isDatabaseAway = false;
	await clock.advance(600_000);
	expect(started()).toEqual([['e2', 'e3'].slice(0, groupSize).join()]);
	expect(messages().filter((message) => message.includes('set aside'))).toEqual([]);
});

test('a list that ignores the time of creation is refused: reading it would not end', async () => {
	const reader = readerOf(scopeOf(''), () => ({ data: [{ id: 'r1', created_at: '2026-01-01T00:00:00Z' }], next_cursor: null }));
	const last = { created: '2026-01-02T00:00:00Z', ids: ['r2'] };
	await expect(reader.next({ last } as never, 3)).rejects.toThrow(/created before .* rule 11 /);
});

test('The Execution Ends keeps the sequence if n8n could not start one', async () => {
	const { clock, n8n, happen, choose, publish, started } = await pollWorld();
	await publish(choose({ doneWhen: 'ended' }));
	let rejections = 1;
	n8n.beforeWriting = async (items) => {
		if (!isUnwritable(items) && rejections-- > 0) throw new Error('The database is away');
	};
	happen('r0', 'r1', 'r2', 'r3');
	await clock.advance(120_000);
	expect(started()).toEqual(['e2', 'e3', 'e4', 'e5']);
});

test('an event that waits for the end of an execution starts at that end, even while another is loaded', async () => {
	const { clock, n8n, service, happen, chooseCurrent, publish } = await pollWorld();
	const choice = { ...chooseCurrent({}, () => undefined), interval: 3_600_000, atOnce: 5 };
	const { send } = service.api;
	service.api.send = (async (request: { path: string }) => {
		if (request.path.endsWith('r2')) await clock.sleep(3_000);
		return await send!(request as never);
	});
	n8n.courses = [{ ms: 1_000, status: 'success' }, { ms: 3_600_000, status: 'success' }];
	await publish(choice);
	happen('r1', 'r1', 'r2');
	while (n8n.allRows.length < 2) await clock.advance(1_000);
	await clock.advance(5_000);
	expect(n8n.allRows).toHaveLength(3);
});

test('if n8n’s clock is set back by an hour, events start, and failed ones start again, as before', async () => {
	const { clock, n8n, happen, choose, publish, started } = await pollWorld();
	n8n.courses = [{ ms: 1, status: 'error' }, { ms: 1, status: 'success' }];
	n8n.fast = 3_600_000;
	await publish(choose({ doneWhen: 'succeeded' }));
	happen('r0');
	while (n8n.allRows.length < 1) await clock.advance(100);
	await clock.advance(1_000);
	n8n.fast = 0;
	happen('r1');
	await clock.advance(120_000);
	expect(started()).toEqual(['e2', 'e2', 'e3', 'e3']);
});

test.each([
	['no event is skipped', true, ['e2']],
	['nothing counts as another log', false, []],
])('if a look waits twelve seconds for its turn, and a replica lags, %s', async (_, isPublished, expected) => {
	const { clock, service, n8n, happen, choose, publish, started, messages } = await pollWorld();
	if (isPublished) await publish(choose());
	const { newest, after } = service.log;
	let waits = 12_000;
	let isBehind = false;
	service.lag = 8_000;
	service.log.newest = async () => {
		await clock.sleep(waits);
		waits = 0;
		service.answers = isBehind ? 1 : 0;
		isBehind = !isPublished;
		return await newest();
	};
	service.log.after = (...reading) => {
		service.answers = 1;
		return after(...reading);
	};
	const publishing = isPublished ? undefined : n8n.publish('one', choose());
	await clock.advance(isPublished ? 26_500 - (clock.now() % 15_000) : 11_800);
	happen('r1');
	service.happen('c.z', 'r0');
	await clock.advance(600_000);
	await publishing;
	expect([started(), messages()]).toEqual([expected, []]);
});

test('a replica that lags too long is reported as another log, and starts nothing that has succeeded again', async () => {
	const { clock, service, happen, choose, publish, started, messages } = await pollWorld();
	const { newest } = service.log;
	const before = await newest();
	await publish(choose({ doneWhen: 'succeeded' }));
	happen('r1', 'r2');
	await clock.advance(60_000);
	service.log.newest = async () => before;
	await clock.advance(60_000);
	service.log.newest = newest;
	happen('r3');
	await clock.advance(120_000);
	expect([started(), messages()]).toEqual([['e2', 'e3', 'e4'], [expect.stringContaining('no longer has what this trigger has read')]]);
});

test.each([
	['30 seconds later starts', 30_000, ['created', 'created'], []],
	[
		'never is reported, and the other of its group starts', Infinity, ['created'],
		[expect.stringMatching(/^The event e2 was set aside .* record r0x0 /)],
	],
])('a created record that the CRM returns, but lists %s', async (_, ms, changes, reports) => {
	const { clock, service, n8n, publish, messages } = await pollWorld();
	await publish({ ...recordsOf('lead'), groupSize: 2 });
	const { page } = service;
	const listedAt = clock.now() + ms;
	await n8n.kill();
	service.page = (query) => {
		const answer = page(query);
		const isListed = ({ id }: { id: string }) => id !== 'r0x0' || clock.now() > listedAt || !Array.isArray(query.ids);
		return { ...answer, data: answer.data.filter(isListed) };
	};
	await n8n.start();
	service.write('r0', 'lead');
	service.write('r1', 'lead');
	await clock.advance(300_000);
	expect([n8n.allRows.flatMap(({ items }) => items.map(({ change }) => change)), messages()]).toEqual([changes, reports]);
});
