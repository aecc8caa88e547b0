import { parseJson } from '../base/json';
import { exactNumber } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { isBlank, listIn, withoutBlanks } from '../values/blank';
import { calendarDate, instant } from '../values/dates';
import { toAny, toBoolean, toChoice, toList, toMoment, toNumber, toStructure, toText } from './conversions';
import { kindsByPrecedence, type Field, type FieldKind } from './field';

/** What a schema says about its values. */
export interface ValueSchema {
	/** Its JSON type, if it has one; an integer is a number. */
	type: string | undefined;
	format?: string | undefined;
	/** The kind of the values of an array. */
	items?: FieldKind | undefined;
	/** Whether it lists its values (`enum`, `const`). */
	isEnumerated: boolean;
	hasMembers: boolean;
	/** Whether it has keywords of text. */
	isTextual: boolean;
}

type Conversion = (field: Field, value: unknown, zone: string) => unknown;

/** What a kind of field decides. */
interface Kind {
	/** Whether a schema describes such values. The first such kind of `kindsByPrecedence` is used. */
	isDescribedBy(schema: ValueSchema): boolean;
	/** The types of custom fields that are of this kind; all others are text. */
	customTypes: string[];
	/** The control of n8n's mapper, and the hint on the format in its label; for a reference, `Name or ID`. */
	control: 'string' | 'options' | 'dateTime';
	formatHint: string | undefined;
	/** What a value consists of; an open one may be anything. */
	shape: 'single' | 'list' | 'object' | 'open';
	/** The JSON type of each value, if there is only one. */
	type: 'text' | 'number' | 'boolean' | undefined;
	/** How values are ordered: ordered values can be filtered by bounds, numbers can be summed, and times are bounded by whole days. */
	order: 'number' | 'day' | 'instant' | undefined;
	/** The roles that a list's parameter with such values may have, if its name fits, too. */
	listRoles: ListRole[];
	/** Whether it may identify records, if the description does not say which fields do. */
	mayIdentify: boolean;
	/** What white space alone means. */
	whiteSpace: 'blank' | 'text';
	/** Values allowed besides plain ones: names of other records, objects. */
	mayHold: Array<'names' | 'objects'>;
	/** Whether a value counts as blank. */
	isBlank(value: unknown): boolean;
	/** The value that the service takes; `convertElement` converts each element of a list. @throws Error in the user's words */
	convert(field: Field, value: unknown, zone: string, convertElement: Conversion): unknown;
	/** The canonical form for comparisons, in which different notations of a value are equal. */
	compared(text: string): unknown;
	/** The check of a value in a file, if only one type is valid. */
	requiredInFile: { isValid(value: unknown): boolean; description: string } | undefined;
	/** Whether it can be a member of an object in a list, which a form then shows. */
	mayBeMember: boolean;
}

/** What a parameter of a list does, unless it is a filter. */
export type ListRole = 'cursor' | 'pageSize' | 'sort' | 'search' | 'fields';

const asText = (text: string): string => text;

/** Everything that differs between kinds of fields. */
export const fieldKinds: Record<FieldKind, Kind> = {
	list: {
		isDescribedBy: ({ type, items }) => type === 'array' && !(items && ['list', 'object'].includes(fieldKinds[items].shape)),
		customTypes: ['multi_select'],
		// With commas, and JSON as text: the editor n8n has for arrays and objects marks a blank as wrong.
		control: 'string',
		formatHint: '',
		shape: 'list',
		type: undefined,
		order: undefined,
		listRoles: ['sort', 'fields'],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: ['names'],
		isBlank: (value) => isBlank(typeof value === 'string' ? listIn(value) : value),
		convert: (field, value, zone, convertElement) =>
			toList(value).map((element) => convertElement({ ...field, kind: field.items ?? 'choice' }, element, zone)),
		compared: asText,
		requiredInFile: undefined,
		mayBeMember: false,
	},
	boolean: {
		isDescribedBy: ({ type }) => type === 'boolean',
		customTypes: ['boolean'],
		// A switch would be written as false by opening the node; a list can be left blank.
		control: 'options',
		formatHint: undefined,
		shape: 'single',
		type: 'boolean',
		order: undefined,
		listRoles: [],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: [],
		isBlank,
		convert: toBoolean,
		compared: asText,
		requiredInFile: { isValid: (value) => typeof value === 'boolean', description: 'true or false' },
		mayBeMember: true,
	},
	choice: {
		isDescribedBy: ({ type, isEnumerated }) => isEnumerated && type !== 'array',
		customTypes: ['select'],
		control: 'options',
		formatHint: undefined,
		shape: 'single',
		type: undefined,
		order: undefined,
		listRoles: ['pageSize', 'sort', 'fields'],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: [],
		isBlank,
		convert: toChoice,
		compared: asText,
		requiredInFile: undefined,
		mayBeMember: true,
	},
	number: {
		isDescribedBy: ({ type }) => type === 'number',
		customTypes: ['number'],
		control: 'string',
		formatHint: undefined,
		shape: 'single',
		type: 'number',
		order: 'number',
		listRoles: ['cursor', 'pageSize'],
		mayIdentify: true,
		whiteSpace: 'blank',
		mayHold: [],
		isBlank,
		convert: toNumber,
		// Some services write decimals as text.
		compared: (text) => exactNumber(text) ?? text,
		requiredInFile: { isValid: (value) => typeof value === 'number', description: 'a number such as 12.5' },
		mayBeMember: true,
	},
	json: {
		isDescribedBy: ({ type, hasMembers }) => type === 'object' || type === 'array' || hasMembers,
		customTypes: [],
		control: 'string',
		formatHint: 'JSON',
		shape: 'object',
		type: undefined,
		order: undefined,
		listRoles: [],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: ['objects'],
		isBlank: (value) => {
			if (isPlainObject(value)) return false;
			return isBlank(withoutBlanks(typeof value === 'string' ? (parseJson(value) ?? value) : value, 'drop'));
		},
		convert: toStructure,
		compared: asText,
		requiredInFile: undefined,
		mayBeMember: false,
	},
	date: {
		isDescribedBy: ({ format }) => format === 'date',
		customTypes: ['date'],
		// The calendar of n8n's mapper always asks for a time as well.
		control: 'string',
		formatHint: 'Y-M-D',
		shape: 'single',
		type: 'text',
		order: 'day',
		listRoles: [],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: [],
		isBlank,
		convert: (field, value, zone) => toMoment(field, value, zone, calendarDate),
		compared: asText,
		requiredInFile: undefined,
		mayBeMember: false,
	},
	dateTime: {
		isDescribedBy: ({ format }) => format === 'date-time',
		customTypes: ['datetime'],
		control: 'dateTime',
		formatHint: undefined,
		shape: 'single',
		type: 'text',
		order: 'instant',
		listRoles: [],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: [],
		isBlank,
		convert: (field, value, zone) => toMoment(field, value, zone, instant),
		compared: (text) => (Number.isNaN(Date.parse(text)) ? text : Date.parse(text)),
		requiredInFile: undefined,
		mayBeMember: false,
	},
	text: {
		isDescribedBy: ({ type, isTextual }) => type === 'string' || isTextual,
		customTypes: [],
		control: 'string',
		formatHint: undefined,
		shape: 'single',
		type: 'text',
		order: undefined,
		listRoles: ['cursor', 'sort', 'search', 'fields'],
		mayIdentify: true,
		whiteSpace: 'text',
		mayHold: ['names'],
		isBlank,
		convert: toText,
		compared: asText,
		requiredInFile: undefined,
		mayBeMember: true,
	},
	any: {
		isDescribedBy: () => true,
		customTypes: [],
		control: 'string',
		formatHint: undefined,
		shape: 'open',
		type: undefined,
		order: undefined,
		listRoles: ['cursor', 'pageSize', 'sort', 'search', 'fields'],
		mayIdentify: false,
		whiteSpace: 'blank',
		mayHold: ['names', 'objects'],
		isBlank,
		convert: toAny,
		compared: asText,
		requiredInFile: undefined,
		mayBeMember: false,
	},
};

/** The kind of value that a schema describes; `any` if it allows several types. */
export const kindOfSchema = (schema: ValueSchema): FieldKind =>
	kindsByPrecedence.find((kind) => fieldKinds[kind].isDescribedBy(schema)) ?? 'any';

/** The kind of a custom field by its type; types the service may gain later are written as text. */
export const kindOfCustomType = (type: string): FieldKind =>
	kindsByPrecedence.find((kind) => fieldKinds[kind].customTypes.includes(type)) ?? 'text';

/** What the values of a field consist of. */
export const valueShape = ({ kind }: Pick<Field, 'kind'>): Kind['shape'] => fieldKinds[kind].shape;
