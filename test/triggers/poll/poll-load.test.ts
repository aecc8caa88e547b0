import { SimulatedClock } from '../../../bench/scale/clock.ts';
import { systemClock } from '../../../nodes/CrmPlatform/base/clock';
import type { Connection } from '../../../nodes/CrmPlatform/api/connection';
import { type CrmEvent, statesOf } from '../../../nodes/CrmPlatform/log/crmEvent';
import { groupOfEvents } from '../../../nodes/CrmPlatform/trigger/poll/position';
import { openGroup } from '../../../nodes/CrmPlatform/trigger/poll/openGroups';
import { GroupLoader } from '../../../nodes/CrmPlatform/trigger/poll/loading';
import type { PublishedTrigger } from '../../../nodes/CrmPlatform/trigger/poll/pollProperties';
import { httpError } from '../../http/http-error.ts';
import { PollModelService } from './poll-model/poll-service.ts';

/** A group of events, the latest of their service, and what loading it takes. */
async function groupOf(count: number, gap: number, send: () => Promise<unknown> = async () => ({ body: {} })) {
	const service = new PollModelService(new SimulatedClock());
	for (let i = 0; i < count; i++) {
		service.happen('a.created', `r${i}`);
		for (let j = 0; j < gap; j++) service.happen('b.created', 'other');
	}
	const events = service.all.filter(({ type }) => type === 'a.created');
	const describeEvents = async () => ({ types: [{ type: 'a.created', collection: '/as' }] });
	const reads = jest.spyOn(service.log, 'after');
	const group = groupOfEvents(events, { beginning: '' });
	const api = { send, describeEvents } as unknown as Connection;
	const output = { content: 'current', origin: { instance: 'i', workflow: 'w' }, names: 'none' } as const;
	const trigger = { clock: systemClock, settings: { events: { output } } } as PublishedTrigger;
	const loader = new GroupLoader({ api, log: service.log, records: undefined }, trigger);
	const load = async () => await loader.load(openGroup(group));
	return { events, reads, load };
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
	expect(reads.mock.calls.length).toBeLessThanOrEqual(3);
});

test.each([
	['403', true],
	['422', true],
	['401', false],
	['429', false],
	['500', false],
])('a response of %s is final: %s', async (httpCode, isFinal) => {
	const { load } = await groupOf(1, 0, async () => {
		throw httpError(httpCode);
	});
	expect((await load()).failures).toMatchObject([{ ids: ['e1'], isFinal }]);
});

test('a web page in place of a response is not final', async () => {
	const { load } = await groupOf(1, 0, async () => {
		const error = httpError('404');
		error.context.data = { answer: '<!doctype html>' };
		throw error;
	});
	expect((await load()).failures).toMatchObject([{ ids: ['e1'], isFinal: false }]);
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
