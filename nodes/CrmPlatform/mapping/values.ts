import { DateTime } from 'luxon';

import type { Field } from '../api/openapi/schemaFields';
import { parseJson } from '../api/http/json';
import { checkDepth, checkExact, exactNumber, isDecimal } from '../api/http/numbers';
import { booleanIn } from '../parameters/readers';
import { isBlank, listIn, withoutBlanks } from './blank';
import { calendarDate, instant, parseMoment } from './dates';

/**
 * Converts a value that a user or an earlier node gave into the value the service takes.
 *
 * Empty text is not a value but null, which clears the field; so is white space, except in text. A choice
 * that is unknown is sent as it is, since the service may have gained it; a value that cannot fit the
 * field is refused.
 *
 * @param zone IANA time zone of the workflow, for times without one
 * @throws Error in the user's words, the field's label first
 */
export function apiValue(field: Field, value: unknown, zone: string): unknown {
	if (typeof value !== 'string') checkExact(field.label, value);
	const converted = convertedValue(field, value, zone);
	// A text may be JSON.
	if (typeof value === 'string' && typeof converted === 'object') checkDepth(field.label, converted);
	return converted;
}

function convertedValue(field: Field, value: unknown, zone: string): unknown {
	if (typeof value === 'string' && !isWellFormed(value)) throw new Error(`${field.label}: ${notWellFormed(value)}`);
	if (isCleared(field, value)) return null;
	switch (field.kind) {
		case 'number':
			return number(field, value);
		case 'boolean':
			return boolean(field, value);
		case 'date':
			return written(field, value, zone, calendarDate);
		case 'dateTime':
			return written(field, value, zone, instant);
		case 'list':
			return listOf(value)
				.filter((one) => !isBlank(one))
				.map((one) => apiValue({ ...field, kind: field.items ?? 'choice' }, one, zone));
		case 'json':
			return structure(field, value);
		case 'choice':
			checkNumber(field, value);
			return choice(field, phoneNumber(field, value));
		case 'text':
			return phoneNumber(field, text(field, value));
		case 'any':
			checkNumber(field, value);
			return isMoment(value) ? text(field, value) : value;
	}
}

/** JSON has no such numbers, and as a text they are a mistake. */
function checkNumber(field: Field, value: unknown): void {
	if (typeof value === 'number' && !Number.isFinite(value)) throw refusal(field, value, 'a value. Correct the calculation that it comes from');
}

/** White space in a text is text; a list is cleared by an empty list. */
function isCleared({ kind }: Field, value: unknown): boolean {
	return isBlank(value) && !Array.isArray(value) && (kind !== 'text' || typeof value !== 'string' || value === '');
}

const isMoment = (value: unknown): value is Date | DateTime =>
	value instanceof Date || DateTime.isDateTime(value);

function text(field: Field, value: unknown): string {
	checkNumber(field, value);
	if (!isMoment(value)) {
		if (typeof value === 'object') throw refusal(field, value, 'text');
		return String(value);
	}
	const iso = (value instanceof Date ? DateTime.fromJSDate(value).toUTC() : value).toISO();
	if (iso !== null) return iso;
	throw refusal(field, String(value), 'a date');
}

const phoneLike = /^(tel:)?\s*\+[\d\s().\-/\u00a0\u2010-\u2013]{7,40}$/i;

/**
 * A phone number with country code as E.164 writes it, where the service takes only that: without
 * separators, and without the zero in parentheses that is dialled inside the country only (E.123,
 * section 7.2). Any other value stays as it is: its country is not known.
 */
function phoneNumber(field: Field, value: unknown): unknown {
	if (typeof value !== 'string' || !phoneLike.test(value)) return value;
	const digits = value.replace(/\(0\)/, '').replace(/\D/g, '');
	const number = `+${digits}`;
	const isWritten = matchesPattern(field, number) === true && matchesPattern(field, value) === false;
	return isWritten && /^[1-9]\d{6,14}$/.test(digits) ? number : value;
}

/** Whether a text matches the pattern of a field; undefined if the field has no readable pattern. */
export function matchesPattern({ pattern }: Field, value: string): boolean | undefined {
	try {
		return pattern === undefined ? undefined : new RegExp(pattern, 'u').test(value);
	} catch {
		return undefined;
	}
}

function number(field: Field, value: unknown): number {
	const parsed = typeof value === 'string' ? exactNumber(value) : value;
	if (typeof parsed === 'number' && Number.isFinite(parsed)) return parsed;
	if (typeof value === 'string' && isDecimal(value)) throw refusal(field, value, tooLong);
	throw refusal(field, value, 'a number such as 12.5');
}

const tooLong = 'a number that can be sent without changing its digits. Shorten it, or leave it out';

/** The value of a filter: a number of any length goes into the address of a request as it was given. */
export function filterValue(field: Field, value: unknown, zone: string): unknown {
	const isLong = typeof value === 'string' && isDecimal(value) && exactNumber(value) === undefined;
	return isLong && field.kind === 'number' ? value.trim() : apiValue(field, value, zone);
}

/** Half of a character (a lone surrogate) has no form in UTF-8, and so none in a URL. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

export const notWellFormed = (text: string): string =>
	`'${text.slice(0, 100)}' contains half of a character, which cannot be sent. Correct the text where it was cut.`;

function boolean(field: Field, value: unknown): boolean {
	const parsed = booleanIn(value);
	if (parsed !== undefined) return parsed;
	throw refusal(field, value, 'true or false');
}

/** Finds a choice by its value or, failing that, by its label, if only one has it. */
function choice({ choices = [] }: Field, value: unknown): unknown {
	if (choices.length === 0) return value;
	// n8n's dropdown gives text; the service may take a number.
	const exact = choices.find((known) => String(known.value) === String(value));
	if (exact) return exact.value;
	const words = (text: unknown) => String(text).normalize('NFC').trim().toLowerCase().replace(/[\s_-]+/g, ' ');
	const similar = choices.filter((known) =>
		[known.value, known.label].some((text) => words(text) === words(value)),
	);
	return similar.length === 1 ? similar[0]?.value : value;
}

function listOf(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	return typeof value === 'string' ? listIn(value) : [value];
}

function structure(field: Field, value: unknown): unknown {
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	if (typeof parsed === 'object' && parsed !== null) return withoutBlanks(parsed, true);
	throw refusal(field, value, 'JSON such as { "key": "value" }');
}

function written(
	field: Field,
	value: unknown,
	zone: string,
	write: (moment: DateTime, zone: string) => string | null,
): string {
	const moment = parseMoment(value, zone);
	const result = moment ? write(moment, zone) : null;
	if (result !== null) return result;
	throw refusal(
		field,
		value,
		'a date such as 2026-03-31, a time such as 2026-03-31T14:30, or milliseconds since 1970',
	);
}

function refusal(field: Field, value: unknown, expected: string): Error {
	const given = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return new Error(`${field.label}: '${given}' is not ${expected}`);
}
