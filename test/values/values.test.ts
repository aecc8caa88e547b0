import { DateTime } from 'luxon';

import { fieldNamed, type Field, type FieldKind } from '../../nodes/CrmPlatform/fields/field';
import { apiValue } from '../../nodes/CrmPlatform/fields/convertValue';
import { fieldKinds } from '../../nodes/CrmPlatform/fields/fieldKinds';
import { instant, nextDay, parseMoment, startOfDay, timeSpan } from '../../nodes/CrmPlatform/values/dates';
import { foldedText } from '../../nodes/CrmPlatform/values/foldedText';

const zone = 'America/New_York';

const convert = (kind: FieldKind, value: unknown, more: Partial<Field> = {}) =>
	apiValue(fieldNamed('x', { label: 'Label', kind, ...more }), value, zone);

const kinds = Object.keys(fieldKinds) as FieldKind[];

test.each(kinds)('an empty value of kind %s clears the field, and white space is not a value such as 0', (kind) => {
	for (const empty of [null, undefined, '', ' \n']) expect(convert(kind, empty)).toBeNull();
});

test.each(['text', 'choice', 'any'] as const)('NaN and infinity, as from failed calculations, are not values of kind %s', (kind) => {
	for (const none of [NaN, Infinity, -Infinity]) {
		expect(() => convert(kind, none)).toThrow(`Label: “${none}” is the result of a failed calculation`);
	}
	expect(() => convert('list', ['a', NaN], { items: 'text' })).toThrow('“NaN” is the result');
});

test.each(['json', 'any'] as const)('nor are they, or an invalid date, within a value of kind %s', (kind) => {
	for (const none of [NaN, Infinity, new Date(NaN), DateTime.invalid('x')]) {
		for (const value of [{ score: none }, [{ a: [none] }]]) {
			expect(() => convert(kind, value)).toThrow(/^Label: “.*” (is the result of a failed|is not a date)/);
		}
	}
	const fine = { at: new Date(0), by: DateTime.fromMillis(0), score: 1 };
	expect(convert(kind, fine)).toEqual(fine);
});

test('blanks of a list within a list keep their places', () => {
	expect(convert('json', [['a', ''], [null, 'b'], ''])).toEqual([['a', ''], [null, 'b']]);
});

test('undefined within JSON clears nothing, unlike null', () => {
	const value = { a: undefined, b: null, c: 1, d: { e: undefined }, f: [undefined, { g: [undefined] }], h: [], i: ['', undefined] };
	expect(convert('json', value)).toEqual({ b: null, c: 1, h: null, i: null });
});

test.each<[FieldKind, unknown]>([
	['text', 'x\ud83d'], ['json', [{ label: 'x\ud83d' }]], ['json', '{"label":"x\\ud83d"}'], ['list', ['x\ud83d']],
])('half of a character is not sent, wherever it is: %s %j', (kind, value) => {
	expect(() => convert(kind, value)).toThrow('“x\ud83d” contains half of a character');
});

test.each<[FieldKind, unknown, unknown]>([
	['text', ' Ada ', ' Ada '],
	['text', 7, '7'],
	['text', true, 'true'],
	['dateTime', '2026-03-01T09:00:00', '2026-03-01T14:00:00.000Z'],
	['dateTime', '2026-03-01T09:00:00+01:00', '2026-03-01T08:00:00.000Z'],
	['number', ' 12.5 ', 12.5],
	['boolean', 'true', true],
	['boolean', true, true],
	['boolean', 'FALSE', false],
	['boolean', 0, false],
	['list', '["a","b"]', ['a', 'b']],
	['list', 'a,, b,', ['a', 'b']],
	['list', 7, [7]],
	['list', ['a'], ['a']],
	['json', '{"a":1}', { a: 1 }],
	['json', '[{"a":1}]', [{ a: 1 }]],
])('a value of kind %s is written as the CRM takes it: %j as %j', (kind, value, written) => {
	expect(convert(kind, value)).toEqual(written);
});

test.each<[FieldKind, unknown, string]>([
	['text', { a: 1 }, 'Label: “{"a":1}” is not text'],
	...['12 apples', '1e999', '0x10', '0b11', '0o7', true, {}].map((value): [FieldKind, unknown, string] =>
		['number', value, 'is not a number']),
	['boolean', 'maybe', 'is not true or false'],
	['boolean', 'constructor', 'is not true or false'],
	['json', 'a=1', 'is not JSON'],
	['dateTime', '2026-03-08T10:00:00+99:00', 'is not a date'],
	['dateTime', '2026-03-08T10:00:00-15:00', 'is not a date'],
])('what is no value of kind %s is refused: %j', (kind, value, problem) => {
	expect(() => convert(kind, value)).toThrow(problem);
});

describe('a date', () => {
	test.each([
		['2026-03-01', '2026-03-01'],
		['2026-03-01T00:00:00', '2026-03-01'],
		['2026-03-01 00:00:00', '2026-03-01'],
		['2026-03-01T00:00:00.000Z', '2026-03-01'],
		['2026-03-01T00:00:00.000+02:00', '2026-03-01'],
		['2026-03-01T18:30:00', '2026-03-01'],
	])('written as %s stays %s, whatever the time zone', (value, expected) => {
		expect(convert('date', value)).toBe(expected);
	});

	test('of an instant is its date in the zone of the workflow', () => {
		expect(convert('date', '2026-03-02T03:30:00Z')).toBe('2026-03-01');
	});

	test('is read from results of expressions', () => {
		expect(convert('date', DateTime.fromISO('2026-03-01', { zone }))).toBe('2026-03-01');
		expect(convert('date', new Date('2026-03-01T12:00:00Z'))).toBe('2026-03-01');
	});

	test.each(['2026-03-01T00:00:00.000Z', Date.parse('2026-03-01'), new Date('2026-03-01')])(
		'at midnight UTC, %p, is the same date in New York, whatever its type',
		(value) => expect(convert('date', value)).toBe('2026-03-01'),
	);

	test('is read from milliseconds since 1970', () => {
		expect(convert('date', Date.parse('2026-03-02T03:30:00Z'))).toBe('2026-03-01');
		expect(convert('dateTime', Date.parse('2026-03-02T03:30:00Z'))).toBe('2026-03-02T03:30:00.000Z');
	});

	// 12 other digits are milliseconds from before September 2001.
	test('of twelve or fourteen digits is milliseconds only if these are no compact time, such as 202603311200', () => {
		for (const digits of [202_603_311_200, '202603311200', 20_260_331_120_000, '20260331120000']) {
			for (const kind of ['date', 'dateTime'] as const) expect(() => convert(kind, digits)).toThrow(`“${digits}” is not a date such as`);
		}
		expect(convert('date', Date.parse('1985-05-17'))).toBe('1985-05-17');
		expect(convert('date', '202660800000')).toBe('1976-06-03');
	});

	test.each([1_711_111, 202_603, 20_260_331, 45_000, 1_774_915_200, 1.7e15, -1, NaN, Infinity])(
		'is not the number %p, which may mean anything',
		(value) => {
			expect(() => convert('date', value)).toThrow(`Label: “${value}” is not a date such as`);
			expect(() => convert('dateTime', value)).toThrow(/is not a date such as/);
		},
	);

	test.each(['next week', '14:30', '1711111', '2026', '2026-03', '2026-03-011', '2026-W10', '2026-02-30'])(
		'that is invalid, such as %s, is refused with the label of the field',
		(value) => expect(() => convert('date', value)).toThrow(`Label: “${value}” is not a date`),
	);
});

describe('a choice', () => {
	const choices = [{ label: 'One', value: 1 }];

	test('has the type the CRM gave it', () => {
		expect(convert('choice', '1', { choices })).toBe(1);
	});

	test('is found by its label, regardless of case', () => {
		const stages = [
			{ label: 'Customer', value: 'c1' },
			{ label: 'Sales Qualified', value: 'sql' },
			{ label: 'Twin', value: 't1' },
			{ label: 'Twin', value: 't2' },
		];
		expect(convert('choice', 'customer', { choices: stages })).toBe('c1');
		expect(convert('choice', 'SALES_QUALIFIED', { choices: stages })).toBe('sql');
		expect(convert('list', 'Customer, sql', { choices: stages })).toEqual(['c1', 'sql']);
		expect(convert('choice', 'Twin', { choices: stages })).toBe('Twin');
	});

	test('that is unknown here is accepted: the CRM may have added it', () => {
		expect(convert('choice', 'new', { choices })).toBe('new');
	});
});

test('a value of unknown type keeps the type it was given with', () => {
	for (const value of [7, '7', true, { a: 1 }, [1]]) expect(convert('any', value)).toEqual(value);
	expect(convert('any', '')).toBeNull();
});

describe('a phone number', () => {
	const pattern = '^\\+[1-9]\\d{6,14}$';

	test.each([
		['+49 (0)30 123-456.78', '+493012345678'],
		['tel:+1 (555) 010-9999', '+15550109999'],
		['+34\u00a0915 55 01 42', '+34915550142'],
	])('%s is written without separators', (value, expected) => {
		expect(convert('text', value, { pattern })).toBe(expected);
		expect(convert('list', [value], { pattern })).toEqual([expected]);
	});

	test.each(['030 123456', '0049 30 123456', '+49 30 123 ext. 4', '+1'])(
		'%s stays as it is, as its country is not certain',
		(value) => expect(convert('text', value, { pattern })).toBe(value),
	);

	test('is text if the CRM accepts any spelling', () => {
		expect(convert('text', '+49 30 123456')).toBe('+49 30 123456');
	});
});

test('a moment in a text field is its ISO text, without quotation marks', () => {
	expect(convert('text', new Date('2026-03-31T10:00:00Z'))).toBe('2026-03-31T10:00:00.000Z');
	const local = DateTime.fromISO('2026-03-31T10:00:00', { zone });
	expect(convert('text', local)).toBe('2026-03-31T10:00:00.000-04:00');
	expect(() => convert('text', new Date(NaN))).toThrow("Label: “Invalid Date” is not a date");
});

test.each([
	['America/Santiago', '2026-09-06', '2026-09-07T03:00:00.000Z'],
	['Africa/Cairo', '2026-04-24', '2026-04-24T21:00:00.000Z'],
	['America/Havana', '2026-03-08', '2026-03-09T04:00:00.000Z'],
	['UTC', '9999-12-31', '9999-12-31T23:59:59.999Z'],
])('the day after one whose midnight the clocks skip, or the last one, can be written: %s %s', (zone, day, next) => {
	expect(instant(nextDay(parseMoment(day, zone)!))).toBe(next);
});

test.each([
	['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
	['Atlantic/Azores', '2026-10-25', '2026-10-25T00:00:00.000Z'],
	['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z'],
])('a day begins with the first of its midnights: %s %s', (zone, day, start) => {
	expect(instant(startOfDay(parseMoment(day, zone)!))).toBe(start);
});

test.each([
	['2026-10-25 02:30', 'show it twice. Add its offset'], ['2026-03-29T02:30:00', 'go forward over it'], ['2026-03-29T0200', 'go forward'],
])('a time that clocks show twice or never is refused, since it would be guessed: %s', (text, problem) => {
	const inBerlin = (value: unknown) => apiValue(fieldNamed('at', { kind: 'dateTime' }), value, 'Europe/Berlin');
	expect(() => inBerlin(text)).toThrow(new RegExp(problem));
	for (const fine of [`${text}+02:00`, '2026-10-25', '2026-10-25T03:00', '2026-03-29T03:00']) expect(inBerlin(fine)).toMatch(/Z$/);
	expect(apiValue(fieldNamed('on', { kind: 'date' }), text, 'Europe/Berlin')).toBe(text.slice(0, 10));
});

test('a time that clocks show twice may be either where the later of two counts', () => {
	const { from, to } = timeSpan('2026-10-25T02:30:10', 'Europe/Berlin')!;
	expect([from, to].map((time) => new Date(time).toISOString())).toEqual(['2026-10-25T00:30:10.000Z', '2026-10-25T01:30:10.999Z']);
});

test('a time that is after 9999 in UTC is refused, since RFC 3339 cannot write it', () => {
	expect(convert('dateTime', '9999-12-31T12:00:00')).toBe('9999-12-31T17:00:00.000Z');
	expect(() => convert('dateTime', '9999-12-31T23:00:00')).toThrow('is not a date');
});

test('names that look alike are one', () => {
	for (const name of ['Acme\u00a0GmbH', 'Acme  GmbH ', 'ACME\u200b GmbH', 'Ac\u00adme GmbH', 'Ac\u034fme GmbH\ufe0f', '\ufeffacme gmbh']) {
		expect(foldedText(name)).toBe('acme gmbh');
	}
	expect(foldedText('Acme-GmbH')).not.toBe('acme gmbh');
});
