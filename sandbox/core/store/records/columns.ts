import { type JsonSchema, typesOf } from '../../schemas/json-schema.ts';
import type { Resource, StoredRecord } from '../../schemas/resource.ts';
import { foldCase, orderKey } from './fold-case.ts';

/** A value as SQLite stores it. */
export type Cell = string | number;

/** A field with its own column, for filters and sorting. Lists are stored as JSON. */
export interface Column {
	name: string;
	/** The field of the record that it holds. */
	field: string;
	isText: boolean;
	/** Whether it holds the result of `orderKey`, to sort by. */
	isOrder?: boolean;
}

/** Longer texts can only be searched, unless records are looked up by them. */
const maxComparedLength = 255;

/**
 * The stored value for null: less than every other value, so that keyset pagination needs no special
 * case. (SQL comparisons with NULL are never true, so the page after a null would be empty.)
 */
export const emptyCell = (column: Column): Cell => (column.isText ? '' : -Number.MAX_VALUE);

/** Quotes a column's name; some are SQL keywords (`unique`). */
export const quoted = (name: string): string => `"${name}"`;

export function columnsOf(resource: Resource): Column[] {
	return Object.entries(resource.properties)
		.filter(([name, schema]) => name !== 'id' && (isComparable(resource, name) || isList(schema)))
		.map(([name, schema]) => {
			const isText = typesOf(schema).includes('string') || isList(schema);
			return { name, field: name, isText };
		})
		.concat(resource.sortable.filter((field) => isReadByPeople(resource, field)).map(orderColumn));
}

const orderColumn = (field: string): Column => ({ name: `${field}_order`, field, isText: true, isOrder: true });

/** The column by which a list is sorted; for texts, in alphabetical order regardless of case and accents. */
export const sortColumn = (resource: Resource, field: string): string =>
	isReadByPeople(resource, field) ? orderColumn(field).name : field;

/** Whether a field is free text: not a time, address, choice or id. */
function isReadByPeople({ properties }: Resource, field: string): boolean {
	const schema = properties[field]!;
	const isOther = [schema.format, schema.enum, schema['x-resource']].some((keyword) => keyword !== undefined);
	return field !== 'id' && typesOf(schema).includes('string') && !isOther;
}

/** Whether the field is a list of texts, such as ids. */
export const isList = (schema: JsonSchema): boolean => schema.items?.type === 'string';

export function isComparable({ properties, lookups }: Resource, name: string): boolean {
	const schema = properties[name]!;
	const types = typesOf(schema).filter((type) => type !== 'null');
	const isScalar = types.every((type) => !['object', 'array'].includes(type));
	const isShort = Number(schema['maxLength'] ?? 0) <= maxComparedLength || lookups.includes(name);
	return isScalar && isShort && !('const' in schema);
}

export function cellOf(column: Column, record: StoredRecord): Cell {
	const value = record[column.field];
	if (column.isOrder && typeof value === 'string') return orderKey(value);
	if (value === null || value === undefined) return emptyCell(column);
	if (typeof value === 'boolean') return Number(value);
	return Array.isArray(value) ? JSON.stringify(value) : (value as Cell);
}

/** The text that `q` searches: lower-case, without accents, one line per field. */
export const searchText = (resource: Resource, record: StoredRecord): string =>
	foldCase(resource.searched.map((field) => record[field] ?? '').join('\n'));

/** The SQL for the value of a custom field. Keys are plain words, so they need no quoting. */
export const customField = (key: string): string => `document ->> '$.custom_fields.${key}'`;
