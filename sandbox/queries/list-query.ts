import { invalidParameter } from '../foundation/problem.ts';
import { pointInTime } from '../schemas/fields.ts';
import type { Resource } from '../schemas/resource.ts';
import type { AccountKey } from '../store/account-key.ts';
import { type Cell, sortColumn } from '../store/columns.ts';
import type { Condition } from '../store/condition.ts';
import type { Order } from '../store/keyset.ts';
import { searchConditions } from '../store/search.ts';
import { filterCondition } from './filter-conditions.ts';
import { decodeCursor, listFingerprint } from './cursor.ts';
import { type Filter, valueFilters } from './filters.ts';
import { unknownParameter } from '../http/query.ts';

export const pageSize = { minimum: 1, standard: 50, maximum: 500 };

/** In characters. This bounds the number of words, each of which is a condition. */
export const maxSearchLength = 200;

/** SQLite refuses a condition of a thousand parts. */
export const maxFilters = 100;

/** The default order of a list. */
export const standardOrder = 'created_at';

export interface ListQuery {
	limit: number;
	order: Order[];
	after: Cell[] | undefined;
	conditions: Condition[];
	includeDeleted: boolean;
	fields: string[] | undefined;
	fingerprint: string;
}

export const sortableFields = (resource: Resource): string[] => [
	'id',
	'created_at',
	'updated_at',
	...resource.sortable,
];

/** Time windows are half open, so that one ends where the next begins. */
const changeWindow: Filter[] = valueFilters('updated', '"updated_at"', pointInTime).flatMap(
	(filter) => {
		if (filter.operator === '>=') return [{ ...filter, parameter: 'updated_since' }];
		return filter.operator === '<' ? [{ ...filter, parameter: 'updated_until' }] : [];
	},
);

/**
 * Parses the query of a list request.
 *
 * @param findFilter finds a filter by the name of its parameter
 * @param key verifies cursors
 * @throws Problem invalid_parameter, unknown_parameter, invalid_cursor
 */
export function parseListQuery(
	resource: Resource,
	given: Map<string, string>,
	findFilter: (parameter: string) => Filter | undefined,
	key: AccountKey,
): ListQuery {
	const rest = new Map(given);
	const take = (name: string) => {
		const value = rest.get(name);
		rest.delete(name);
		return value;
	};
	const cursor = take('cursor');
	const limit = parseLimit(take('limit'));
	const fields = parseFields(resource, take('fields'));
	const order = parseSort(resource, take('sort'));
	const includeDeleted = parseFlag('include_deleted', take('include_deleted'));
	const conditions: Condition[] = [];
	const ids = take('ids');
	if (ids !== undefined) conditions.push(idCondition(ids));
	const q = take('q');
	if (q !== undefined) conditions.push(...searchConditions(resource, parseSearch(q)));
	if (rest.size > maxFilters) {
		const [name] = [...rest.keys()].slice(maxFilters);
		throw invalidParameter(name!, `A list takes at most ${maxFilters} filters.`);
	}
	for (const [name, text] of rest) {
		const filter = changeWindow.find(({ parameter }) => parameter === name) ?? findFilter(name);
		if (!filter) throw unknownParameter(name);
		conditions.push(filterCondition(filter, text, order[0]!.column));
	}
	const fingerprint = listFingerprint(resource.name, order, includeDeleted, conditions);
	const after =
		cursor === undefined ? undefined : decodeCursor(key, cursor, fingerprint);
	return { limit, order, after, conditions, includeDeleted, fields, fingerprint };
}

/** @throws Problem invalid_parameter */
export function parseFields(resource: Resource, text: string | undefined): string[] | undefined {
	const fields = text?.split(',');
	const unknown = fields?.find((field) => !Object.hasOwn(resource.properties, field));
	if (unknown === undefined) return fields;
	throw invalidParameter('fields', `${resource.name} have no field "${unknown}".`);
}

/** @throws Problem invalid_parameter */
export function parseLimit(text: string | undefined): number {
	if (text === undefined) return pageSize.standard;
	const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
	if (limit >= pageSize.minimum && limit <= pageSize.maximum) return limit;
	throw invalidParameter(
		'limit',
		`limit must be a whole number from ${pageSize.minimum} to ${pageSize.maximum}.`,
	);
}

function parseSearch(text: string): string {
	if (text.trim() !== '' && text.length <= maxSearchLength) return text;
	throw invalidParameter('q', `q must have 1 to ${maxSearchLength} characters.`);
}

/** False if absent. @throws Problem invalid_parameter */
export function parseFlag(name: string, text: string | undefined): boolean {
	if (text === undefined || text === 'false') return false;
	if (text === 'true') return true;
	throw invalidParameter(name, `${name} must be true or false.`);
}

/** The id comes last as a tie-breaker. */
function parseSort(resource: Resource, text: string | undefined): Order[] {
	const order: Order[] = [];
	for (const part of (text ?? standardOrder).split(',')) {
		const descending = part.startsWith('-');
		const column = descending ? part.slice(1) : part;
		if (!sortableFields(resource).includes(column)) {
			const known = sortableFields(resource).join(', ');
			throw invalidParameter('sort', `Cannot sort by "${column}". Sort by any of: ${known}.`);
		}
		const sorted = sortColumn(resource, column);
		if (!order.some((earlier) => earlier.column === sorted)) order.push({ column: sorted, descending });
		if (column === 'id') return order;
	}
	return [...order, { column: 'id', descending: order.at(-1)!.descending }];
}

function idCondition(text: string): Condition {
	const ids = text.split(',');
	if (ids.length > pageSize.maximum) {
		throw invalidParameter('ids', `ids takes at most ${pageSize.maximum} ids.`);
	}
	return { sql: `id IN (${ids.map(() => '?').join()})`, values: ids, isUnique: true };
}
