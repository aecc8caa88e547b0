import type { IDataObject } from 'n8n-workflow';

import { answersByItem } from '../../nodes/CrmPlatform/api/batchResults';

/** Which result each item has: its number among the results, or null where that is not certain. */
function placed(items: IDataObject[], results: unknown, areNew = false): Array<number | null> {
	const list = Array.isArray(results)
		? results.map((result: unknown, n) => (isResult(result) ? { ...result, number: n } : result))
		: results;
	const byPlace = new Map(
		answersByItem({ results: list }, items, areNew).map(([place, { body }]) => [place, (body as { number: number }).number]),
	);
	expect([...byPlace.keys()].every((place) => place in items)).toBe(true);
	return items.map((_, place) => byPlace.get(place) ?? null);
}

const isResult = (value: unknown): value is IDataObject => typeof value === 'object' && value !== null;

const ok = (data?: unknown) => ({ status: 200, ...(data !== undefined && { data }) });
const [plain, ab] = [[{ n: 1 }, { n: 2 }], [{ id: 'a' }, { id: 'b' }]];

describe('items without ids', () => {
	test.each<[string, unknown[], Array<number | null>]>([
		['by index, in any order', [{ index: 1, ...ok() }, { index: 0, ...ok() }], [1, 0]],
		['by an index that is a text', [{ index: '1', ...ok() }, { index: ' 0', ...ok() }], [1, 0]],
		['by an index, though one is missing', [{ index: 1, ...ok() }], [null, 0]],
		['in order, where the index is null', [{ index: null, ...ok() }, { index: null, ...ok() }], [0, 1]],
		['in order, where new records have ids', [ok({ id: 'x' }), ok({ id: 'y' })], [0, 1]],
		['not at all, if an index is the one behind the last', [{ index: 0, ...ok() }, { index: 2, ...ok() }], [null, null]],
		['not at all, if an index is negative', [{ index: 0, ...ok() }, { index: -1, ...ok() }], [null, null]],
		[
			'not at all, if an index comes twice beside another', [{ index: 0, ...ok() }, { index: 0, ...ok() }, { index: 1, ...ok() }],
			[null, null],
		],
		['not by the order, if some have an index', [{ index: 0, ...ok() }, ok()], [0, null]],
		['not by the order, if one cannot be read', [ok(), ok(), null], [null, null]],
		['not by the order, if one has no status', [ok(), { data: {} }], [null, null]],
		['not by the order, if there are fewer', [ok()], [null, null]],
		['not by the order, if there are more', [ok(), ok(), ok()], [null, null]],
		['not by an index that is not a whole number', [{ index: 0.5, ...ok() }, { index: 1, ...ok() }], [null, 1]],
		['not by an index that is a word', [{ index: 'first', ...ok() }, { index: 1, ...ok() }], [null, 1]],
		['not without a status that is a number', [{ index: 0, status: 'done' }, { index: 1, ...ok() }], [null, 1]],
		['by the index where the new record has an id', [{ index: 1, ...ok({ id: 'y' }) }, { index: 0, ...ok({ id: 'x' }) }], [1, 0]],
	])('have results %s', (_, results, expected) => {
		expect(placed(plain, results)).toEqual(expected);
	});
});

describe('items with ids', () => {
	test.each<[string, unknown[], Array<number | null>]>([
		['by the id', [{ id: 'b', ...ok() }, { id: 'a', ...ok() }], [1, 0]],
		['by the id of the record', [ok({ id: 'b' }), ok({ id: 'a' })], [1, 0]],
		['by the id where data is empty', [{ id: 'a', ...ok(null) }, { id: 'b', ...ok('text') }], [0, 1]],
		['by the id, whatever the index says', [{ index: 0, id: 'b', ...ok() }, { index: 1, id: 'a', ...ok() }], [1, 0]],
		['by the index, if there is no id', [{ index: 1, ...ok() }, { index: 0, ...ok() }], [1, 0]],
		['in order, if there is neither', [ok(), ok()], [0, 1]],
		['not by the id, if the index is a word', [{ id: 'a', index: 'first', ...ok() }, { id: 'b', index: null, ...ok() }], [null, 1]],
		['not by the order, if one has an id', [{ id: 'a', ...ok() }, ok()], [0, null]],
		['not by the order, if a result is for another record', [ok({ id: 'z' }), ok()], [null, null]],
		['not by the index of another record', [{ index: 0, ...ok({ id: 'z' }) }, { index: 1, ...ok({ id: 'b' }) }], [null, 1]],
		['not if two results are of one record', [{ id: 'a', ...ok() }, { id: 'a', ...ok() }, { id: 'b', ...ok() }], [null, 2]],
		['not by an index if the id of another result is for the same item', [{ id: 'a', ...ok() }, { index: 0, ...ok() }], [null, null]],
	])('have results %s', (_, results, expected) => {
		expect(placed(ab, results)).toEqual(expected);
	});

	test('an item without an id has the result at its index, whatever id the result has', () => {
		expect(placed([{ id: 'a' }, {}], [{ index: 1, ...ok({ id: 'new' }) }, { index: 0, id: 'a', ...ok() }])).toEqual([1, 0]);
	});
});

describe('several items for one record', () => {
	const twice = [{ id: 'a' }, { id: 'b' }, { id: 'a' }];

	test.each<[string, unknown[], Array<number | null>]>([
		['in order', [{ id: 'a', ...ok() }, { id: 'a', ...ok() }, { id: 'b', ...ok() }], [0, 2, 1]],
		['by their indexes', [{ index: 2, id: 'a', ...ok() }, { index: 1, id: 'b', ...ok() }, { index: 0, id: 'a', ...ok() }], [2, 1, 0]],
		['not if there is one for both', [{ id: 'a', ...ok() }, { id: 'b', ...ok() }], [null, 1, null]],
		['not if there are three for both', [{ id: 'a', ...ok() }, { id: 'a', ...ok() }, { id: 'a', ...ok() }], [null, null, null]],
		['only the one with an index, if another has none', [{ index: 2, id: 'a', ...ok() }, { id: 'a', ...ok() }], [null, null, 0]],
		['not if an index is that of another record', [{ index: 1, id: 'a', ...ok() }, { index: 0, id: 'a', ...ok() }], [1, null, null]],
	])('have results %s', (_, results, expected) => {
		expect(placed(twice, results)).toEqual(expected);
	});

	test('keep their results though both records have the last values', () => {
		const items = [{ id: 'a', name: 'one' }, { id: 'a', name: 'two' }];
		expect(placed(items, [{ id: 'a', ...ok({ id: 'a', name: 'two' }) }, { id: 'a', ...ok({ id: 'a', name: 'two' }) }])).toEqual([0, 1]);
	});
});

describe('a record with the values of another item belongs to no item,', () => {
	const items = [{ email: 'a@x.example', kind: 'k' }, { email: 'B@x.example ', kind: 'k' }];
	const record = (email: unknown) => ok({ email, kind: 'k' });

	test.each<[string, unknown[], Array<number | null>]>([
		[
			'as the fields show in which all items differ', [{ index: 0, ...record('b@x.example') }, { index: 1, ...record('a@x.example') }],
			[null, null],
		],
		['but the CRM may write them in another way', [{ index: 0, ...record('A@x.example') }, { index: 1, ...record('b@x.example') }], [0, 1]],
		['but it may have changed them', [{ index: 0, ...record('other@x.example') }, { index: 1, ...record(null) }], [0, 1]],
		['but a result without a record proves nothing', [{ index: 0, ...ok() }, { index: 1, ...record('b@x.example') }], [0, 1]],
		['but fields in which items are alike prove nothing', [{ index: 0, ...ok({ kind: 'k' }) }, { index: 1, ...ok({ kind: 'k' }) }], [0, 1]],
	])('%s', (_, results, expected) => {
		expect(placed(items, results)).toEqual(expected);
	});

	test('numbers distinguish items, too', () => {
		const numbers = [{ number: 1 }, { number: 2 }];
		expect(placed(numbers, [ok({ number: 2 }), ok({ number: 1 })])).toEqual([null, null]);
	});

	test('case and outer spaces are ignored, but similar letters are not', () => {
		const similar = [{ name: 'Straße' }, { name: 'Strasse' }];
		expect(placed(similar, [ok({ name: 'STRASSE' }), ok({ name: 'straße' })])).toEqual([null, null]);
	});

	test('a field that one item does not have decides nothing', () => {
		const some = [{ code: 1 }, { code: 2 }, {}];
		expect(placed(some, [0, 1, 2].map((index) => ({ index, ...ok({ code: 1 }) })))).toEqual([0, 1, 2]);
	});

	test('one distinguishing field is enough', () => {
		const both = [{ a: 1, b: 'x' }, { a: 2, b: 'y' }];
		expect(placed(both, [{ index: 0, ...ok({ a: 2, b: 'x' }) }, { index: 1, ...ok({ a: 2 }) }])).toEqual([0, 1]);
	});
});

describe('of items that become records of their own', () => {
	const creation = (index: number, id: string, status = 201) => ({ index, id, status });

	test.each<[number, number, Array<number | null>]>([
		[200, 200, [null, null]],
		[299, 201, [null, null]],
		[201, 300, [0, 1]],
		[201, 199, [0, 1]],
		[201, 422, [0, 1]],
	])('two items answered with one id, by %i and %i, both have no result if both were created', (first, second, expected) => {
		expect(placed(plain, [creation(0, 'x', first), creation(1, 'x', second)], true)).toEqual(expected);
		expect(placed(plain, [creation(0, 'x', first), creation(1, 'x', second)])).toEqual([0, 1]);
	});
});

test.each([undefined, null, 'text', 7, { results: 7 }, [], [[]]])(
	'a response without results leaves all items undecided: %j',
	(results) => {
		expect(placed(plain, results)).toEqual([null, null]);
	},
);

test('no items have no results', () => {
	expect(placed([], [{ index: 0, ...ok() }])).toEqual([]);
});
