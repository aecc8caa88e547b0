import type { DateTime } from 'luxon';

import { idText } from '../base/json';
import { checkExact } from '../base/numbers';
import { isBlank } from './blank';
import { clockChangeAt, parseMoment } from './dates';
import { trimmed } from './foldedText';

/**
 * The value for a blank parameter: an expression that returns undefined, null or empty text. Without it a blank
 * is refused. Omit it if the default would write, delete or return more.
 */
interface Blank<Value> {
	otherwise?: Value;
}

const booleans = new Map([['true', true], ['false', false], ['1', true], ['0', false]]);

export const booleanIn = (value: unknown): boolean | undefined => booleans.get(textOf(value)?.toLowerCase() ?? '');

/** @throws Error in the user's words if the value is neither true nor false */
export function parseBoolean(label: string, value: unknown, blank: Blank<boolean> = {}): boolean {
	return parse(label, value, blank, booleanIn, 'true or false');
}

/**
 * Parses the parameter Preview. Only `true` and `false` are accepted: a formula that returns 0 or nothing by mistake
 * would write.
 *
 * @throws Error in the user's words for anything else
 */
export function parsePreview(value: unknown): boolean {
	const exactly = (input: unknown) => (['0', '1'].includes(textOf(input) ?? '') ? undefined : booleanIn(input));
	return parse('Preview', value, {}, exactly, 'true or false');
}

/** @throws Error in the user's words if the value is not a whole number within the limits */
export function parseWholeNumber(
	label: string, value: unknown, { min = 0, max = Infinity, ...blank }: Blank<number> & { min?: number; max?: number } = {},
): number {
	const range = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
	const isValid = (number: number) => Number.isSafeInteger(number) && number >= min && number <= max;
	return parse(label, value, blank, (input) => numberIn(input, isValid), `a whole number ${range}`);
}

/** @throws Error in the user's words if the value is not a number above 0, up to the maximum */
export function parsePositiveNumber(
	label: string, value: unknown, { max, unit, ...blank }: Blank<number> & { max: number; unit: string },
): number {
	const isValid = (number: number) => number > 0 && number <= max;
	return parse(label, value, blank, (input) => numberIn(input, isValid), `a number of ${unit} up to ${max}`);
}

/** Parses a percentage: 10, `10` and `10 %`. @throws Error in the user's words for anything else */
export function parsePercent(label: string, value: unknown, { max = 100, ...blank }: Blank<number> & { max?: number } = {}): number {
	const isValid = (number: number) => number >= 0 && number <= max;
	const withoutSign = (input: unknown) => (typeof input === 'string' ? input.replace(/\s*%\s*$/, '') : input);
	return parse(label, value, blank, (input) => numberIn(withoutSign(input), isValid), `a percentage from 0 to ${max}`);
}

/** @throws Error in the user's words if the value is not one of the choices */
export function parseOption<Value extends string>(
	label: string, value: unknown, choices: readonly Value[], blank: Blank<Value> = {},
): Value {
	const chosen = (input: unknown) => {
		// A tab is white space, and a choice.
		if (choices.includes(input as Value)) return input as Value;
		const text = textOf(input)?.toLowerCase();
		const similar = choices.filter((choice) => choice.toLowerCase() === text);
		return similar.length === 1 ? similar[0] : undefined;
	};
	return chosen(value) ?? parse(label, value, blank, chosen, `one of ${choices.join(', ')}`);
}

/** @throws Error in the user's words if the value is not text */
export function parseText(label: string, value: unknown, blank: Blank<string> = {}): string {
	return parse(label, value, blank, textOf, 'a text');
}

/** Parses an id; empty for a value that is none. @throws Error in the user's words for a number that may be another record's, rounded */
export function parseId(label: string, value: unknown): string {
	checkExact(label, value);
	return trimmed(idText(value) ?? '');
}

/** @param limits `zone`: the IANA time zone of a text without one @throws Error in the user's words if the value is not a date */
export function parseDate(label: string, value: unknown, { zone, ...blank }: Blank<DateTime> & { zone: string }): DateTime {
	if (clockChangeAt(value, zone)) throw new Error(`${label}: the clocks of ${zone} skip this time, or show it twice. Add its offset, such as +02:00.`);
	return parse(label, value, blank, (input) => parseMoment(input, zone), 'a date such as 2026-03-31 or 2026-03-31T14:30');
}

function parse<Value>(
	label: string, value: unknown, { otherwise }: Blank<Value>, meaning: (value: unknown) => Value | undefined, accepted: string,
): Value {
	const found = isBlank(value) ? otherwise : meaning(value);
	if (found !== undefined) return found;
	throw new Error(`${label}: enter ${accepted} instead of ${describeValue(value)}.`);
}

const textOf = (value: unknown): string | undefined =>
	['string', 'boolean', 'number', 'bigint'].includes(typeof value) ? trimmed(String(value)) : undefined;

/** Digits as people write them: neither `0x10` nor `1e3` nor the empty text, which JavaScript reads as 0. */
function numberIn(value: unknown, isValid: (number: number) => boolean): number | undefined {
	const isDecimal = typeof value === 'number' || /^[+-]?\d+(\.\d+)?$/.test(textOf(value) ?? '');
	const number = isDecimal ? Number(value) : NaN;
	return Number.isFinite(number) && isValid(number) ? number : undefined;
}

function describeValue(value: unknown): string {
	if (value === undefined || value === null) return `nothing (the expression returned ${String(value)})`;
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return `“${text.slice(0, 100)}”`;
}
