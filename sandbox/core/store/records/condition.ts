import { type Cell, quoted } from './columns.ts';

/** A SQL condition and the values of its placeholders. */
export interface Condition {
	sql: string;
	values: Cell[];
	/** Whether the condition depends on other tables. */
	readsOtherTables?: boolean;
}

export const equals = (column: string, value: Cell): Condition => ({ sql: `${quoted(column)} = ?`, values: [value] });

/** @param list JSON */
export const isIn = (column: string, list: string): Condition => ({
	sql: `${quoted(column)} IN (SELECT value FROM json_each(?))`,
	values: [list],
});

/** A condition that holds if all of these hold. */
export const allOf = (conditions: readonly Condition[]): Condition => ({
	sql: conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
	values: conditions.flatMap(({ values }) => values),
});
