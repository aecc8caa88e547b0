import type { DatabaseSync, StatementSync } from 'node:sqlite';

const maxStatements = 200;

/** Longer statements come from lists with hundreds of values, which are rarely repeated. */
const maxSqlLength = 4000;

/**
 * A cache of prepared statements by their SQL: preparing one takes longer than finding a record with
 * it.
 */
export class PreparedStatements {
	private readonly database: DatabaseSync;
	private readonly recent = new Map<string, StatementSync>();

	constructor(database: DatabaseSync) {
		this.database = database;
	}

	get(sql: string): StatementSync {
		const statement = this.recent.get(sql) ?? this.database.prepare(sql);
		if (sql.length > maxSqlLength) return statement;
		// The least recently used statement is first, and is evicted first.
		this.recent.delete(sql);
		this.recent.set(sql, statement);
		if (this.recent.size > maxStatements) this.recent.delete(this.recent.keys().next().value!);
		return statement;
	}
}
