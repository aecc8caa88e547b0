import { conditionOf, verdictOf, type Verdict } from '../../nodes/CrmPlatform/fields/condition';
import { fieldNamed, type FieldKind } from '../../nodes/CrmPlatform/fields/field';

/** The verdict about a record whose field `f` has a value; with undefined, about one that lists no such field. */
const verdict = (kind: FieldKind, comparison: string, expected: unknown, value: unknown, more = {}): Verdict => {
	const parameter = comparison === 'is' ? 'f' : `f[${comparison}]`;
	const condition = conditionOf(parameter, expected, fieldNamed(parameter, { kind, ...more }));
	return verdictOf({ id: '1', f: value as never }, [[condition]]);
};

test.each<[FieldKind, string, unknown, Record<Verdict, unknown[]>]>([
	['text', 'is', 'Anna Maria', { yes: ['Anna Maria', ' Anna Maria '], maybe: [undefined], no: ['ANNA MARIA', 'Anna', '', '  ', null] }],
	['text', 'is', 'Smith, John', { yes: ['Smith, John'], maybe: [], no: ['Smith', 'John'] }],
	['text', 'is', '7', { yes: ['7', 7], maybe: [], no: ['7.0', '8'] }],
	['text', 'contains', 'Mül', { yes: ['Max Müller', 'muller'], maybe: [], no: ['Maier', null] }],
	['text', 'starts_with', 'An', { yes: ['Anna', ' anna'], maybe: [], no: ['Joanna', null] }],
	['text', 'gte', '7', { yes: [], maybe: ['10', 'x'], no: [null] }],
	['list', 'is', ['a', 'b'], { yes: ['a', ['b', 'c'], [{ id: 'b' }]], maybe: [[{ name: 'a' }]], no: ['a,b', ['A'], [], null] }],
	['list', 'is', 'a,b', { yes: ['a', 'b', 'a,b'], maybe: [], no: ['A', 'c'] }],
	['boolean', 'empty', 'false', { yes: ['x', 0, [1]], maybe: ['  ', {}, { street: null }], no: [null, '', []] }],
	['boolean', 'empty', true, { yes: [null, '', []], maybe: ['  ', {}, { street: null }], no: ['x', { street: 'x' }] }],
	['boolean', 'is', 'true', { yes: [true], maybe: [1, 'Y', 'true'], no: [false, 0, 'no', null] }],
	['boolean', 'is', false, { yes: [false], maybe: [0, 'no', null, ''], no: [true, 1, 'yes'] }],
	['number', 'is', 7, { yes: [7, '7.0', ' 7 ', '007'], maybe: [undefined], no: [8, 'x', null] }],
	['number', 'gte', '7', { yes: [7, '7.5'], maybe: ['x'], no: [6, null] }],
	['number', 'gt', 7, { yes: [8], maybe: [], no: [7] }],
	['number', 'lte', 7, { yes: [7], maybe: [], no: [8] }],
	[
		'date', 'is', '2026-03-31',
		{ yes: ['2026-03-31'], maybe: ['2026-03-31T09:00:00Z'], no: ['2026-04-01', '2026-04-03T09:00:00Z'] },
	],
	['date', 'lt', '2026-03-31', { yes: ['2026-03-30'], maybe: ['2026-03-31 01:00'], no: ['2026-03-31'] }],
	[
		'dateTime', 'is', '2026-01-02T01:00:00+01:00',
		{ yes: ['2026-01-02T00:00:00.000Z'], maybe: ['2026-01-02', '2026-01-02 03:00', 1767312000], no: ['2026-01-02T01:00:00Z'] },
	],
	[
		'dateTime', 'gte', '2026-03-31T00:00:00Z',
		{ yes: ['2026-03-31T00:00:00Z', '2026-04-01'], maybe: ['2026-03-31', '2026-03-31 09:30:00'], no: ['2026-03-30T23:59:59Z', '2026-03-29'] },
	],
	[
		'dateTime', 'lt', '2026-03-31',
		{ yes: ['2026-03-30T09:00:00Z'], maybe: ['2026-03-31T01:00:00Z', '2026-03-31T00:00:00'], no: ['2026-04-02T10:00:00Z'] },
	],
	[
		'any', 'gt', '2026-01-02T20:00:00Z',
		{ yes: ['2026-01-03T21:00:00Z', '2026-01-04'], maybe: ['2026-01-02T12:00:00', 'x'], no: ['2026-01-01T12:00:00'] },
	],
	['any', 'is', 'Smith, John', { yes: ['Smith, John', 'John'], maybe: ['JOHN'], no: ['Mary'] }],
	['any', 'is', 'sao paulo', { yes: ['sao paulo'], maybe: ['São Paulo'], no: ['Rio'] }],
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

test('a member of an object that the record lists without it is empty; one of an object that it does not list may have any value', () => {
	const city = conditionOf('custom_fields[city]', 'Rio', undefined);
	const verdicts = [{ custom_fields: { city: 'Rio' } }, { custom_fields: {} }, {}].map((record) => verdictOf(record, [[city]]));
	expect(verdicts).toEqual(['yes', 'no', 'maybe']);
});

test('a record meets a condition by any of the values in the list of its field', () => {
	const email = conditionOf('email', 'b@x.example', undefined);
	expect(verdictOf({ email: 'a@x.example', emails: [{ value: 'b@x.example' }] }, [[email]])).toBe('yes');
});

test('a record meets the conditions of a group together, and one group is enough', () => {
	const [a, b, unknown] = [conditionOf('a', '1', undefined), conditionOf('b', '1', undefined), conditionOf('q', '1', undefined)] as const;
	const record = { a: '1', b: '2' };
	const groups = [[[a]], [[a, b]], [[a, unknown]], [[b, unknown]], [[b], [a]], [[b], [unknown]], [[]], []];
	const verdicts = groups.map((conditions) => verdictOf(record, conditions));
	expect(verdicts).toEqual(['yes', 'no', 'maybe', 'no', 'yes', 'maybe', 'yes', 'no']);
});
