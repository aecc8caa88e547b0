import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

/** Creates the tables of a small store, and prepares its statements. */
export function statementsOf<Name extends string>(database: DatabaseSync, tables: string, sql: Record<Name, string>) {
	database.exec(tables);
	const entries = Object.entries<string>(sql).map(([name, text]) => [name, database.prepare(text)] as const);
	return Object.fromEntries(entries) as Record<Name, StatementSync>;
}

/** The rows of a statement, whose columns are named like the members of `T`. */
export const rowsOf = <T>(statement: StatementSync, ...values: SQLInputValue[]): T[] => statement.all(...values) as T[];

/** The first row; undefined if there is none. */
export const rowOf = <T>(statement: StatementSync, ...values: SQLInputValue[]): T | undefined => statement.get(...values) as T | undefined;
