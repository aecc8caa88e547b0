import fc from 'fast-check';
import { DateTime } from 'luxon';
import {
	parseBoolean,
	parseDate,
	parseOption,
	parsePercent,
	parsePositiveNumber,
	parsePreview,
	parseWholeNumber,
} from '../../nodes/CrmPlatform/values/parsers';
import { randomRuns } from '../support/random-runs.ts';

const blanks = [undefined, null, '', '  ', '\u00a0\n', [], [''], [null, [' ']]];

describe('A parameter', () => {
	it.each([
		[true, true],
		[false, false],
		['true', true],
		[' False ', false],
		['TRUE\n', true],
		[1, true],
		['0', false],
	])('that means a boolean is read as one: %j', (input, expected) => {
		expect(parseBoolean('Include Deleted', input)).toBe(expected);
	});

	it.each(['yes', 'tru', 2, {}, [true], 'true false', NaN, '1.0'])(
		'that does not mean a boolean is refused with its label and the accepted values: %j',
		(input) => {
			expect(() => parseBoolean('Include Deleted', input, { otherwise: false })).toThrow(
				/^Include Deleted: enter true or false instead of “.*”\.$/,
			);
		},
	);

	it.each([true, 'true', ' True '])('Preview is on for %j', (input) => expect(parsePreview(input)).toBe(true));

	it.each([false, 'false', 'FALSE\n'])('Preview is off for %j', (input) => expect(parsePreview(input)).toBe(false));

	it.each([0, '0', 1, '1', -0, '', undefined, null, 'no', []])(
		'Preview is refused for %j, as turning it off lets the node write',
		(input) => {
			expect(() => parsePreview(input)).toThrow(/^Preview: enter true or false instead of /);
		},
	);

	it.each([
		['10', 10],
		[' 10 ', 10],
		[10, 10],
		['10.0', 10],
		['+7', 7],
	])('that means a whole number is read as one: %j', (input, expected) => {
		expect(parseWholeNumber('Limit', input, { min: 1 })).toBe(expected);
	});

	it.each(['2.5', 2.5, '10 %', '1e3', '0x10', '1,000', -1, 0, NaN, Infinity, true, [5], {}, 2 ** 53, '9007199254740993'])(
		'that is not a whole number within its limits is refused: %j',
		(input) => {
			expect(() => parseWholeNumber('Limit', input, { min: 1, otherwise: 50 })).toThrow(
				/^Limit: enter a whole number of at least 1 instead of /,
			);
		},
	);

	it.each([
		['0.5', 0.5],
		[' 24 ', 24],
		[8760, 8760],
	])('that means a number above 0 is read as one: %j', (input, expected) => {
		expect(parsePositiveNumber('Limit Wait Time (Hours)', input, { max: 8760, unit: 'hours' })).toBe(expected);
	});

	it.each([0, -1, 8761, '', null, undefined, 'a day', '1e3', '0x10', true, [5], NaN, Infinity])(
		'that is not a number above 0, up to the maximum, is refused: %j',
		(input) => {
			expect(() => parsePositiveNumber('Limit Wait Time (Hours)', input, { max: 8760, unit: 'hours' })).toThrow(
				/^Limit Wait Time \(Hours\): enter a number of hours up to 8760 instead of /,
			);
		},
	);

	it('is refused with both limits', () => {
		expect(() => parseWholeNumber('Parallel Reads', 11, { min: 1, max: 10 })).toThrow(
			'Parallel Reads: enter a whole number from 1 to 10 instead of “11”.',
		);
	});

	it.each([
		[10, 10],
		['10', 10],
		['10 %', 10],
		[' 12.5% ', 12.5],
		[0, 0],
		['100 %', 100],
	])('that means a percentage is read as one: %j', (input, expected) => {
		expect(parsePercent('Maximum Deletions', input)).toBe(expected);
	});

	it.each(['%', '10 percent', 101, -1, '10 % %', NaN, true, [10]])('that is not a percentage is refused: %j', (input) => {
		expect(() => parsePercent('Maximum Deletions', input, { otherwise: 10 })).toThrow(
			/^Maximum Deletions: enter a percentage from 0 to 100 instead of /,
		);
	});

	it.each([['leave', 'leave'], [' Delete ', 'delete']])('that means a choice is read as it: %j', (input, expected) => {
		expect(parseOption('When Missing', input, ['leave', 'delete'])).toBe(expected);
	});

	it.each(['del', 'leave, delete', 1, ['leave'], {}, 'constructor', '__proto__'])(
		'that is not one of the choices is refused: %j',
		(input) => {
			expect(() => parseOption('When Missing', input, ['leave', 'delete'], { otherwise: 'leave' })).toThrow(
				/^When Missing: enter one of leave, delete instead of /,
			);
		},
	);

	it('may have a choice that is white space', () => {
		expect(parseOption('Delimiter', '\t', [',', '\t'])).toBe('\t');
	});

	it.each([
		['2026-03-31', '2026-03-30T22:00:00.000Z'],
		[' 2026-03-31 14:30 ', '2026-03-31T12:30:00.000Z'],
		['2026-03-31T14:30:00Z', '2026-03-31T14:30:00.000Z'],
		[1774915200000, '2026-03-31T00:00:00.000Z'],
		['1774915200000', '2026-03-31T00:00:00.000Z'],
		[new Date('2026-03-31T14:30:00Z'), '2026-03-31T14:30:00.000Z'],
		[DateTime.fromISO('2026-03-31T14:30:00Z'), '2026-03-31T14:30:00.000Z'],
	])('that means a date is read as one: %j', (input, expected) => {
		expect(parseDate('Since', input, { zone: 'Europe/Berlin' }).toUTC().toISO()).toBe(expected);
	});

	it.each(['yesterday', '14:30', '2026-02-30', 20260331, true, {}, new Date(NaN)])('that is not a date is refused: %j', (input) => {
		expect(() => parseDate('Since', input, { zone: 'utc' })).toThrow(/^Since: enter a date such as 2026-03-31/);
	});

	it('that clocks show twice is refused as a date', () => {
		expect(() => parseDate('Since', '2026-10-25 02:30', { zone: 'Europe/Berlin' })).toThrow(/^Since: the clocks of Europe.Berlin skip/);
	});

	it.each(blanks)('that is blank is its default if it has one, and is refused if it has none: %j', (blank) => {
		expect(parseBoolean('Include Deleted', blank, { otherwise: true })).toBe(true);
		expect(parseWholeNumber('Limit', blank, { otherwise: 50 })).toBe(50);
		expect(parsePercent('Share', blank, { otherwise: 10 })).toBe(10);
		expect(parseOption('Format', blank, ['csv', 'json'], { otherwise: 'csv' })).toBe('csv');
		for (const read of [parseBoolean, parseWholeNumber, parsePercent]) {
			expect(() => read('Preview', blank)).toThrow(/^Preview: enter /);
		}
		expect(() => parseOption('Format', blank, ['csv'])).toThrow(/^Format: enter /);
		expect(() => parseDate('Since', blank, { zone: 'utc' })).toThrow(/^Since: enter /);
	});

	it('is read or refused with an explanation, whatever its value', () => {
		fc.assert(
			fc.property(fc.anything(), (value) => {
				for (const read of [parseBoolean, parseWholeNumber, parsePercent]) {
					try {
						expect(['boolean', 'number']).toContain(typeof read('Preview', value));
					} catch (error) {
						expect((error as Error).message).toMatch(/^Preview: enter /);
					}
				}
			}),
			randomRuns(100),
		);
	});
});
