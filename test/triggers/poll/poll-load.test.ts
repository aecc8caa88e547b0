import { SimulatedClock } from '../../../bench/scale/clock.ts';
import type { Connection } from '../../../nodes/CrmPlatform/api/connection';
import { type CrmEvent, statesOf } from '../../../nodes/CrmPlatform/log/crmEvent';
import { groupOfEvents, groupOfRecords, entryOf } from '../../../nodes/CrmPlatform/trigger/poll/ledger';
import { groupLoader } from '../../../nodes/CrmPlatform/trigger/poll/loading';
import type { Access, PublishedTrigger } from '../../../nodes/CrmPlatform/trigger/poll/pollSettings';
import type { RecordReader } from '../../../nodes/CrmPlatform/trigger/poll/records';
import { httpError } from '../../http/http-error.ts';
import { PollModelService } from './poll-model/poll-service.ts';

/** A group of events, the latest of their service, and what loading it takes. */
async function groupOf(count: number, gap: number, send: () => Promise<unknown> = async () => ({ body: {} })) {
	const clock = new SimulatedClock();
	const service = new PollModelService(clock);
	for (let i = 0; i < count; i++) {
		service.happen('a.created', `r${i}`);
		for (let j = 0; j < gap; j++) service.happen('a.created', 'other');
	}
	const events = service.all.filter(({ data }) => data.object.id !== 'other');
	/** The connection of each reading: each remembers names. */
	const connections: unknown[] = [];
	const describeEvents = async function (this: unknown) {
		connections.push(this);
		return { types: [{ type: 'a.created', collection: '/as' }] };
	};
	const reads = jest.spyOn(service.log, 'after');
	const group = groupOfEvents(events, { beginning: '' });
	const access = { api: { send, describeEvents } as unknown as Connection, log: service.log } as Access;
	const output = { content: 'current', receiver: { instance: 'i', workflow: 'w' }, names: 'none' } as const;
	const loaderWith = (more: Access) => groupLoader(more, { clock, settings: { events: { output } } } as unknown as PublishedTrigger);
	const loader = loaderWith(access);
	const load = async () => await loader(entryOf(group));
	return { clock, group, events, access, reads, connections, load, loaderWith };
}

test('a group of 500 reads five records at a time', async () => {
	let underWay = 0;
	let maxUnderWay = 0;
	const { load } = await groupOf(500, 0, async () => {
		maxUnderWay = Math.max(maxUnderWay, (underWay += 1));
		await new Promise((resolve) => setImmediate(resolve));
		underWay -= 1;
		return { body: { id: 'r' } };
	});
	expect((await load()).items).toHaveLength(500);
	expect(maxUnderWay).toBe(5);
});

test('an event whose id a restored log has assigned to another event is not mistaken for it', async () => {
	const { events, load } = await groupOf(3, 0);
	const [first] = events;
	first!.timestamp = '2025-01-01T00:00:00.000Z';
	const { items, failures } = await load();
	expect(failures).toEqual([expect.objectContaining({ ids: [first!.id], isFinal: true })]);
	expect(items).toHaveLength(events.length - 1);
});

test('events of a group are found in their order, however far apart they are', async () => {
	const { events, load, reads } = await groupOf(3, 15_000);
	const { items, failures } = await load();
	expect(items.map(({ event }) => event)).toMatchObject(events.map(({ id }) => ({ id })));
	expect(failures).toEqual([]);
	expect(reads.mock.calls).toEqual([[0, ['a.created'], 500], [15_001, ['a.created'], 500], [30_002, ['a.created'], 1]]);
});

test.each([
	['400', true, {}], ['403', true, {}], ['422', true, {}], ['401', false, {}], ['429', false, {}], ['500', false, {}], ['501', false, {}],
	['', false, {}], ['404', false, { answer: '<!doctype html>' }],
])('a response of %s is final: %s (%j)', async (httpCode, isFinal, data) => {
	const { load } = await groupOf(1, 0, async () => {
		const error = httpError(httpCode);
		error.context.data = data;
		throw error;
	});
	expect((await load()).failures).toMatchObject([{ ids: ['e1'], isFinal }]);
});

const lead = {
	id: 'c', stage: 'lead', amount: 10, tag_ids: ['t1'], custom_fields: { city: 'São Paulo' },
	created_at: '2026-01-02T00:00:00Z', due: '2026-01-02T12:00:00',
};

test('an event tells its record before and after; without that, the record may have been anything', () => {
	const event = (type: string, previous: object | null) =>
		({ type, data: { object: lead, previous, changed: [] } }) as unknown as CrmEvent;
	expect(statesOf(event('c.updated', { stage: 'new' })).map(({ stage }) => stage)).toEqual(['new', 'lead']);
	expect(statesOf(event('c.deleted', null))).toEqual([lead]);
	expect(statesOf(event('c.updated', null))).toEqual([lead, {}]);
});

test.each([
	[0, true, true, undefined], [1, true, false, new TypeError()], [2, false, true, new Error('refused')],
])('after %i failures, a replica may lag (%s), and what was not read is refused (%s)', async (failed, mayLag, isFinal, error) => {
	const { events, group, access, loaderWith } = await groupOf(3, 0);
	const item = { id: 'r0' };
	const changes = [{ events: [events[0]!], item, isBehind: false }, { events: events.slice(1), item, isBehind: true }];
	const changed = jest.fn(async () => (error ? await Promise.reject(error) : changes));
	const loader = loaderWith({ ...access, records: { changed, scope: {} } as unknown as RecordReader });
	const entry = entryOf({ ...group, beginning: 'records /people' }, { failedReadings: failed });
	const behind = new Error('The CRM does not yet return the record r1 in the state that the event e3 reports');
	const failures = [{ ids: error ? ['e1', 'e2', 'e3'] : ['e2', 'e3'], error: error ?? behind, isFinal }];
	expect(await loader(entry)).toEqual({ items: error ? [] : [item], failures });
	expect(changed).toHaveBeenCalledWith(events, mayLag);
});

test('pending records that the CRM no longer lists are read again and reported, as the events that its log no longer has', async () => {
	const { access, loaderWith } = await groupOf(1, 0);
	const group = groupOfRecords([{ id: 1 }, { id: 2 }], { account: '', beginning: 'records /people', begun: '' });
	const records = { existing: async () => await Promise.resolve([{ id: 2 }]), scope: {} } as unknown as RecordReader;
	const { items, failures } = await loaderWith({ ...access, records })(entryOf(group));
	expect([items, failures]).toEqual([[{ id: 2 }], [expect.objectContaining({ ids: ['1'], isFinal: true })]]);
});

test('names are remembered for a minute', async () => {
	const { clock, load, connections } = await groupOf(1, 0);
	const seen = [];
	for (const ms of [0, 60_000, 1]) seen.push(await clock.advance(ms).then(load).then(() => new Set(connections).size));
	expect(seen).toEqual([1, 1, 2]);
});
