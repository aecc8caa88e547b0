import { type Condition, conditionOf, type Verdict, verdictOf } from '../../nodes/CrmPlatform/fields/condition';
import { type FieldKind, fieldNamed } from '../../nodes/CrmPlatform/fields/field';
import { looseText } from '../../nodes/CrmPlatform/fields/keys';
import { coversValue, sameValue } from '../../nodes/CrmPlatform/fields/recordComparison';
import { timeSpan } from '../../nodes/CrmPlatform/values/dates';

const [text, number, instant, list, json, link, numericLink] = [
	fieldNamed('name'),
	fieldNamed('amount', { kind: 'number' }),
	fieldNamed('due_at', { kind: 'dateTime' }),
	fieldNamed('tag_ids', { kind: 'list' }),
	fieldNamed('location', { kind: 'json' }),
	fieldNamed('owner_id', { target: '/users' }),
	fieldNamed('owner_id', { target: '/users', kind: 'number' }),
];

test.each([
	['a list in another order', list, ['a', 'b'], ['b', 'a']],
	['a list that has a value twice', list, ['a', 'a', 'b'], ['b', 'a']],
	['a decimal as text', number, 12.5, '12.50'],
	['decimals of a list as texts', fieldNamed('sizes', { kind: 'list', items: 'number' }), [12.5, 3], ['3.0', '12.50']],
	['an id as a number', link, 7, '7'],
	['an id as text, of a field that takes numbers', numericLink, 7, '7'],
	['texts of a list that the CRM keeps in lower case', fieldNamed('domains', { kind: 'list', lowerCase: ['*'] }), ['A', 'b'], ['B', 'a']],
	['such members of objects', fieldNamed('emails', { kind: 'json', lowerCase: ['*.value'] }), [{ value: 'A' }], [{ value: 'a' }]],
	['an instant in another zone', instant, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00.000+01:00'],
	['an instant of a field without a description', undefined, '2026-03-01T10:00:00Z', '2026-03-01T10:00:00.000Z'],
	['letters with accents composed in another way', text, 'Zoe\u0308', 'Zo\u00eb'],
	['nothing, an empty text and an empty list', list, '', []],
	['nothing and an object without values', json, null, { city: null, zip: '' }],
	['objects whose members have another order', json, { a: 1, b: [2] }, { b: [2], a: 1 }],
	['a member without a value, and none', json, { a: 1, b: null }, { a: 1 }],
])('values of a field are the same for the service: %s', (_, field, a, b) => {
	expect([sameValue(field, a, b), sameValue(field, b, a)]).toEqual([true, true]);
});

test.each([
	['a list of objects in another order: the first may be the main one', json, [{ value: 1 }, { value: 2 }], [{ value: 2 }, { value: 1 }]],
	['a list of texts and objects in another order', list, ['a', { id: 1 }], [{ id: 1 }, 'a']],
	['coordinates in another order', json, { at: [7, 48] }, { at: [48, 7] }],
	['a pair in another order', json, [7, 48], [48, 7]],
	['a pair of a field without a description', undefined, [7, 48], [48, 7]],
	['lists of objects, only the first of which are equal', json, [{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 3 }]],
	['a list of objects with one more', json, [{ id: 1 }], [{ id: 1 }, { id: 1 }]],
	['a value and a list of it', list, 'a', ['a']],
	['a list with another value', list, ['a', 'b'], ['a', 'c']],
	['a member that only one has', json, { a: 1, b: 2 }, { a: 1 }],
	['zero and nothing', number, 0, null],
	['times that are texts', text, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00+01:00'],
	['a text in another case', text, 'Ada', 'ada'],
])('values of a field differ: %s', (_, field, a, b) => {
	expect([sameValue(field, a, b), sameValue(field, b, a)]).toEqual([false, false]);
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

/** The verdict about a record whose field `f` has a value; with undefined, about one that lists no such field. */
const verdict = (kind: FieldKind, comparison: string, expected: unknown, value: unknown, more = {}): Verdict => {
	const parameter = comparison === 'is' ? 'f' : `f[${comparison}]`;
	const condition = conditionOf(parameter, expected, fieldNamed(parameter, { kind, ...more }), []);
	return verdictOf({ id: '1', f: value as never }, [[condition]]);
};

test.each<[FieldKind, string, unknown, Record<Verdict, unknown[]>]>([
	['text', 'is', 'Anna Maria', { yes: ['Anna Maria', ' Anna Maria '], maybe: [undefined], no: ['ANNA MARIA', 'Anna', '', '  ', null] }],
	['text', 'is', 'Smith, John', { yes: ['Smith, John'], maybe: [], no: ['Smith', 'John'] }],
	['text', 'is', '7', { yes: ['7', 7], maybe: [], no: ['7.0', '8'] }],
	['text', 'contains', ' Mül', { yes: ['Max Müller', ' muller'], maybe: [], no: ['Müller', 'Maier', null] }],
	['text', 'starts_with', 'An', { yes: ['Anna', 'anna'], maybe: [], no: [' anna', 'Joanna', null] }],
	['text', 'gte', '7', { yes: [], maybe: ['10', 'x'], no: [null] }],
	['list', 'is', ['a', 'b'], { yes: ['a', ['b', 'c'], [{ id: 'b' }]], maybe: [[{ name: 'a' }]], no: ['a,b', ['A'], [], null] }],
	['list', 'is', 'a,b', { yes: ['a', 'b', 'a,b'], maybe: [], no: ['A', 'c'] }],
	['boolean', 'empty', 'false', { yes: ['x', 0, [1]], maybe: ['  ', {}, { street: null }], no: [null, '', []] }],
	['boolean', 'empty', true, { yes: [null, '', []], maybe: ['  ', {}, { street: null }], no: ['x', { street: 'x' }] }],
	['boolean', 'is', 'true', { yes: [true], maybe: [1, 'no', 'true'], no: [false, null] }],
	['boolean', 'is', false, { yes: [false], maybe: [0, null, ''], no: [true] }],
	['number', 'is', 7, { yes: [7, '7.0', ' 7 ', '007'], maybe: [undefined, 'x'], no: [8, null] }],
	['number', 'gte', '7', { yes: [7, '7.5'], maybe: ['x'], no: [6, null] }],
	['number', 'gt', 7, { yes: [8], maybe: [], no: [7] }],
	['number', 'lte', 7, { yes: [7], maybe: [], no: [8] }],
	['date', 'is', '2026-03-31', { yes: ['2026-03-31'], maybe: ['2026-03-31T09:00:00Z'], no: ['2026-04-01'] }],
	['date', 'lt', '2026-03-31', { yes: ['2026-03-30'], maybe: ['2026-03-31 01:00'], no: ['2026-03-31'] }],
	['dateTime', 'is', '2026-01-02T01:00:00+01:00', { yes: ['2026-01-02T00:00:00Z'], maybe: ['2026-01-02'], no: ['2026-01-02T01:00:00Z'] }],
	['dateTime', 'gte', '2026-03-31T00:00:00Z', { yes: ['2026-03-31T00:00:00Z'], maybe: ['2026-03-31 09:30'], no: ['2026-03-30T23:59:59Z'] }],
	['dateTime', 'lt', '2026-03-31', { yes: [], maybe: ['2026-03-30T09:00:00Z'], no: [null] }],
	['any', 'is', 'Smith, John', { yes: ['Smith, John', 'John'], maybe: ['JOHN', 'Mary'], no: [null] }],
	['text', 'is', '', { yes: [], maybe: ['x', null], no: [] }],
	['text', 'is', [], { yes: [], maybe: ['x', null], no: [] }],
	['list', 'is', ['a', null], { yes: [], maybe: ['a', 'b', null], no: [] }],
	['any', 'is', false, { yes: [false], maybe: ['x', null], no: [true] }],
	['boolean', 'is', ['x', 'false'], { yes: ['x', false], maybe: ['y', null], no: [true] }],
	['boolean', 'gte', false, { yes: [], maybe: [false, null], no: [] }],
	['boolean', 'is', 'x', { yes: ['x'], maybe: [], no: ['y', null] }],
	['any', 'unknown', 'x', { yes: [], maybe: ['x', null, 7], no: [] }],
])('a %s meets %s %j only where the record shows it', (kind, comparison, expected, values) => {
	const found = { yes: [], maybe: [], no: [] } as Record<Verdict, unknown[]>;
	for (const value of Object.values(values).flat()) found[verdict(kind, comparison, expected, value)].push(value);
	expect(found).toEqual(values);
});

test('values that the CRM stores in lower case are compared in lower case', () => {
	expect(verdict('text', 'is', 'A@x.example', 'a@x.example', { lowerCase: [''] })).toBe('yes');
	expect(verdict('list', 'is', 'A@x.example', 'a@x.example', { lowerCase: ['*'] })).toBe('yes');
});

test('a part of a web address is compared as written', () => {
	const verdicts = ['is', 'starts_with', 'contains'].map((comparison) =>
		verdict('text', comparison, 'HTTPS://One.exam', `https://one.exam${comparison === 'is' ? '/' : 'ple/'}`, { isUrl: true }));
	expect(verdicts).toEqual(['yes', 'yes', 'yes']);
	const unicode = ['https://münchen.example', 'https://xn--mnchen-3ya.example/'];
	const among = unicode.flatMap((a) => unicode.map((b) => verdict('text', 'contains', a, b, { isUrl: true })));
	expect(among).toEqual(Array(4).fill('yes'));
	expect(verdict('text', 'starts_with', 'https://one.example/', 'https://two.exam', { isUrl: true })).toBe('no');
});

test('a member of an object that the record lists without it is empty; one of an object that it does not list may have any value', () => {
	const city = conditionOf('custom_fields[city]', 'Rio', undefined, []);
	const records = [{ custom_fields: { city: 'Rio' } }, { custom_fields: { city: 'Oslo' } }, { custom_fields: {} }, {}];
	expect(records.map((record) => verdictOf(record, [[city]]))).toEqual(['yes', 'maybe', 'no', 'maybe']);
	const others = [['empty', 'true'], ['name', 'Rio']]
		.map(([step, value]) => conditionOf(`custom_fields[city][${step}]`, value, undefined, []));
	expect(others.map((condition) => verdictOf({ custom_fields: {} }, [[condition]]))).toEqual(['yes', 'maybe']);
});

test('what the description says of a field of records goes before what it says of its filter', () => {
	const fields = [fieldNamed('e'), fieldNamed('f', { kind: 'number' })];
	const [ids, number] = [conditionOf('ids', '7', undefined, []), conditionOf('f', '7.0', fieldNamed('f'), fields)];
	expect(verdictOf({ id: '7', f: 7 }, [[ids, number]])).toBe('yes');
});

test('a filter by a linked record compares its type and its ID', () => {
	const links = [{ resource: 'contacts', id: 7 }, { resource: 'deals', id: '7' }, { resource: 7, id: '7' }, { resource: 'contacts' }];
	const verdicts = links.map((link) => verdict('any', 'is', 'contacts:7', link, { linksTo: ['/contacts'] }));
	expect(verdicts).toEqual(['yes', 'maybe', 'maybe', 'maybe']);
	expect([verdict('any', 'is', '7', links[0]), verdict('text', 'is', '7', links[3], { linksTo: [] })]).toEqual(['yes', 'maybe']);
});

test('a record meets a condition by any of the values in the list of its field', () => {
	const email = conditionOf('email', 'b@x.example', undefined, []);
	expect(verdictOf({ email: 'a@x.example', emails: [{ value: 'b@x.example' }] }, [[email]])).toBe('yes');
});

test('a record meets the conditions of a group together, and one group is enough', () => {
	const [a, b, unknown] = ['a', 'b', 'q'].map((name) => conditionOf(name, '1', fieldNamed(name), [])) as [Condition, Condition, Condition];
	const record = { a: '1', b: '2' };
	const groups = [[[a]], [[a, b]], [[a, unknown]], [[b, unknown]], [[b], [a]], [[b], [unknown]], [[]], []];
	const verdicts = groups.map((conditions) => verdictOf(record, conditions));
	expect(verdicts).toEqual(['yes', 'no', 'maybe', 'no', 'yes', 'maybe', 'yes', 'no']);
});
