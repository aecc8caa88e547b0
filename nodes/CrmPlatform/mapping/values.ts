import { DateTime } from 'luxon';

import type { Field } from '../api/openapi/fields';
import { parseJson } from '../api/http/json';
import { calendarDate, instant, parseMoment } from './dates';

/**
 * What a user or an earlier node gave for a field, as the service takes it.
 *
 * Text that is empty is no value: null, which clears the field; so is white space where it is not a
 * text that is asked for. What is not understood is sent as it is where the service may know better
 * (choices it has gained since), and refused where it cannot mean anything.
 *
 * @param zone IANA time zone of the workflow: what a time without a zone is meant in
 * @throws Error in the user's words, the field's label first
 */
export function apiValue(field: Field, value: unknown, zone: string): unknown {
	if (isBlank(field, value)) return null;
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
			return list(value);
		case 'json':
			return structure(field, value);
		case 'choice':
			return choice(field, value);
		case 'text':
			return text(field, value);
	}
}

function isBlank({ kind }: Field, value: unknown): boolean {
	if (typeof value !== 'string') return value === null || value === undefined;
	return (kind === 'text' ? value : value.trim()) === '';
}

function text(field: Field, value: unknown): string {
	const moment = value instanceof Date ? DateTime.fromJSDate(value).toUTC() : value;
	if (!DateTime.isDateTime(moment)) {
		return typeof value === 'object' ? JSON.stringify(value) : String(value);
	}
	const iso = moment.toISO();
	if (iso !== null) return iso;
	throw refusal(field, String(value), 'a date');
}

function number(field: Field, value: unknown): number {
	const parsed = typeof value === 'string' ? Number(value.trim()) : value;
	if (typeof parsed === 'number' && Number.isFinite(parsed)) return parsed;
	throw refusal(field, value, 'a number such as 12.5');
}

const booleans = new Map([
	['true', true],
	['false', false],
	['1', true],
	['0', false],
]);

function boolean(field: Field, value: unknown): boolean {
	const parsed = booleans.get(String(value).trim().toLowerCase());
	if (parsed !== undefined) return parsed;
	throw refusal(field, value, 'true or false');
}

function choice(field: Field, value: unknown): unknown {
	// n8n's dropdown gives text; the service may mean a number.
	return field.choices?.find((known) => String(known.value) === String(value))?.value ?? value;
}

function list(value: unknown): unknown[] {
	if (Array.isArray(value)) return value;
	if (typeof value !== 'string') return [value];
	const parsed = parseJson(value);
	if (Array.isArray(parsed)) return parsed;
	return value
		.split(',')
		.map((part) => part.trim())
		.filter((part) => part !== '');
}

function structure(field: Field, value: unknown): unknown {
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	if (typeof parsed === 'object' && parsed !== null) return parsed;
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
