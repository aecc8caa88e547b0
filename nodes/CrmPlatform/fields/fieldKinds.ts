import { parseJson } from '../api/http/json';
import { checkDepth, checkExact, exactNumber, isDecimal } from '../api/http/numbers';
import { isPlainObject } from '../api/http/ownMembers';
import { isBlank, listIn, withoutBlanks } from './blank';
import { isWellFormed, notWellFormed, toAny, toBoolean, toChoice, toList, toMoment, toNumber, toStructure, toText } from './conversions';
import { calendarDate, instant } from './dates';
import type { Field, FieldKind } from './field';

/** What a schema says about its values. */
export interface ValueSchema {
	/** Its JSON type, where it has one: a whole number is a number. */
	type: string | undefined;
	format?: string | undefined;
	/** The kind of the values of an array. */
	items?: FieldKind | undefined;
	/** Whether it lists its values (`enum`, `const`). */
	isNamed: boolean;
	hasMembers: boolean;
	/** Whether it has what only text can have. */
	isTextual: boolean;
}

/** What a kind of field decides. */
interface Kind {
	/** Whether a schema describes such values. The first kind in the table that says so is the one. */
	isDescribedBy(schema: ValueSchema): boolean;
	/** The types of custom fields that are of this kind; all others are text. */
	customTypes: string[];
	/** The control of n8n's mapper, and what its label says of how a value is written; a reference is `Name or ID`. */
	control: 'string' | 'options' | 'dateTime';
	note: string | undefined;
	/** How values are ordered: a filter can bound those that are, and times by whole days. */
	order: 'number' | 'time' | undefined;
	/** What a value may be beside a plain one: the name of another record, an object. */
	mayHold: Array<'names' | 'objects'>;
	/** Whether a value counts as blank. */
	isBlank(value: unknown): boolean;
	/** The value that the service takes. @throws Error in the user's words */
	convert(field: Field, value: unknown, zone: string): unknown;
	/** What a text is compared by: texts in two notations are the same value. */
	compared(text: string): unknown;
	/** What a value in a file has to be, where only one type of values will do. */
	only: { fits(value: unknown): boolean; words: string } | undefined;
	/** Whether it can be a member of an object in a list, which a form then shows. */
	isMember: boolean;
}

const asText = (one: string): string => one;

/** All that is particular to each kind of field. */
export const fieldKinds: Record<FieldKind, Kind> = {
	list: {
		isDescribedBy: ({ type, items }) => type === 'array' && items !== 'json' && items !== 'list',
		customTypes: ['multi_select'],
		// With commas, and JSON as text: the editor n8n has for arrays and objects marks a blank as wrong.
		control: 'string',
		note: '',
		order: undefined,
		mayHold: ['names'],
		isBlank: (value) => isBlank(typeof value === 'string' ? listIn(value) : value),
		convert: (field, value, zone) =>
			toList(value)
				.filter((one) => !isBlank(one))
				.map((one) => apiValue({ ...field, kind: field.items ?? 'choice' }, one, zone)),
		compared: asText,
		only: undefined,
		isMember: false,
	},
	boolean: {
		isDescribedBy: ({ type }) => type === 'boolean',
		customTypes: ['boolean'],
		// A switch would be written as false by opening the node; a list can be left blank.
		control: 'options',
		note: undefined,
		order: undefined,
		mayHold: [],
		isBlank,
		convert: toBoolean,
		compared: asText,
		only: { fits: (value) => typeof value === 'boolean', words: 'true or false' },
		isMember: true,
	},
	choice: {
		isDescribedBy: ({ type, isNamed }) => isNamed && type !== 'array',
		customTypes: ['select'],
		control: 'options',
		note: undefined,
		order: undefined,
		mayHold: [],
		isBlank,
		convert: toChoice,
		compared: asText,
		only: undefined,
		isMember: true,
	},
	number: {
		isDescribedBy: ({ type }) => type === 'number',
		customTypes: ['number'],
		control: 'string',
		note: undefined,
		order: 'number',
		mayHold: [],
		isBlank,
		convert: toNumber,
		// Some services write decimals as text.
		compared: (one) => exactNumber(one) ?? one,
		only: { fits: (value) => typeof value === 'number', words: 'a number such as 12.5' },
		isMember: true,
	},
	json: {
		isDescribedBy: ({ type, hasMembers }) => type === 'object' || type === 'array' || hasMembers,
		customTypes: [],
		control: 'string',
		note: 'JSON',
		order: undefined,
		mayHold: ['objects'],
		isBlank: (value) => {
			if (isPlainObject(value)) return false;
			return isBlank(withoutBlanks(typeof value === 'string' ? (parseJson(value) ?? value) : value));
		},
		convert: toStructure,
		compared: asText,
		only: undefined,
		isMember: false,
	},
	date: {
		isDescribedBy: ({ format }) => format === 'date',
		customTypes: ['date'],
		// The calendar of n8n's mapper always asks for a time as well.
		control: 'string',
		note: 'Y-M-D',
		order: 'time',
		mayHold: [],
		isBlank,
		convert: (field, value, zone) => toMoment(field, value, zone, calendarDate),
		compared: asText,
		only: undefined,
		isMember: false,
	},
	dateTime: {
		isDescribedBy: ({ format }) => format === 'date-time',
		customTypes: ['datetime'],
		control: 'dateTime',
		note: undefined,
		order: 'time',
		mayHold: [],
		isBlank,
		convert: (field, value, zone) => toMoment(field, value, zone, instant),
		compared: (one) => (Number.isNaN(Date.parse(one)) ? one : Date.parse(one)),
		only: undefined,
		isMember: false,
	},
	text: {
		isDescribedBy: ({ type, isTextual }) => type === 'string' || isTextual,
		customTypes: [],
		control: 'string',
		note: undefined,
		order: undefined,
		mayHold: ['names'],
		isBlank,
		convert: toText,
		compared: asText,
		only: undefined,
		isMember: true,
	},
	any: {
		isDescribedBy: () => true,
		customTypes: [],
		control: 'string',
		note: undefined,
		order: undefined,
		mayHold: ['names', 'objects'],
		isBlank,
		convert: toAny,
		compared: asText,
		only: undefined,
		isMember: false,
	},
};

const kinds = Object.entries(fieldKinds) as Array<[FieldKind, Kind]>;

/** The kind of value a schema asks for; any where it allows values of several types. */
export const kindOfSchema = (schema: ValueSchema): FieldKind => kinds.find(([, { isDescribedBy }]) => isDescribedBy(schema))?.[0] ?? 'any';

/** The kind of a custom field by its type; types the service may gain later are written as text. */
export const kindOfCustomType = (type: string): FieldKind => kinds.find(([, { customTypes }]) => customTypes.includes(type))?.[0] ?? 'text';

/** Whether a value is blank for a field: for a list, so are texts such as `[]` and ` , `; for JSON, objects of blanks. */
export const isBlankFor = ({ kind }: Pick<Field, 'kind'>, value: unknown): boolean => fieldKinds[kind].isBlank(value);

/** Whether a text that stands for a list, such as `[]` and ` , `, has nothing in it: unlike an empty list, it clears nothing. */
export const isEmptyListText = (field: Pick<Field, 'kind'>, value: unknown): boolean =>
	typeof value === 'string' && !isBlank(value) && isBlankFor(field, value);

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
	else if (!isWellFormed(value)) throw new Error(`${field.label}: ${notWellFormed(value)}`);
	if (isCleared(field, value)) return null;
	const converted = fieldKinds[field.kind].convert(field, value, zone);
	// A text may be JSON.
	if (typeof value === 'string' && typeof converted === 'object') checkDepth(field.label, converted);
	return converted;
}

/** Whether a value clears the field. White space in a text is text, and not an id of another record; a list is cleared by an empty list. */
export function isCleared({ kind, reference }: Field, value: unknown): boolean {
	const isText = kind === 'text' && reference === undefined && typeof value === 'string';
	return isBlank(value) && !Array.isArray(value) && (!isText || value === '');
}

/** The value of a filter: a number of any length goes into the address of a request as it was given. */
export function filterValue(field: Field, value: unknown, zone: string): unknown {
	if (field.kind === 'list' && field.items === 'number' && !isBlank(value)) {
		return toList(value).filter((one) => !isBlank(one)).map((one) => filterValue({ ...field, kind: 'number' }, one, zone));
	}
	const isLong = typeof value === 'string' && isDecimal(value) && exactNumber(value) === undefined;
	return isLong && field.kind === 'number' ? value.trim() : apiValue(field, value, zone);
}
