import { type Cell, quoted } from './columns.ts';
import { allOf, type Condition, isIn } from './condition.ts';
import { live } from './table-definition.ts';
import { keysetCondition, type Order } from './keyset.ts';
import type { Query } from '../threads/query.ts';

/** A query of a table: conditions, order, and the position to start after. */
export interface Selection {
	conditions: Condition[];
	/** The order; its last column is the id. */
	order: Order[];
	/** One value for each column of the order. */
	after: Cell[] | undefined;
	includeDeleted: boolean;
	limit: number;
}

/** Whether an index covers the order: there is one for each sort field with the id, but none for several fields. */
export const isIndexed = ([first, ...rest]: Order[]): boolean =>
	rest.length <= 1 && rest.every(({ column, descending }) => column === 'id' && descending === first?.descending);

export function pageQuery(table: string, selection: Selection): Query {
	const { conditions, order, after, includeDeleted, limit } = selection;
	const all = after ? [...conditions, keysetCondition(order, after)] : conditions;
	const { sql, values } = allOf(withLive(all, includeDeleted));
	const columns = ['document', ...order.map(({ column }) => quoted(column))];
	return {
		sql: `SELECT ${columns.join()} FROM ${table} WHERE ${sql} ${orderBy(order)} LIMIT ?`,
		values: [...values, limit],
	};
}

/** Every id of a list in its order, as JSON lists of a given size. */
export function idsQuery(table: string, { conditions, order, includeDeleted }: Selection, size: number): Query {
	const { sql, values } = allOf(withLive(conditions, includeDeleted));
	const placed = `SELECT id, row_number() OVER (${orderBy(order)}) - 1 AS place FROM ${table} WHERE ${sql}`;
	return {
		sql: `SELECT json_group_array(id ORDER BY place) AS ids FROM (${placed}) GROUP BY place / ${size} ORDER BY place`,
		values,
	};
}

/** The records with these ids, in the order of the ids, that meet the conditions. */
export function recordsQuery(table: string, { conditions, includeDeleted }: Selection, ids: string): Query {
	const { sql, values } = allOf(withLive([isIn('id', ids), ...conditions], includeDeleted));
	const inOrder = `ORDER BY instr(?, '"' || id || '"')`;
	return { sql: `SELECT document FROM ${table} WHERE ${sql} ${inOrder}`, values: [...values, ids], isPage: true };
}

/** The newest live records, each with the first of these fields that is not empty, otherwise its id. */
export function textsQuery(table: string, fields: string[], conditions: readonly Condition[], limit: number): Query {
	const { sql, values } = allOf([...conditions, isLive]);
	const texts = [...fields.map((field) => `nullif(document ->> '$.${field}', '')`), 'id'].join();
	const text = fields.length > 0 ? `coalesce(${texts})` : 'id';
	return { sql: `SELECT id, ${text} AS text FROM ${table} WHERE ${sql} ORDER BY id DESC LIMIT ?`, values: [...values, limit] };
}

export function countQuery(table: string, conditions: Condition[], includeDeleted: boolean): Query {
	const { sql, values } = allOf(withLive(conditions, includeDeleted));
	return { sql: `SELECT count(*) AS total FROM ${table} WHERE ${sql}`, values };
}

const isLive: Condition = { sql: live, values: [] };

const withLive = (conditions: Condition[], includeDeleted: boolean): Condition[] =>
	includeDeleted ? conditions : [...conditions, isLive];

function orderBy(order: Order[]): string {
	const columns = order.map(({ column, descending }) => `${quoted(column)}${descending ? ' DESC' : ''}`);
	return columns.length > 0 ? `ORDER BY ${columns.join()}` : '';
}
