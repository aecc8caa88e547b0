import { z } from 'zod/v4';
import { type JsonSchema, jsonSchema, notNull } from '../schemas/json-schema.ts';
import type { Resource } from '../schemas/resource.ts';
import { isComparable, isList, quoted } from '../store/columns.ts';

/** A query parameter that keeps some records of a list and drops the others. */
export interface Filter {
	/** As it is written in the query: `created_at[gte]`. */
	parameter: string;
	operator: '=' | '>=' | '>' | '<=' | '<';
	/** SQL of what is compared; of a list, one element has to match. */
	sql: string;
	isList: boolean;
	/** Whether a value leaves few records, so that an index on it beats one on the sort order. */
	isSelective: boolean;
	/** Whether an index serves it although it may leave many records. */
	isIndexed?: boolean;
	/** Parses one value. */
	type: z.ZodType;
	/** Describes one value. */
	schema: JsonSchema;
	/** Whether several values may be given, separated by commas. */
	takesList: boolean;
}

const comparisons = { gte: '>=', gt: '>', lte: '<=', lt: '<' } as const;
const notFilters = ['id', 'object', 'version'];

const known = new WeakMap<Resource, Filter[]>();

/** The filters of a list, in the order of the resource's fields. */
export function filtersOf(resource: Resource): Filter[] {
	// A definition never changes, and reading it takes most of the service's start.
	let filters = known.get(resource);
	if (!filters) known.set(resource, (filters = readFilters(resource)));
	return filters;
}

function readFilters(resource: Resource): Filter[] {
	const selective = [...resource.lookups, ...Object.values(resource.unique).flat()];
	return Object.entries(resource.properties)
		.filter(([name]) => !notFilters.includes(name))
		.flatMap(([name, schema]) => {
			if (isComparable(resource, name)) {
				const isSelective = selective.includes(name);
				return valueFilters(name, quoted(name), resource.fields[name]!, isSelective);
			}
			return isList(schema) ? [listFilter(name, quoted(name), schema)] : [];
		});
}

/** Filters for a single value: by equality, and by comparison where it has an order. */
export function valueFilters(
	parameter: string,
	sql: string,
	type: z.ZodType,
	isSelective = false,
): Filter[] {
	const schema = notNull(jsonSchema(type, 'output'));
	const isOrdered =
		['number', 'integer'].includes(String(schema.type)) ||
		['date', 'date-time'].includes(schema.format ?? '');
	// A free text may have a comma in it, so it is always one value.
	const takesList =
		schema.enum !== undefined || 'x-resource' in schema || schema.format === 'email';
	const filter = { sql, type, schema, isList: false, isSelective };
	const compared = Object.entries(comparisons).map(([name, operator]) => ({
		...filter,
		parameter: `${parameter}[${name}]`,
		operator,
		takesList: false,
		isSelective: false,
	}));
	return [{ ...filter, parameter, operator: '=', takesList }, ...(isOrdered ? compared : [])];
}

/** Keeps the records whose list has at least one of the values. */
export function listFilter(parameter: string, sql: string, schema: JsonSchema): Filter {
	const { title, items } = schema;
	return {
		parameter,
		operator: '=',
		sql,
		isList: true,
		isSelective: false,
		type: z.string(),
		schema: { title, ...items, 'x-resource': schema['x-resource'] } as JsonSchema,
		takesList: true,
	};
}
