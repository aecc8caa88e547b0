import { fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { coversValue, sameValue } from '../../nodes/CrmPlatform/fields/same';

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
