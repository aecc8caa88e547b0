import { type Cell, quoted } from './columns.ts';
import type { Condition } from './condition.ts';
import { live } from './table-definition.ts';
import { keysetCondition, type Order } from './keyset.ts';
import type { Query } from './query.ts';

/** A query of a table: conditions, order, and the position to start after. */
export interface Selection {
	conditions: Condition[];
	/** Its last column is the id. */
	order: Order[];
	/** One value for each column of the order. */
	after: Cell[] | undefined;
	includeDeleted: boolean;
	limit: number;
}

/** Every field to sort by has an index with the id; several have none together. */
export const isIndexed = ([first, ...rest]: Order[]): boolean =>
	rest.length <= 1 && rest.every(({ column, descending }) => column === 'id' && descending === first?.descending);

export function pageQuery(table: string, selection: Selection): Query {
	const { conditions, order, after, includeDeleted, limit } = selection;
	const all = [...conditions];
	if (!includeDeleted) all.push({ sql: live, values: [] });
	if (after) all.push(keysetCondition(order, after));
	const columns = order.map(
		({ column, descending }) => `${quoted(column)}${descending ? ' DESC' : ''}`,
	);
	const orderBy = columns.length > 0 ? `ORDER BY ${columns.join()}` : '';
	const { sql, values } = allOf(all);
	return {
		sql: `SELECT document FROM ${table} WHERE ${sql} ${orderBy} LIMIT ?`,
		values: [...values, limit],
	};
}

export function countQuery(table: string, conditions: Condition[], includeDeleted: boolean): Query {
	const all = [...conditions];
	if (!includeDeleted) all.push({ sql: live, values: [] });
	const { sql, values } = allOf(all);
	return { sql: `SELECT count(*) AS total FROM ${table} WHERE ${sql}`, values };
}

/** What meets every condition. */
export const allOf = (conditions: readonly Condition[]): Condition => ({
	sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
	values: conditions.flatMap(({ values }) => values),
});
