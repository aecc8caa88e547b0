import { DateTime } from 'luxon';

import { parsedValue, scalarsIn } from '../base/json';
import { listed } from '../base/lists';
import { exactNumber, isDecimal } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { isBlank, listIn, withoutBlanks } from '../values/blank';
import { calendarDate, clockChangeAt, instant, parseMoment, rfc3339 } from '../values/dates';
import { foldedText, trimmed } from '../values/foldedText';
import { booleanIn } from '../values/parsers';
import { kindsByPrecedence, matchesPattern, type Field, type FieldKind, FieldError } from './field';
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
function toAny(field: Field, value: unknown): unknown {
	checkNumber(field, value);
	return isMoment(value) ? momentText(field, value) : value;
}

/** Refuses the same within objects and lists: JSON would make null of it, which clears. */
export function checkMembers(field: Field, value: unknown): void {
	if (!Array.isArray(value) && !isPlainObject(value)) return;
	for (const member of Object.values(value)) checkMembers(field, toAny(field, member));
}

function toText(field: Field, value: unknown): unknown {
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
function toNumber(field: Field, value: unknown): unknown {
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

function toBoolean(field: Field, value: unknown): boolean {
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

function toStructure(field: Field, value: unknown): unknown {
	const parsed = parsedValue(value);
	if (typeof parsed === 'object' && parsed !== null) return withoutBlanks(parsed, 'null');
	throw refusal(field, value, 'JSON such as { "key": "value" }');
}

function toMoment(field: Field, value: unknown, zone: string, write: (moment: DateTime, zone: string) => string | null): string {
	const change = write === instant ? clockChangeAt(value, zone) : undefined;
	if (change === 'twice') throw refusal(field, value, `one time: the clocks of ${zone} go back, and show it twice. Add its offset, such as +02:00`);
	if (change === 'never') throw refusal(field, value, `a time in ${zone}: clocks go forward over it. Correct it, or add its offset`);
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

interface ValueSchema {
	/** Its JSON type, if it has one; an integer is a number. */
	type: string | undefined;
	format?: string | undefined;
	items?: FieldKind | undefined;
	/** Whether it lists its values (`enum`, `const`). */
	isEnumerated: boolean;
	hasMembers: boolean;
}

/** What the values of a field are; `varied` if they are not alike. The compiler names each table that a new type belongs in. */
export type ValueType = 'text' | 'number' | 'boolean' | 'day' | 'instant' | 'varied';

interface KindProperties {
	/** Whether a schema describes such values. The first kind of `kindsByPrecedence` that says so is used. */
	isDescribedBy(schema: ValueSchema): boolean;
	/** The types of custom fields that are of this kind; all others are text. */
	customTypes: string[];
	/** The control of n8n's mapper. */
	control: 'string' | 'options' | 'dateTime';
	/** The hint on the format in its label. Without one, a model reads `Name or ID` for a link; an empty one prevents that. */
	formatHint?: string;
	/** What a value consists of; an open one may be anything. */
	shape: 'single' | 'list' | 'object' | 'open';
	/** What each value is: numbers can be summed, and times are filtered by whole days. */
	type: ValueType;
	isBlank(value: unknown): boolean;
	/** The value that the service takes; of a list, its elements, each of which is converted next. @throws Error in the user's words */
	convert(field: Field, value: unknown, zone: string): unknown;
	/** The canonical form for comparisons, in which different notations of a value are equal. */
	compared(text: string): unknown;
	/** The rank of a value, if values have an order; undefined for a text of another form than the description says. */
	rank?(text: string): number | undefined;
	/** The check of a value, if only one JSON type is valid. */
	onlyValid?: { isValid(value: unknown): boolean; description: string };
}

/** What most kinds have in common. */
const plain = {
	customTypes: [],
	control: 'string',
	shape: 'single',
	isBlank,
	compared: (text: string): unknown => text,
} satisfies Partial<KindProperties>;

export const fieldKinds: Record<FieldKind, KindProperties> = {
	list: {
		...plain,
		isDescribedBy: ({ type, items }) => type === 'array' && !(items && ['list', 'object'].includes(fieldKinds[items].shape)),
		customTypes: ['multi_select'],
		// With commas, and JSON as text: the editor n8n has for arrays and objects marks a blank as wrong.
		formatHint: '',
		shape: 'list',
		type: 'varied',
		isBlank: (value) => isBlank(listIn(value)),
		convert: (_field, value) => listIn(value).filter((element) => !isBlank(element)),
	},
	boolean: {
		...plain,
		isDescribedBy: ({ type }) => type === 'boolean',
		customTypes: ['boolean'],
		// A switch would be written as false by opening the node; a list can be left blank.
		control: 'options',
		type: 'boolean',
		convert: toBoolean,
		onlyValid: { isValid: (value) => typeof value === 'boolean', description: 'true or false' },
	},
	choice: {
		...plain,
		isDescribedBy: ({ type, isEnumerated }) => isEnumerated && type !== 'array',
		customTypes: ['select'],
		control: 'options',
		type: 'varied',
		convert: toChoice,
	},
	number: {
		...plain,
		isDescribedBy: ({ type }) => type === 'number',
		customTypes: ['number'],
		type: 'number',
		convert: toNumber,
		// Some services write decimals as text.
		compared: (text) => exactNumber(text) ?? text,
		rank: exactNumber,
		onlyValid: { isValid: (value) => typeof value === 'number', description: 'a number such as 12.5' },
	},
	json: {
		...plain,
		isDescribedBy: ({ type, hasMembers }) => type === 'object' || type === 'array' || hasMembers,
		formatHint: 'JSON',
		shape: 'object',
		type: 'varied',
		isBlank: (value) => !isPlainObject(value) && isBlank(withoutBlanks(parsedValue(value) ?? value, 'drop')),
		convert: toStructure,
	},
	date: {
		...plain,
		isDescribedBy: ({ format }) => format === 'date',
		customTypes: ['date'],
		// As text: the calendar of n8n's mapper always asks for a time as well.
		formatHint: 'Y-M-D',
		type: 'day',
		convert: (field, value, zone) => toMoment(field, value, zone, calendarDate),
		rank: (text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : undefined),
	},
	dateTime: {
		...plain,
		isDescribedBy: ({ format }) => format === 'date-time',
		customTypes: ['datetime'],
		control: 'dateTime',
		type: 'instant',
		convert: (field, value, zone) => toMoment(field, value, zone, instant),
		compared: (text) => (Number.isNaN(Date.parse(text)) ? text : Date.parse(text)),
		rank: (text) => (rfc3339.test(text) ? Date.parse(text) : undefined),
	},
	text: {
		...plain,
		isDescribedBy: ({ type }) => type === 'string',
		type: 'text',
		convert: toText,
	},
	any: {
		...plain,
		isDescribedBy: () => true,
		shape: 'open',
		type: 'varied',
		convert: toAny,
	},
};

/** The kind of value that a schema describes; `any` if it allows several types. */
export const kindOfSchema = (schema: ValueSchema): FieldKind =>
	kindsByPrecedence.find((kind) => fieldKinds[kind].isDescribedBy(schema)) ?? 'any';

/** The kind of a custom field by its type; types the service may gain later are written as text. */
export const kindOfCustomType = (type: string): FieldKind =>
	kindsByPrecedence.find((kind) => fieldKinds[kind].customTypes.includes(type)) ?? 'text';

export const valueType = ({ kind }: Pick<Field, 'kind'>): ValueType => fieldKinds[kind].type;

export const isNumeric = (field: Pick<Field, 'kind'>): boolean => valueType(field) === 'number';

export const isTimeField = (field: Pick<Field, 'kind'>): boolean => valueType(field) === 'day' || valueType(field) === 'instant';

export const isBooleanField = (field: Pick<Field, 'kind'>): boolean => valueType(field) === 'boolean';

/** Whether the values of a field are plain text: neither times nor choices. */
export const isPlainText = (field: Pick<Field, 'kind'>): boolean => valueType(field) === 'text';

export const isPhoneField = (field: Field): boolean =>
	isPlainText(field) && matchesPattern(field, '+493012345678') === true && matchesPattern(field, 'DE') === false;

export const valueShape = ({ kind }: Pick<Field, 'kind'>): KindProperties['shape'] => fieldKinds[kind].shape;

export const mayBeObjects = (field: Pick<Field, 'kind'>): boolean => ['object', 'open'].includes(valueShape(field));

/** The kind of each value of a field, or of each element of its lists; undefined if its lists may have any. */
export const elementKind = (field: Pick<Field, 'kind' | 'items'>): FieldKind | undefined =>
	valueShape(field) === 'list' ? field.items : field.kind;

/** A field of lists as a field of one element. */
export const elementOf = (field: Field): Field => ({ ...field, kind: field.items ?? 'choice' });

/**
 * Whether a value is blank for a field: for a list, also texts such as `[]` and ` , `; for JSON, also a list of nothing
 * but objects of blanks. An object is never blank here: `decideValue` removes the blanks of one in a cell that leaves its
 * field.
 */
export const isBlankFor = ({ kind }: Pick<Field, 'kind'>, value: unknown): boolean => fieldKinds[kind].isBlank(value);
