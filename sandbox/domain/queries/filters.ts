import { z } from 'zod/v4';
import { getOrCreate } from '../../core/foundation/maps.ts';
import { plainText } from '../../core/schemas/fields.ts';
import { exampleId } from '../../core/schemas/request-examples.ts';
import { type JsonSchema, jsonSchema, notNull, typesOf } from '../../core/schemas/json-schema.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { type Cell, type Column, columnsOf, emptyCell, isComparable, isList, quoted } from '../../core/store/records/columns.ts';
import { foldCase } from '../../core/store/records/fold-case.ts';

/** A query parameter that filters a list. */
export interface Filter {
	/** The name of the query parameter: `created_at[gte]`. */
	parameter: string;
	operator: '=' | '>=' | '>' | '<=' | '<' | 'contains' | 'starts_with' | 'empty';
	/** The SQL of the compared value; at least one element of a list has to match. For `empty`, the whole condition. */
	sql: string;
	isList: boolean;
	/** The SQL of an element of the list as it is compared; by default, the element itself. */
	element?: string;
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
			if (isList(schema)) return [listFilter(name, sql, schema), ...empty];
			const linked = schema.items?.properties?.['resource']?.enum as string[] | undefined;
			if (linked) return [linkFilter(sql, linked), ...empty];
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
		element: "(value ->> 'resource') || ':' || (value ->> 'id')",
		description: 'Linked to one of these records, each with its record type and ID.',
		schema: { ...schema, 'x-resource': resources },
	};
}
