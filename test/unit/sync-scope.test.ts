import { fieldNamed, type Field } from '../../nodes/CrmPlatform/fields/field';
import { scopeCheck, scopedFields } from '../../nodes/CrmPlatform/sync/scope';

const fields = [
	fieldNamed('name'), fieldNamed('tags', { kind: 'list' }), fieldNamed('amount', { kind: 'number' }),
	fieldNamed('email', { lowerCase: [''] }), fieldNamed('born', { kind: 'date' }), fieldNamed('vip', { kind: 'boolean' }),
	fieldNamed('stage', { choices: [{ label: 'Lead', value: 'lead' }] }), fieldNamed('home', { kind: 'json' }),
];
const names = new Set([...fields.map(({ name }) => name), 'emails', 'created_at']);

const isOutside = (filter: Field, filterValue: unknown, value: unknown) => {
	const record = { id: '1', [filter.name.replace(/\[.*/, '')]: value } as never;
	return scopeCheck([record], scopedFields([{ field: filter, converted: filterValue }], fields, names))(record) !== undefined;
};

const time = (comparison: string) => fieldNamed(`created_at[${comparison}]`, { kind: 'dateTime' });

test.each<[string, Field, unknown, unknown[], unknown[]]>([
	[
		'a text as a whole', fieldNamed('name'), 'Anna Maria', ['Anna Maria', ' Anna Maria '],
		['Anna', 'Maria', 'anna maria', null, undefined, ''],
	],
	['a text with a comma', fieldNamed('name'), 'Smith, John', ['Smith, John'], ['Smith', 'John']],
	['one of several texts', fieldNamed('name', { kind: 'list' }), ['a', 'b'], ['a', 'b'], ['a,b', 'c', null]],
	[
		'a text whose case does not matter according to the description', fieldNamed('name', { description: 'Name. Case does not matter.' }),
		'vip', ['VIP'], ['VIPS'],
	],
	['a text that is stored in lower case', fieldNamed('email'), 'A@x.example', ['a@x.example'], ['b@x.example']],
	['a list that has one of the values', fieldNamed('tags', { kind: 'list' }), ['A'], [['A'], ['B', 'A'], [{ id: 'A' }]], [['B'], [], null]],
	['a part of a text', fieldNamed('name[contains]'), 'Mül', ['Max Muller', 'müller'], ['Maier', null]],
	['the beginning of a text', fieldNamed('name[starts_with]'), 'an', ['Anna'], ['Joanna', null]],
	['any value', fieldNamed('name[empty]', { kind: 'boolean' }), false, ['x', 0], [null, '', undefined]],
	['no value', fieldNamed('name[empty]', { kind: 'boolean' }), true, [null, '', undefined], ['x']],
	['a number', fieldNamed('amount', { kind: 'number' }), 7, [7, '7.0'], [8, null]],
	['an inclusive bound', fieldNamed('amount[gte]', { kind: 'number' }), 7, [7, '7.5'], [6, null]],
	['an exclusive bound', fieldNamed('amount[gt]', { kind: 'number' }), 7, [8], [7]],
	['a time', time('lt'), '2026-03-31T00:00:00.000Z', ['2026-03-29T10:00:00.5Z'], ['2026-04-02T10:00:00.5Z', null]],
	['a time in seconds since 1970', time('lt'), '2026-03-31T00:00:00.000Z', [1774742400, '1774742400'], [1775174400, '1775174400']],
	['a time without a zone, whatever its zone', time('lt'), '2026-03-31T00:00:00.000Z', ['2026-03-31 09:30:00'], ['2026-04-02 09:30:00']],
	['true values', fieldNamed('vip', { kind: 'boolean' }), true, [true, 1, 'Y', 'true'], [false, 0, 'N', null, undefined]],
	['false and missing values', fieldNamed('vip', { kind: 'boolean' }), false, [false, 0, 'no', null, undefined], [true, 1, 'yes']],
	[
		'a choice in any case', fieldNamed('stage', { choices: [{ label: 'Lead', value: 'lead' }] }), 'lead', ['Lead', 'LEAD'],
		['customer', null],
	],
	['an object of blanks as empty', fieldNamed('home[empty]', { kind: 'boolean' }), true, [{}, { street: null }, null], [{ street: 'x' }]],
])('a scope accepts %s, and nothing else', (_, filter, filterValue, inside, outside) => {
	expect(inside.filter((value) => isOutside(filter, filterValue, value))).toEqual([]);
	expect(outside.filter((value) => !isOutside(filter, filterValue, value))).toEqual([]);
});

test('a record meets a filter by any of its addresses', () => {
	const record = { id: '1', email: 'a@x.example', emails: [{ value: 'b@x.example' }] } as never;
	expect(
		scopeCheck([record], scopedFields([{ field: fieldNamed('email'), converted: 'b@x.example' }], fields, names))(record),
	).toBeUndefined();
});

test('a filter by a field that the records do not have cannot be checked', () => {
	const record = { id: '1' } as never;
	expect(scopeCheck([record], scopedFields([{ field: fieldNamed('name'), converted: 'x' }], fields, new Set()))(record)).toBeUndefined();
});

test.each(['custom_fields.tier', 'custom_fields[tier]'])('a member of an open object is compared with %s', (name) => {
	const scoped = scopedFields([{ field: fieldNamed(name, { path: [name] }), converted: 'gold' }], fields, new Set(['custom_fields']));
	const reasons = ['gold', 'lead'].map((tier) => scopeCheck([], scoped)({ id: '1', custom_fields: { tier } }) !== undefined);
	expect(reasons).toEqual([false, true]);
});
