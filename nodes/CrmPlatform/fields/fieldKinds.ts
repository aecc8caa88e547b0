import { parsedValue } from '../base/json';
import { exactNumber } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { isBlank, listIn, withoutBlanks } from '../values/blank';
import { calendarDate, instant } from '../values/dates';
import { toAny, toBoolean, toChoice, toList, toMoment, toNumber, toStructure, toText } from './conversions';
import { kindsByPrecedence, type Field, type FieldKind } from './field';
import type { KindProperties, ValueSchema } from './kind';

const asText = (text: string): string => text;

/** Everything that differs between kinds of fields. */
export const fieldKinds: Record<FieldKind, KindProperties> = {
	list: {
		isDescribedBy: ({ type, items }) => type === 'array' && !(items && ['list', 'object'].includes(fieldKinds[items].shape)),
		customTypes: ['multi_select'],
		// With commas, and JSON as text: the editor n8n has for arrays and objects marks a blank as wrong.
		control: 'string',
		formatHint: '',
		shape: 'list',
		type: undefined,
		order: undefined,
		mayHold: ['names'],
		isBlank: (value) => isBlank(listIn(value)),
		convert: (field, value, zone, convertElement) =>
			toList(value).map((element) => convertElement({ ...field, kind: field.items ?? 'choice' }, element, zone)),
		compared: asText,
		onlyValid: undefined,
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
		mayHold: [],
		isBlank,
		convert: toBoolean,
		compared: asText,
		onlyValid: { isValid: (value) => typeof value === 'boolean', description: 'true or false' },
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
		mayHold: [],
		isBlank,
		convert: toChoice,
		compared: asText,
		onlyValid: undefined,
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
		mayHold: [],
		isBlank,
		convert: toNumber,
		// Some services write decimals as text.
		compared: (text) => exactNumber(text) ?? text,
		onlyValid: { isValid: (value) => typeof value === 'number', description: 'a number such as 12.5' },
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
		mayHold: ['objects'],
		isBlank: (value) => {
			if (isPlainObject(value)) return false;
			return isBlank(withoutBlanks(parsedValue(value) ?? value, 'drop'));
		},
		convert: toStructure,
		compared: asText,
		onlyValid: undefined,
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
		mayHold: [],
		isBlank,
		convert: (field, value, zone) => toMoment(field, value, zone, calendarDate),
		compared: asText,
		onlyValid: undefined,
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
		mayHold: [],
		isBlank,
		convert: (field, value, zone) => toMoment(field, value, zone, instant),
		compared: (text) => (Number.isNaN(Date.parse(text)) ? text : Date.parse(text)),
		onlyValid: undefined,
		mayBeMember: false,
	},
	text: {
		isDescribedBy: ({ type }) => type === 'string',
		customTypes: [],
		control: 'string',
		formatHint: undefined,
		shape: 'single',
		type: 'text',
		order: undefined,
		mayHold: ['names'],
		isBlank,
		convert: toText,
		compared: asText,
		onlyValid: undefined,
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
		mayHold: ['names', 'objects'],
		isBlank,
		convert: toAny,
		compared: asText,
		onlyValid: undefined,
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
export const valueShape = ({ kind }: Pick<Field, 'kind'>): KindProperties['shape'] => fieldKinds[kind].shape;
