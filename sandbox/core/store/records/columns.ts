import { type JsonSchema, typesOf } from '../../schemas/json-schema.ts';
import type { Resource, StoredRecord } from '../../schemas/resource.ts';
import type { DatabaseSync } from 'node:sqlite';

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

/** Removes differences of case and accents. */
export const foldCase = (text: string): string =>
	(isAscii(text) ? text : text.normalize('NFKD').replace(/\p{M}/gu, '')).toLowerCase();

const isAscii = (text: string): boolean => !/[^ -~\n\r\t]/.test(text);

/** Letters that are not another letter with an accent, and how people sort them. */
const letters: ReadonlyMap<string, string> = new Map(
	Object.entries({ ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i', ŋ: 'n' }),
);

/** Punctuation that follows digits or letters in ASCII; people expect it before both. */
const marks = ':;<=>?@[\\]^_`{|}~';

/**
 * A sort key for SQLite, which compares bytes: it ignores case and sorts letters with accents beside those
 * without. The order is close to that of ICU, whose sort keys JavaScript does not expose.
 */
const orderKey = (text: string): string =>
	foldCase(text).replaceAll(/[ßæœøđðłþıŋ]/g, (letter) => letters.get(letter)!)
		.replaceAll(/[:-@[-`{-~]/g, (mark) => String.fromCharCode(marks.indexOf(mark) + 1));

/** Adds the SQL function `fold_case` to a connection: SQLite's lower() handles only ASCII. */
export function addFoldCase(database: DatabaseSync): void {
	database.function('fold_case', { deterministic: true }, (text) => foldCase(String(text ?? '')));
}
