import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setRecent } from '../../foundation/maps.ts';

const maxStatements = 200;

/** Longer statements come from lists with hundreds of values, which are rarely repeated. */
const maxSqlLength = 4000;

/** A cache of prepared statements by their SQL: preparing one takes longer than finding a record with it. */
export class PreparedStatements {
	private readonly database: DatabaseSync;
	private readonly recent = new Map<string, StatementSync>();

	constructor(database: DatabaseSync) {
		this.database = database;
	}

	get(sql: string): StatementSync {
		const statement = this.recent.get(sql) ?? this.database.prepare(sql);
		if (sql.length <= maxSqlLength) setRecent(this.recent, sql, statement, maxStatements);
		return statement;
	}
}
