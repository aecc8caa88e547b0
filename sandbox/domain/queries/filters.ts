import { z } from 'zod/v4';
import { getOrCreate } from '../../core/foundation/json.ts';
import { plainText } from '../../core/schemas/fields.ts';
import { exampleId } from '../../core/schemas/request-examples.ts';
import { type JsonSchema, jsonSchema, notNull, typesOf } from '../../core/schemas/json-schema.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { type Cell, type Column, columnsOf, emptyCell, isComparable, isList, quoted, foldCase } from '../../core/store/records/columns.ts';
import { invalidParameter, type Problem } from '../../core/foundation/problem.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import { entriesName, entryOf } from '../../core/store/records/table-definition.ts';
import { explainIssue } from '../../core/foundation/field-errors.ts';

/** A query parameter that filters a list. */
export interface Filter {
	/** The name of the query parameter: `created_at[gte]`. */
	parameter: string;
	operator: '=' | '>=' | '>' | '<=' | '<' | 'contains' | 'starts_with' | 'empty';
	/** The SQL of the compared value; at least one element of a list has to match. For `empty`, the whole condition. */
	sql: string;
	isList: boolean;
	/** The name of the list whose entries are in the table of entries. */
	list?: string;
	/** Parses one value. */
	type: z.ZodType;
	/** Describes one value. */
	schema: JsonSchema;
	/** Describes the filter, unless its title and operator do. */
	description?: string;
	/** Whether the filter takes several comma-separated values. */
	takesList: boolean;
}

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;
const unfilteredFields = ['id', 'object', 'version'];

/** Deriving filters takes most of the start-up time. The records of all custom objects have the same properties. */
const filtersByProperties = new WeakMap<Resource['properties'], Filter[]>();

/** The filters of a list, in the order of the resource's fields. */
export const filtersOf = (resource: Resource): Filter[] =>
	getOrCreate(filtersByProperties, resource.properties, () => newFilters(resource));

function newFilters(resource: Resource): Filter[] {
	const columns = new Map(columnsOf(resource).map((column) => [column.name, column]));
	return Object.entries(resource.properties).filter(([name]) => !unfilteredFields.includes(name))
		.flatMap(([name, schema]) => {
			const column = columns.get(name);
			const sql = column ? quoted(name) : `document ->> '$.${name}'`;
			const isArray = typesOf(schema).includes('array');
			const canBeEmpty = isArray || typesOf(schema).includes('null');
			const empty = canBeEmpty ? [emptyFilter(name, sql, schema, emptyValueOf(isArray, column))] : [];
			if (isComparable(resource, name)) {
				return [...valueFilters(name, sql, resource.fields[name]!), ...empty];
			}
			const inTable = entryOf(schema) !== undefined && { list: name };
			if (isList(schema)) return [{ ...listFilter(name, sql, schema), ...inTable }, ...empty];
			const linked = schema.items?.properties?.['resource']?.enum as string[] | undefined;
			if (linked) return [{ ...linkFilter(sql, linked), ...inTable }, ...empty];
			return [...textFilters(name, sql, notNull(schema)), ...empty];
		});
}

function emptyValueOf(isArray: boolean, column: Column | undefined): Cell {
	if (isArray) return '[]';
	return column ? emptyCell(column) : '';
}

/** The longest text that `contains` and `starts_with` look for, in characters. */
const maxPartLength = 255;

/** At least one character must remain after folding: a text of accents only would match everything. */
const partOfText = z.string().max(maxPartLength)
	.refine((text) => foldCase(text) !== '', { message: 'Enter at least one letter or digit.' });

/** Whether a value is free text, and not a choice, a time or an id. */
export const isFreeText = (schema: JsonSchema): boolean =>
	schema.type === 'string' &&
	!['enum', 'const', 'x-resource', 'x-item-of'].some((name) => name in schema) && !schema.format?.startsWith('date');

/** Filters by a part of a free text, ignoring case and accents; none for other values. */
function textFilters(parameter: string, sql: string, schema: JsonSchema): Filter[] {
	if (!isFreeText(schema)) return [];
	return (['contains', 'starts_with'] as const).map((operator) => ({
		parameter: `${parameter}[${operator}]`,
		operator,
		sql,
		isList: false,
		type: partOfText,
		schema: { title: schema.title!, type: 'string', minLength: 1, maxLength: maxPartLength },
		takesList: false,
	}));
}

/**
 * Selects records with a value, or those without.
 *
 * @param emptyValue a value that counts as empty, besides NULL
 */
export const emptyFilter = (parameter: string, sql: string, { title }: JsonSchema, emptyValue: Cell = ''): Filter => ({
	parameter: `${parameter}[empty]`,
	operator: 'empty',
	sql: `coalesce(${sql}, '') IN ('', ${typeof emptyValue === 'string' ? `'${emptyValue}'` : emptyValue})`,
	isList: false,
	type: z.boolean(),
	schema: { title: title!, type: 'boolean' },
	takesList: false,
});

/** Filters for a single value: equality, comparison if values are ordered, and parts if it is free text. */
export function valueFilters(parameter: string, sql: string, type: z.ZodType): Filter[] {
	const schema = notNull(jsonSchema(type, 'output'));
	const isOrdered =
		['number', 'integer'].includes(String(schema.type)) || ['date', 'date-time'].includes(schema.format ?? '');
	// A free text may contain commas, so the parameter is always one value.
	const takesList =
		schema.enum !== undefined || 'x-resource' in schema || 'x-item-of' in schema || schema.format === 'email';
	const filter = { sql, type, schema, isList: false };
	const compared = Object.entries(comparisons).map(([name, operator]) => ({
		...filter,
		parameter: `${parameter}[${name}]`,
		operator,
		takesList: false,
	}));
	const equal: Filter = { ...filter, parameter, operator: '=', takesList };
	return [equal, ...(isOrdered ? compared : []), ...textFilters(parameter, sql, schema)];
}

/**
 * Selects records whose list contains at least one of the values.
 *
 * @param type of one value
 */
export function listFilter(parameter: string, sql: string, schema: JsonSchema, type: z.ZodType = plainText()): Filter {
	const { title, items, 'x-important': important, 'x-resource': target } = schema;
	return {
		parameter,
		operator: '=',
		sql,
		isList: true,
		type,
		schema: { title, ...items, 'x-important': important, 'x-resource': target } as JsonSchema,
		takesList: true,
	};
}

/** Selects records that are linked to at least one of several records, each `contacts:con_…`. */
function linkFilter(sql: string, resources: string[]): Filter {
	const pattern = `^(${resources.join('|')}):.{1,64}$`;
	const message = `Write a record type and an ID, such as ${resources[0]}:${exampleId('con')}. Record types: ${resources.join(', ')}.`;
	const schema = { title: 'Linked To', type: 'string', pattern, examples: [`${resources[0]}:${exampleId('con')}`] };
	return {
		...listFilter('linked_to', sql, { items: schema }, z.string().regex(new RegExp(pattern), { message })),
		description: 'Linked to one of these records, each with its record type and ID.',
		schema: { ...schema, 'x-resource': resources },
	};
}

/**
 * Translates a filter and the text of its query parameter to SQL.
 *
 * @param resource whose lists are filtered
 * @throws Problem invalid_parameter
 */
export function filterCondition(filter: Filter, text: string, resource?: Resource): Condition {
	const { operator, sql } = filter;
	const values = (filter.takesList ? text.split(',') : [text]).map((part) => parseValue(filter, part));
	if (operator === 'empty') return { sql: values[0] === 1 ? sql : `NOT (${sql})`, values: [] };
	if (operator === 'contains' || operator === 'starts_with') {
		const place = operator === 'contains' ? '> 0' : '= 1';
		return { sql: `instr(fold_case(${sql}), ?) ${place}`, values: values.map((value) => foldCase(String(value))) };
	}
	if (operator === '=') {
		const anyOf = `IN (${values.map(() => '?').join()})`;
		if (!filter.isList) return { sql: `${sql} ${anyOf}`, values };
		if (filter.list === undefined || !resource) {
			return { sql: `${sql} <> '[]' AND EXISTS (SELECT 1 FROM json_each(${sql}) WHERE value ${anyOf})`, values };
		}
		return { sql: `id IN (SELECT id FROM ${entriesName(resource)} WHERE list = '${filter.list}' AND value ${anyOf})`, values };
	}
	// An absent value sorts before all others, but it must not match `<`.
	const notEmpty = typeof values[0] === 'string' ? `${sql} <> ''` : `${sql} > ${-Number.MAX_VALUE}`;
	return { sql: `${sql} ${operator} ? AND ${notEmpty}`, values };
}

function parseValue({ parameter, schema, type }: Filter, text: string): Cell {
	if (text === '') {
		throw invalidParameter(parameter, `${parameter} is empty. Enter a value or omit the parameter.`);
	}
	const { data, error } = type.safeParse(typedText(schema, text));
	if (error) throw invalidText(parameter, text, error);
	return typeof data === 'boolean' ? Number(data) : (data as Cell);
}

/**
 * The values of query parameters, converted by their schema. Other parameters are ignored.
 *
 * @throws Problem invalid_parameter
 */
export function readQuery<T extends z.ZodObject>(schema: T, queryTexts: Map<string, string>): z.output<T> {
	const properties = Object.entries(jsonSchema(schema, 'input').properties ?? {});
	const entries = properties.flatMap(([name, property]) => {
		const text = queryTexts.get(name);
		return text === undefined ? [] : [[name, typedText(property, text)]];
	});
	const { data, error } = schema.safeParse(Object.fromEntries(entries));
	if (!error) return data;
	const [name] = error.issues[0]!.path as [string];
	const text = queryTexts.get(name);
	if (text !== undefined) throw invalidText(name, text, error);
	throw invalidParameter(name, `${name} is required. ${(schema.shape[name] as z.ZodType).description}`);
}

function invalidText(name: string, text: string, { issues }: z.ZodError): Problem {
	const reasons = new Set(issues.filter(({ path }) => [undefined, name].includes(path[0] as string)).map(explainIssue));
	return invalidParameter(name, `${name} cannot be "${text}". ${[...reasons].join(' ')}`);
}

/** The text of a query parameter as the list, number or boolean that its schema expects, if it can be read as one. */
function typedText({ type, items = {} }: JsonSchema, text: string): unknown {
	if (type === 'array') return text.split(',').map((part) => typedText(items, part));
	const isNumber = type === 'number' || type === 'integer';
	if (isNumber && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
	return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text;
}
