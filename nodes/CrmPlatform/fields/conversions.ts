import { DateTime } from 'luxon';

import { parsedValue, scalarsIn } from '../base/json';
import { exactNumber, isDecimal } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { withoutBlanks } from '../values/blank';
import { parseMoment } from '../values/dates';
import { foldedText, trimmed } from '../values/foldedText';
import { listed } from '../base/lists';
import { booleanIn } from '../values/parsers';
import { type Field, FieldError } from './field';
import { inE164 } from './phones';

/** Half of a character (a lone surrogate) has no form in UTF-8, and so none in a URL. */
export const isWellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text);

export const notWellFormed = (text: string): string =>
	`“${text.slice(0, 100)}” contains half of a character, which cannot be sent. Correct the text where it was cut.`;

/** JSON cannot represent NaN and Infinity, and as text they are a mistake. */
function checkNumber(field: Field, value: unknown): void {
	if (typeof value !== 'number' || Number.isFinite(value)) return;
	throw new FieldError(field, `“${value}” is the result of a failed calculation. Correct the calculation.`);
}

const isMoment = (value: unknown): value is Date | DateTime => value instanceof Date || DateTime.isDateTime(value);

/** The value itself; a moment becomes text, and NaN and Infinity are refused. */
export function toAny(field: Field, value: unknown): unknown {
	checkNumber(field, value);
	return isMoment(value) ? momentText(field, value) : value;
}

/** Refuses the same within objects and lists: JSON would make null of it, which clears. */
export function checkMembers(field: Field, value: unknown): void {
	if (!Array.isArray(value) && !isPlainObject(value)) return;
	for (const member of Object.values(value)) checkMembers(field, toAny(field, member));
}

export function toText(field: Field, value: unknown): unknown {
	const plain = toAny(field, value);
	if (typeof plain === 'object') throw refusal(field, value, 'text');
	return inE164(field, String(plain));
}

function momentText(field: Field, value: Date | DateTime): string {
	const iso = (value instanceof Date ? DateTime.fromJSDate(value).toUTC() : value).toISO();
	if (iso !== null) return iso;
	throw refusal(field, String(value), 'a date');
}

/** Other texts that JavaScript reads as a number, such as `1e1`, may be the name of a record. */
export const isDigits = (text: string): boolean => /^\s*[+-]?\d+\s*$/.test(text);

/** For the id of another record, the value may be its name, which is looked up later. */
export function toNumber(field: Field, value: unknown): unknown {
	if (field.target !== undefined && typeof value === 'string' && !isDigits(value)) return value;
	const number = typeof value === 'string' ? exactNumber(trimmed(value)) : value;
	const { minimum = -Infinity, maximum = Infinity } = field;
	if (typeof number === 'number' && Number.isFinite(number)) {
		if (number < minimum) throw refusal(field, value, `a number of at least ${minimum}`);
		if (number > maximum) throw refusal(field, value, `a number of at most ${maximum}`);
		return number;
	}
	throw refusal(field, value, typeof value === 'string' && isDecimal(value) ? tooLong : 'a number such as 12.5');
}

const tooLong = 'a number that can be sent without changing its digits. Shorten it, or leave it out';

export function toBoolean(field: Field, value: unknown): boolean {
	const parsed = booleanIn(value);
	if (parsed !== undefined) return parsed;
	throw refusal(field, value, 'true or false');
}

export const oneOf = (choices: Array<{ label: string }>): string => `one of: ${listed(choices.map(({ label }) => label))}`;

/** Finds a choice by its value or, failing that, by its label, if only one has it. */
export function toChoice(field: Field, rawValue: unknown): unknown {
	checkNumber(field, rawValue);
	const { choices = [] } = field;
	if (typeof rawValue === 'object' && choices.length > 0) throw refusal(field, rawValue, oneOf(choices));
	const value = inE164(field, rawValue);
	// n8n's dropdown returns text; the service may expect a number.
	const exact = choices.find((choice) => String(choice.value) === String(value));
	if (exact) return exact.value;
	const words = (text: unknown) => foldedText(String(text)).replace(/[\s_-]+/g, ' ');
	const similar = choices.filter((choice) => [choice.value, choice.label].some((text) => words(text) === words(value)));
	return similar.length === 1 ? similar[0]?.value : value;
}

export function toStructure(field: Field, value: unknown): unknown {
	const parsed = parsedValue(value);
	if (typeof parsed === 'object' && parsed !== null) return withoutBlanks(parsed, 'null');
	throw refusal(field, value, 'JSON such as { "key": "value" }');
}

export function toMoment(field: Field, value: unknown, zone: string, write: (moment: DateTime, zone: string) => string | null): string {
	const parsed = parseMoment(value, zone);
	const text = parsed ? write(parsed, zone) : null;
	if (text !== null) return text;
	throw refusal(field, value, 'a date such as 2026-03-31, a time such as 2026-03-31T14:30, or milliseconds since 1970');
}

function refusal(field: Field, value: unknown, expected: string): FieldError {
	const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
	return new FieldError(field, `“${text}” is not ${expected}`);
}

/**
 * What spreadsheets in any language, and JavaScript, put in place of a value that they could not calculate or show:
 * capitals that end in an exclamation or question mark, translations of `#N/A`, or a cell full of `#`. A text that ends in
 * ` }}` was typed behind an expression, which n8n closes by itself.
 */
const errorText =
	/^\s*(#[¡¿]?\p{Lu}[\p{Lu}\d/_ ]*[!?]|#\p{Lu}[/.]\p{Lu}\.?|#(NV|YOK|SAKNAS|HIÁNYZIK|GETTING_DATA)|##+|(Err|Fehler|Erreur|Errore) ?: ?5\d\d|\[object \w+\]|[^{}]+\s\}\}|undefined|NaN|Invalid [Dd]ate(Time)?)\s*$/u;

/** Texts that stand for booleans, failed calculations and broken exports. */
const identifiesNothing = /^(true|false|null|undefined|nan|-?infinity|\[object \w+\])$/i;

/** A number as spreadsheets show one with many digits: several values may have been rounded to it. */
const roundedNumber = /^[+-]?\d([.,]\d+)?E\+\d+$/i;

/**
 * The value of a unique field without white space around it, and with composed accents: tables often differ in that, and
 * the CRM would get a second record.
 *
 * @throws FieldError if several records may have had other values that became this one
 */
export function normalizedUnique(field: Pick<Field, 'name' | 'label'>, value: unknown): unknown {
	if (typeof value !== 'string' && typeof value !== 'boolean') return value;
	const text = trimmed(String(value).normalize('NFC'));
	if (identifiesNothing.test(text)) {
		throw new FieldError(field, `“${text}” identifies no record: it looks like a mistake in the source. Correct it, or leave it empty`);
	}
	if (!roundedNumber.test(text)) return text;
	const problem = `“${text}” is a number that a spreadsheet has rounded, so it identifies no record`;
	throw new FieldError(field, `${problem}. Export the column as text, with all digits`);
}

/** @throws FieldError if a value, or one within it, is what a broken formula or expression leaves */
export function refuseErrorText(field: Field, value: unknown): void {
	const found = scalarsIn(value).find((text) => typeof text === 'string' && errorText.test(text));
	if (found === undefined) return;
	throw new FieldError(
		field,
		`“${String(found).trim()}” is the result of a broken formula or expression. Correct it where it comes from. If it is meant as text, choose Values In → Error Texts Are → Text.`,
	);
}
