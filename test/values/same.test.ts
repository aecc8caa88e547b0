import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { looseText } from '../../nodes/CrmPlatform/fields/keys';
import { coversValue, sameValue } from '../../nodes/CrmPlatform/fields/same';
import { timeSpan } from '../../nodes/CrmPlatform/values/dates';

const [text, number, instant, list, json, link] = [
	fieldNamed('name'),
	fieldNamed('amount', { kind: 'number' }),
	fieldNamed('due_at', { kind: 'dateTime' }),
	fieldNamed('tag_ids', { kind: 'list' }),
	fieldNamed('location', { kind: 'json' }),
	fieldNamed('owner_id', { collection: 'users' }),
];

describe('values of a field are the same for the service', () => {
	test.each([
		['a list in another order', list, ['a', 'b'], ['b', 'a']],
		['a list that has a value twice', list, ['a', 'a', 'b'], ['b', 'a']],
		['a decimal as text', number, 12.5, '12.50'],
		['an id as a number', link, 7, '7'],
		['an instant in another zone', instant, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00.000+01:00'],
		['an instant of a field without a description', undefined, '2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
		['letters with accents composed in another way', text, 'Zoe\u0308', 'Zo\u00eb'],
		['nothing, an empty text and an empty list', list, '', []],
		['nothing and an object without values', json, null, { city: null, zip: '' }],
		['objects whose members have another order', json, { a: 1, b: [2] }, { b: [2], a: 1 }],
		['a member without a value, and none', json, { a: 1, b: null }, { a: 1 }],
	])('%s', (_, field, a, b) => {
		expect([sameValue(field, a, b), sameValue(field, b, a)]).toEqual([true, true]);
	});
});

describe('values of a field differ', () => {
	test.each([
		['a list whose order counts, according to the description', { ...list, isOrdered: true as const }, ['a', 'b'], ['b', 'a']],
		['a list of objects in another order: the first may be the main one', json, [{ value: 1 }, { value: 2 }], [{ value: 2 }, { value: 1 }]],
		['coordinates in another order', json, { at: [7, 48] }, { at: [48, 7] }],
		['a list with another value', list, ['a', 'b'], ['a', 'c']],
		['a member that only one has', json, { a: 1, b: 2 }, { a: 1 }],
		['zero and nothing', number, 0, null],
		['times that are texts', text, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00+01:00'],
		['a text in another case', text, 'Ada', 'ada'],
	])('%s', (_, field, a, b) => {
		expect([sameValue(field, a, b), sameValue(field, b, a)]).toEqual([false, false]);
	});
});

test('a value covers another one that has only some of its members', () => {
	expect(coversValue(json, { city: 'Lyon', zip: '1' }, { city: 'Lyon' })).toBe(true);
	expect(coversValue(json, [{ value: 'a', label: 'home' }], [{ value: 'a' }])).toBe(true);
	expect(coversValue(json, { city: 'Lyon' }, { city: 'Lyon', zip: '1' })).toBe(false);
});

test.each([
	['fjord.example', ['www.fjord.example', 'https://www.fjord.example/', 'HTTP://Fjord.example', 'fjord.example.']],
	['7', ['="7"', '07', '7.0', '#7', '７', "'7", ' 7 ', '7;']],
	['d9b2d63d-a233-4123-847a-8d1a1a3d9f0a', ['{D9B2D63D-A233-4123-847A-8D1A1A3D9F0A}', 'd9b2d63da2334123847a8d1a1a3d9f0a']],
	['abc', ['[abc]', '<abc>', '"abc"', 'ABC,']],
])('%s may be written as %j', (text, others) => {
	for (const other of others) expect([other, looseText(other)]).toEqual([other, looseText(text)]);
});

test.each([
	['con_7', 'con_8'], ['7', '70'], ['a.example', 'b.example'], ['www1.example', 'example'], ['1.5', '15'],
])('%s and %s are different', (first, second) => {
	expect(looseText(first)).not.toBe(looseText(second));
});

const isLater = (time: unknown, reference: unknown) => timeSpan(time, 'utc')!.from > timeSpan(reference, 'utc')!.to;

test.each([
	['a day, without its time zone', '2026-11-20', '2026-11-20T09:00:00Z'],
	['a second', '2026-11-20T09:00:01Z', '2026-11-20T09:00:01.400Z'],
	['a minute', '2026-11-20T09:00Z', '2026-11-20T09:00:30Z'],
	['a second, with zeros', '2026-11-20T09:00:01.000Z', '2026-11-20T09:00:01.400Z'],
	['a day, with zeros', '2026-11-20T00:00:00+01:00', '2026-11-20T13:00:00Z'],
	['epoch seconds as milliseconds', 1_795_000_001_000, 1_795_000_001_999],
])('of two times within %s, neither is later', (_, first, second) => {
	expect([isLater(first, second), isLater(second, first)]).toEqual([false, false]);
});

test.each([
	['2026-11-20T09:00:02Z', '2026-11-20T09:00:01.999Z'],
	['2026-11-20T09:00:00.002Z', '2026-11-20T09:00:00.001Z'],
	['2026-11-22', '2026-11-20T09:00:00Z'],
])('%s is later than %s', (later, earlier) => {
	expect(isLater(later, earlier)).toBe(true);
	expect(isLater(earlier, later)).toBe(false);
});
