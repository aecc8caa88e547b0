import fc from 'fast-check';

import { readAll } from '../../nodes/CrmPlatform/api/lists/parallel';
import type { ListDescription } from '../../nodes/CrmPlatform/api/openapi/listing';
import { randomRuns } from '../support/random-runs.ts';
import { ListService, writes, type StoredItem } from './list-service.ts';

const list: ListDescription = {
	cursor: 'cursor',
	pageSize: { name: 'limit', maximum: 4 },
	sort: { name: 'sort', values: ['created_at', '-created_at'], default: 'created_at' },
	created: { field: 'created_at', from: 'created_at[gte]', before: 'created_at[lt]' },
	filters: [],
};

const read = async (service: ListService, cursors: number, query = {}) =>
	(await readAll(service.send, { path: '/contacts', list, query, cursors }, (record) => record)) as StoredItem[];

/** Times of records that were created once a minute. */
const even = (length: number) => Array.from({ length }, (_, i) => Date.parse('2024-01-01') + i * 60_000);

/** Times with ties, clusters and gaps, as imports and quiet years leave them. */
const times = fc
	.array(fc.oneof(fc.constant(0), fc.nat(3), fc.nat(1000), fc.nat(1e9)), { maxLength: 200, size: 'max' })
	.map((gaps) => gaps.map(((now) => (gap: number) => (now += gap))(Date.parse('2024-01-01'))));

const queries = fc.constantFrom(
	{},
	{ sort: '-created_at' },
	{ 'created_at[gte]': '2024-01-01T00:00:00.500Z' },
	{ 'created_at[lt]': '2024-01-05T00:00:00.000Z' },
	{ 'created_at[gte]': '2024-01-01T00:00:00.500Z', sort: '-created_at' },
	{ 'created_at[lt]': '2024-01-05T00:00:00.000Z', sort: '-created_at' },
);

test('several cursors return the same records as one, in the same order', async () => {
	await fc.assert(
		fc.asyncProperty(times, queries, fc.integer({ min: 2, max: 6 }), async (at, query, cursors) => {
			const service = new ListService(at);
			const expected = await read(service, 1, query);
			service.requests = 0;
			expect(await read(service, cursors, query)).toEqual(expected);
			expect(service.maxUnderWay).toBeLessThanOrEqual(cursors);
		}),
		randomRuns(100),
	);
});

test('while others write, no record is returned twice, none that stays is missing, and the order is right', async () => {
	await fc.assert(
		fc.asyncProperty(times, writes, fc.boolean(), async (at, meanwhile, descending) => {
			const service = new ListService(at, meanwhile);
			const before = [...service.records];
			const found = await read(service, 4, descending ? { sort: '-created_at' } : {});
			const ids = found.map(({ id }) => id);
			expect(new Set(ids).size).toBe(ids.length);
			const staying = before.filter(({ id }) => !service.deleted.has(id));
			expect(staying.filter(({ id }) => !ids.includes(id))).toEqual([]);
			const ordered = [...ids].sort();
			expect(ids).toEqual(descending ? ordered.reverse() : ordered);
		}),
		randomRuns(100),
	);
});

test('an even list costs few requests more than one cursor needs', async () => {
	const service = new ListService(even(800));
	await read(service, 5);
	expect(service.requests).toBeLessThanOrEqual(200 + 10);
	expect(service.rounds).toBeLessThanOrEqual(0.25 * 200);
});

test('a list that was imported at once, years ago, is divided where its records are', async () => {
	const imported = Array.from({ length: 700 }, (_, i) => Date.parse('2021-01-01') + i * 2);
	const since = Array.from({ length: 100 }, (_, i) => Date.parse('2021-02-01') + i * 864e5);
	const service = new ListService([...imported, ...since]);
	await read(service, 5);
	expect(service.requests).toBeLessThanOrEqual(200 + 30);
	expect(service.rounds).toBeLessThanOrEqual(0.4 * 200);
});

test.each([
	['in another order', list, { sort: 'name' }],
	['in an order nobody knows', { ...list, sort: { name: 'sort', values: [] } }, {}],
	['that cannot be narrowed by time', { ...list, created: undefined }, {}],
])('a list %s is read with one cursor', async (_, described, query) => {
	const service = new ListService(Array.from({ length: 100 }, (__, i) => i * 1000));
	const request = { path: '/contacts', list: described as ListDescription, query, cursors: 5 };
	expect(await readAll(service.send, request, (record) => record)).toHaveLength(100);
	expect(service.maxUnderWay).toBe(1);
});

test.each<[string, (service: ListService) => void]>([
	['records without the time of creation', ({ records }) => records.slice(360).forEach((record) => (record.created_at = ''))],
	['a service that excludes the instant from which it should read', (service) => (service.includesFrom = false)],
])('a list is read with one cursor, completely, if its parts are inconsistent: %s', async (_, change) => {
	const service = new ListService(even(400));
	change(service);
	expect((await read(service, 5)).map(({ id }) => id)).toEqual(service.records.map(({ id }) => id));
});

test.each([{ sort: '-created_at' }, { 'created_at[gte]': '2024-01-01T01:00:00.000Z' }])(
	'a service that ignores the times in the requests is detected: %j',
	async (query) => {
		const service = new ListService(even(400));
		service.filters = false;
		await expect(read(service, 5, query)).rejects.toThrow(/outside the requested times.* rule 11 /);
	},
);

test('when one cursor fails, the others stop after their current page', async () => {
	const service = new ListService(Array.from({ length: 400 }, (_, i) => i * 1000));
	service.lastSuccess = 20;
	await expect(read(service, 4)).rejects.toThrow('no more');
	await new Promise((resolve) => setImmediate(resolve));
	while (service.underWay > 0) await new Promise((resolve) => setImmediate(resolve));
	expect(service.requests).toBeLessThanOrEqual(20 + 4);
});
