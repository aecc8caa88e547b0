import { parsedValue } from '../base/json';
import { exactNumber } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { isBlank, listIn, withoutBlanks } from '../values/blank';
import { calendarDate, instant, rfc3339 } from '../values/dates';
import { toAny, toBoolean, toChoice, toMoment, toNumber, toStructure, toText } from './conversions';
import { kindsByPrecedence, matchesPattern, type Field, type FieldKind } from './field';

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
