import { DateTime } from 'luxon';

import type { Field } from '../api/fields';
import { parseJson } from '../api/json';

/**
 * What a user or an earlier node gave for a field, as the service takes it.
 *
 * Text that is empty is no value: null, which clears the field. What is not understood is sent as
 * it is where the service may know better (choices it has gained since), and refused where it
 * cannot mean anything.
 *
 * @param zone IANA time zone of the workflow: what a time without a zone is meant in
 * @throws Error in the user's words, the field's label first
 */
export function apiValue(field: Field, value: unknown, zone: string): unknown {
	if (value === null || value === undefined || value === '') return null;
	switch (field.kind) {
		case 'number':
			return number(field, value);
		case 'boolean':
			return boolean(field, value);
		case 'date':
			return moment(field, value, zone, calendarDate);
		case 'dateTime':
			return moment(field, value, zone, instant);
		case 'list':
			return list(value);
		case 'json':
			return structure(field, value);
		case 'choice':
			return choice(field, value);
		case 'text':
			return text(value);
	}
}

function text(value: unknown): string | null {
	if (DateTime.isDateTime(value)) return value.toISO();
	return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function number(field: Field, value: unknown): number {
	const parsed = typeof value === 'string' ? Number(value.trim()) : value;
	if (typeof parsed === 'number' && Number.isFinite(parsed)) return parsed;
	throw refusal(field, value, 'a number such as 12.5');
}

const booleans: Record<string, boolean> = { true: true, false: false, 1: true, 0: false };

function boolean(field: Field, value: unknown): boolean {
	const parsed = booleans[String(value).trim().toLowerCase()];
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
	return value.split(',').map((part) => part.trim());
}

function structure(field: Field, value: unknown): unknown {
	const parsed = typeof value === 'string' ? parseJson(value) : value;
	if (typeof parsed === 'object' && parsed !== null) return parsed;
	throw refusal(field, value, 'JSON such as { "key": "value" }');
}

function moment(
	field: Field,
	value: unknown,
	zone: string,
	write: (moment: DateTime, zone: string) => string | null,
): string {
	const parsed =
		value instanceof Date
			? DateTime.fromJSDate(value)
			: DateTime.isDateTime(value)
				? value
				: DateTime.fromISO(String(value).trim().replace(' ', 'T'), { zone, setZone: true });
	const written = write(parsed, zone);
	if (written !== null) return written;
	throw refusal(field, value, 'a date such as 2026-03-31, or a time such as 2026-03-31T14:30');
}

function instant(moment: DateTime): string | null {
	return moment.toUTC().toISO();
}

/**
 * A date stays the date it was written as, unless it comes with a time of day: then it is the date
 * that moment has in the workflow's time zone. (Midnight is how dates without time are written by
 * those who have no type for them.)
 */
function calendarDate(moment: DateTime, zone: string): string | null {
	const { hour, minute, second } = moment;
	return hour + minute + second === 0 ? moment.toISODate() : moment.setZone(zone).toISODate();
}

function refusal(field: Field, value: unknown, expected: string): Error {
	const given = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return new Error(`${field.label}: '${given}' is not ${expected}`);
}
