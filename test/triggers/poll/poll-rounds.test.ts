import fc from 'fast-check';
import type { ITriggerFunctions } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import type { Connection } from '../../../nodes/CrmPlatform/api/connection';
import type { Newest } from '../../../nodes/CrmPlatform/log/eventLog';
import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { GroupReader, sharedNewest } from '../../../nodes/CrmPlatform/trigger/poll/groupReader';
import { ledgerOf, type Group } from '../../../nodes/CrmPlatform/trigger/poll/ledger';
import type { Access, PublishedTrigger } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import { Progress, startPolling } from '../../../nodes/CrmPlatform/trigger/poll/trigger';
import type { Position } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { randomRuns } from '../../support/random-runs.ts';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';
import type { PollHistory } from './poll-model/poll-histories.ts';
import { PollModelService } from './poll-model/poll-service.ts';
import { pollWorld } from './poll-model/poll-world.ts';

afterEach(clearProcessMemory);
const api = { viewer: 'viewer', notices: new Set<string>() } as unknown as Connection;

/** A trigger that was opened 14 seconds ago, a second before it reads; its executions last so many milliseconds. */
async function opened(settings: Partial<PollHistory>, ...lasting: number[]) {
	const world = await pollWorld();
	const { clock, service, n8n, choose } = world;
	n8n.courses = lasting.map((ms) => ({ ms, status: 'success' }));
	const copy: { global?: Record<string, { takeover: number; state: { sequence: number; open: unknown[] } }> } = {};
	const entry = () => Object.values(copy.global!)[0]!;
	const open = async (renew: Access['renew'] = async () => undefined) => {
		const trigger = { n8n: n8n['context']('one', copy, 'update'), clock, settings: choose(settings) };
		return (await startPolling(trigger, { api, log: service.log, records: undefined, renew })).closeFunction!;
	};
	/** The next request for the newest event is answered after so many milliseconds. */
	const answerLate = (ms: number) =>
		jest.spyOn(service.log, 'newest').mockImplementationOnce(async () => await clock.sleep(ms).then(service.log.newest));
	/** After some milliseconds: how many executions have begun, how often progress was stored without one, and the groups in it. */
	const after = async (ms: number): Promise<[number, number, number]> => {
		await clock.advance(ms);
		return [n8n.allRows.length, n8n.earlier.length - 1 - n8n.allRows.length, entry().state.open.length];
	};
	const close = await open();
	await clock.advance(14_000);
	return { ...world, open, close, answerLate, after, entry };
}

const endings = ['started', 'ended', 'succeeded'] as const;
test.each(endings)('an end is stored with the next start, or when none follows (%s)', async (doneWhen) => {
	const { service, happen, after } = await opened({ doneWhen }, 1_000);
	const reads = jest.spyOn(service.log, 'after');
	happen('r1', 'r1');
	expect([await after(1_500), await after(1_000), await after(1_000)]).toEqual([[1, 0, 2], [2, 0, 1], [2, 1, 0]]);
	expect([await after(60_000), reads.mock.calls.length]).toEqual([[2, 1, 0], 2]);
});

test.each([[8_000, [2, 1, 2], [2, 2, 1]], [14_000, [2, 1, 2], [2, 2, 1]]])(
	'an end is stored at once while the trigger reads, and after it was closed (after %i ms), and no failure is reported then',
	async (ms, first, second) => {
		const { clock, service, happen, answerLate, close, after, messages } = await opened({}, 20_000, 26_000);
		happen('r1', 'r2', 'r3');
		await after(10_000);
		answerLate(100_000);
		void clock.sleep(ms).then(close);
		expect([await after(13_000), await after(10_000)]).toEqual([first, second]);
		Object.assign(service, { failures: 1, failure: '500' });
		expect([await after(100_000), messages(), service.failures]).toEqual([second, [], 0]);
	},
);

test('what has ended while the trigger loads a group is stored when the trigger is closed', async () => {
	const { clock, service: { log }, n8n, happen, close, after } = await opened({ doneWhen: 'succeeded' });
	n8n.courses = [{ ms: 1_000, status: 'error' }, { ms: 8_000, status: 'success' }];
	happen('r1', 'r2');
	await after(3_000);
	jest.spyOn(log, 'after').mockImplementationOnce(async function* () {
		await clock.sleep(60_000);
	});
	const before = await after(7_000);
	await close();
	expect([before, await after(0)]).toEqual([[2, 1, 2], [2, 2, 1]]);
});

test('what has ended is stored although the credential cannot be read', async () => {
	const { happen, open, after } = await opened({ doneWhen: 'succeeded' }, 20_000);
	happen('r1');
	const renewals = [undefined];
	await open(async () => {
		if (renewals.length === 0) throw new Error('The credential has expired');
		return renewals.pop();
	});
	expect(await after(30_000)).toEqual([1, 1, 0]);
});

test('a trigger that was published again stores nothing more, and does not report the restored log that it has read', async () => {
	const { service, n8n, happen, answerLate, open, close, after, messages, entry } = await opened({ doneWhen: 'started' }, 1_000);
	happen('r1');
	await after(1_500);
	n8n.isDatabaseAway = true;
	answerLate(5_000);
	await after(15_500);
	n8n.isDatabaseAway = false;
	await open();
	await close();
	expect([await after(8_000), entry().takeover]).toEqual([[1, 0, 0], 2]);
	happen('r2');
	await after(20_000);
	service.restore(1);
	answerLate(5_000);
	await after(15_000);
	await open();
	await after(60_000);
	expect(messages()).toEqual([expect.stringContaining('restored from a backup')]);
});

test.each([[1, {}, 0], [-1, {}, 3], [1, { state: {} }, 3]])(
	'a trigger continues where another process has stopped, if that is newer (%i) and readable (%j): it starts %i, and follows what is under way',
	async (takeover, change, count) => {
		const { happen, open, after, entry, messages } = await opened({ doneWhen: 'succeeded', afterCrash: 'setAside' }, 20_000);
		happen('r0');
		await after(2_000);
		happen('r1', 'r2', 'r3');
		Object.assign(entry(), { takeover: entry().takeover + takeover, ...change });
		entry().state.sequence += 3;
		await open();
		expect([(await after(60_000))[0] - 1, messages().length]).toEqual([count, takeover > 0 && !('state' in change) ? 1 : 0]);
	},
);

test.each([[7_000, 'e2'], [100_000, 'new']])('a changed credential continues at the end of its log (%i ms: %s)', async (ms, id) => {
	const { clock, happen, open, after, started } = await opened({}, 1_000);
	const other = new PollModelService(clock);
	for (const record of ['r1', 'r2', 'r3']) other.happen('a.x', record);
	const { newest } = other.log;
	other.log.newest = async () => ({ ...(await clock.sleep(5_000).then(newest))!, account: 'other' });
	const renewals = [{ api, log: other.log, records: undefined, renew: async () => undefined }];
	const close = await open(async () => await clock.sleep(5_000).then(() => renewals.pop()));
	void clock.sleep(50_000).then(() => other.happen('a.x', 'r1', 0, 'new'));
	await after(ms);
	await close();
	happen('r1');
	await after(20_000);
	await open();
	await after(60_000);
	expect(started()).toEqual([id]);
});

test('what failed starts again after five seconds, however long the interval is', async () => {
	const { clock, n8n, happen, choose, started } = await pollWorld();
	n8n.courses = [{ ms: 1, status: 'error' }, { ms: 1, status: 'success' }];
	await n8n.publish('one', { ...choose({ doneWhen: 'succeeded' }), interval: 3_600_000 });
	happen('r1');
	while (started().length === 0) await clock.advance(1_000);
	await clock.advance(6_000);
	expect(started()).toEqual(['e2', 'e2']);
});

test('what n8n has lost starts again after some minutes, however long the interval is', async () => {
	const { clock, n8n, happen, choose, started } = await pollWorld();
	await n8n.publish('one', { ...choose({ doneWhen: 'succeeded' }), interval: 86_400_000 });
	Object.assign(n8n, { hasWorkers: true, beforeWriting: async () => await clock.sleep(3_600_000) });
	happen('r1');
	await clock.advance(86_400_000 - (clock.now() % 86_400_000) + 10_000);
	n8n.beforeWriting = async () => undefined;
	await clock.advance(300_000);
	expect(started()).toContain('e2');
});

test.each([[7_499, 1], [7_500, 2]])('the credential is read once per reading (an end after %i ms: %i times)', async (ms, count) => {
	const { happen, open, after } = await opened({}, ms);
	const renew = jest.fn(async () => undefined);
	happen('r1');
	await open(renew);
	await after(15_000);
	expect(renew).toHaveBeenCalledTimes(count);
});

test.each([[{}, 2], [null, 0]])('each reading notes that the CRM does not report who causes events (%j: %i)', async (request, count) => {
	const { clock, service, n8n, choose, publish } = await pollWorld();
	const settings = choose();
	settings.events.filter.ignored = { origins: [{ instance: 'other' }], users: [] };
	await publish(settings);
	for (const records of [['r1', 'r2'], ['r1']]) {
		for (const record of records) service.happen('a.x', record);
		for (const event of service.all) event.request = request;
		await clock.advance(60_000);
	}
	expect(n8n.warnings).toHaveLength(count);
});

/** A log, and a trigger for `a.x` of these stages that has read none of it. */
function unread({ stage = [] as string[], interval = 15_000, groupSize = 1, service = new PollModelService(new SimulatedClock()) } = {}) {
	const { clock } = service;
	const choice = { events: ['a.x'], filter: { changedFields: [], equal: { stage } } };
	const position = { since: '', choice, replaced: [], sequence: 0, at: new Date(clock.now()).toISOString() } as unknown as Position;
	const n8n = { getNode: () => ({ name: 'Poll' }), logger: { debug: () => undefined } };
	const trigger = { n8n, clock, settings: { groupSize, interval } } as unknown as PublishedTrigger;
	const reader = new GroupReader({ api, log: service.log } as Access, trigger);
	const happen = (...types: string[]) => types.forEach((type) => service.happen(type, 'r'));
	const reached = { position, ledger: ledgerOf([]) };
	const look = () => Math.max(0, reader.nextReading(reached) - clock.now());
	/** Reads after some milliseconds. @returns where the position is then, the number of new groups, and when to read next */
	const read = async (after: number): Promise<[number, number, number]> => {
		const { moved, groups } = await clock.advance(after).then(async () => await reader.read(reached));
		Object.assign(position, moved);
		return [position.sequence, groups.length, look()];
	};
	return { service, position, reached, happen, look, read };
}

test.each([[9_999, [1, 2]], [10_000, [2, 3]]])('a position passes what all replicas show (after %i ms: %j)', async (ms, sequences) => {
	const { position, happen, read } = unread();
	position.replaced = [1, 2, 3].map((last) => ({ choice: position.choice, lastBefore: last, lastPossiblyBefore: last }));
	happen('a.x', 'c.z');
	expect([await read(0), position.replaced.length]).toEqual([[1, 1, 15_000], 2]);
	happen('c.z');
	const seen = [await read(ms), await read(10_000), position.newest!.sequence];
	expect(seen).toEqual([[sequences[0], 0, 15_000 - ms], [sequences[1], 0, 20_000 - ms], 3]);
});

test('a reading ends with as many events as may be open, or 10,000 that a filter omits, and the next continues there at once', async () => {
	const all = unread();
	all.happen(...Array.from({ length: 150 }, () => 'a.x'));
	expect([await all.read(0), await all.read(10_000), await all.read(0)]).toEqual([[50, 50, 0], [100, 50, 0], [150, 50, 0]]);
	const inGroups = unread({ groupSize: 20, service: all.service });
	expect([await inGroups.read(0), await inGroups.read(0)]).toEqual([[40, 2, 0], [80, 2, 0]]);
	all.reached.ledger = ledgerOf(Array.from({ length: 26 }, (_, i) => ({ name: `${i}`, members: [] }) as unknown as Group));
	expect(all.look()).toBe(15_000);
	clearProcessMemory();
	const leads = unread({ stage: ['lead'] });
	leads.happen(...Array.from({ length: 10_001 }, () => 'a.x'));
	expect([await leads.read(0), await leads.read(0)]).toEqual([[10_000, 0, 0], [10_001, 0, 15_000]]);
});

test('what was not read before the log was restored is read afterwards, without what only a replaced choice includes', async () => {
	const { service, position, happen, read } = unread();
	position.replaced = [{ choice: { ...position.choice, events: ['c.z'] }, lastBefore: 0, lastPossiblyBefore: 60 }];
	happen(...Array.from({ length: 60 }, () => 'a.x'));
	const before = await read(0);
	service.restore(5);
	await service.clock.advance(10_000);
	happen('c.z');
	expect([before, await read(0), await read(0)]).toEqual([[50, 50, 0], [50, 0, 5_000], [56, 5, 5_000]]);
	happen('b.z');
	await read(0);
	expect([await read(10_000), await read(10_000)]).toEqual([[56, 0, 10_000], [57, 0, 15_000]]);
});

test('an empty log and an expired event tell nothing, and of a log that grows during a look only what that has seen is read', async () => {
	const { service: { log }, position, happen, read } = unread();
	position.newest = { identity: 'expired', sequence: 0, timestamp: '2026-01-01T00:00:00Z' };
	expect(await read(0)).toEqual([0, 0, 15_000]);
	happen('a.x');
	jest.spyOn(log, 'after').mockImplementationOnce(async function* () {});
	expect(await read(15_000)).toEqual([0, 0, 15_000]);
	const { newest } = log;
	log.newest = async () => await newest().finally(() => happen('a.x'));
	expect([await read(15_000), await read(15_000)]).toEqual([[1, 1, 15_000], [2, 1, 15_000]]);
});

test.each([[0, 4_999, 3], [0, 5_000, 4], [-1, 1, 4]])(
	'triggers share a look that was made %i ms after their time, for %i ms, but not their first (%i looks)',
	async (late, age, count) => {
		const interval = 15_000;
		const first = unread({ interval });
		const second = unread({ interval, service: first.service });
		const looks = jest.spyOn(first.service.log, 'newest');
		await first.read(0).then(async () => await second.read(0));
		await first.read(interval + late);
		await second.read(age);
		expect(looks).toHaveBeenCalledTimes(count);
	},
);

test.each([[15, [30, 60, 120, 240, 300, 300, 15, 30]], [3_600, [300, 300, 300, 300, 300, 300, 1_800, 300]]])(
	'while the CRM fails, a trigger with an interval of %i s waits longer each time, up to five minutes, and reports each outage',
	async (interval, pauses) => {
		const { clock, service, n8n, choose, messages } = await pollWorld();
		await n8n.publish('one', { ...choose(), interval: interval * 1_000 });
		await clock.advance(2_000 * interval - (clock.now() % (1_000 * interval)) - 1_000);
		const looks: number[] = [];
		const { newest } = service.log;
		service.log.newest = async () => {
			if (looks.push(clock.now() / 1_000) !== 7) throw new Error('The CRM does not answer');
			return await newest();
		};
		while (looks.length <= pauses.length) await clock.advance(1_000);
		expect([looks.slice(1).map((at, i) => Math.round(at - looks[i]!)), messages().length]).toEqual([pauses, 2]);
	},
);

const eventAt = (sequence: number): Newest => ({ identity: `${sequence}`, timestamp: '', sequence, account: '' });

test('a shared answer is not too old and not another credential’s, and its failure affects only those who asked meanwhile', async () => {
	const asker = fc.record({
		at: fc.nat(60_000), view: fc.constantFrom(0, 1), maxAge: fc.constantFrom(500, 7_500, 30_000), ms: fc.nat(20_000), fails: fc.boolean(),
	});
	const property = fc.asyncProperty(fc.array(asker, { minLength: 2, maxLength: 30 }), async (askers) => {
		clearProcessMemory();
		const clock = new SimulatedClock();
		const begun = clock.now();
		const answers: Array<{ view: number; requestedAt: number; maxAge: number; seen: number; at?: number; failedAt?: number }> = [];
		for (const { at, view, maxAge, ms, fails } of askers) {
			void clock.sleep(at).then(async () => {
				const requestedAt = clock.now() - begun;
				const newest = async () => {
					// The newest sequence grows each millisecond, and shows which of the two views it belongs to.
					const seen = clock.now() - begun;
					await clock.sleep(ms);
					if (fails) throw new Error(`${seen * 2 + view} ${clock.now() - begun}`);
					return eventAt(seen * 2 + view);
				};
				await sharedNewest({ api: { viewer: `${view}` }, log: { newest } } as unknown as Access, maxAge, clock).then(
					({ newest, requestedAt: at }) =>
						answers.push({
							view: newest!.sequence % 2 === view ? view : -1, requestedAt, maxAge, seen: Math.floor(newest!.sequence / 2), at: at - begun,
						}),
					({ message }: Error) => {
						const [sequence = 0, failedAt = 0] = message.split(' ').map(Number);
						answers.push({ view: sequence % 2 === view ? view : -1, requestedAt, maxAge, seen: Math.floor(sequence / 2), failedAt });
					},
				);
			});
		}
		await clock.runUntil(begun + 200_000);
		expect(answers).toHaveLength(askers.length);
		const isWrong = ({ view, requestedAt, maxAge, seen, at = seen, failedAt = Infinity }: (typeof answers)[number]) =>
			view < 0 || at !== seen || seen > requestedAt || requestedAt - seen >= maxAge || failedAt < requestedAt;
		expect(answers.filter(isWrong)).toEqual([]);
	});
	await fc.assert(property, randomRuns(200));
}, 60_000);

test('each trigger reports an outage itself, even if one has asked for all', async () => {
	const { clock, service, n8n, choose } = await pollWorld();
	for (const node of ['one', 'two']) await n8n.publish(node, choose());
	await clock.advance(60_000);
	const { newest } = service.log;
	service.log.newest = async () => {
		await clock.sleep(100);
		return await newest();
	};
	Object.assign(service, { failures: 1, failure: '500' });
	await clock.advance(60_000);
	expect(n8n.reports.map(({ node, about }) => [node, about])).toEqual([['one', 'one'], ['two', 'two']]);
});

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
	clearProcessMemory();
});
