import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { cellOf, type Column, quoted, searchText } from './columns.ts';
import { hasSearchIndex, live, nextStepAt, searchIndex, sqlName } from './table-definition.ts';
import { recordJson } from './record-json.ts';

type Statement = 'stored' | 'insert' | 'update' | 'totals' | 'addToTotals';

/** Writes the rows of a table together with its totals and its search index. */
export class Rows {
	private readonly resource: Resource;
	private readonly columns: Column[];
	private readonly statements: Record<Statement, StatementSync>;
	/** Writes the search index, if the table has one. */
	private readonly indexWords: StatementSync | undefined;

	/** @param database the database with the table and its row of totals */
	constructor(database: DatabaseSync, resource: Resource, columns: Column[]) {
		this.resource = resource;
		this.columns = columns;
		const table = sqlName(resource);
		const names = ['id', 'search', ...columns.map(({ name }) => quoted(name))];
		if (resource.states?.timed) names.push(nextStepAt);
		names.push('document');
		const marks = names.map(() => '?').join();
		const changes = names.map((name) => `${name} = ?`).join();
		this.statements = {
			stored: database.prepare(
				`SELECT rowid, search, ${live} AS is_live FROM ${table} WHERE id = ?`,
			),
			insert: database.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${marks})`),
			update: database.prepare(`UPDATE ${table} SET ${changes} WHERE rowid = ?`),
			totals: database.prepare(`SELECT live, stored FROM totals WHERE name = '${table}'`),
			addToTotals: database.prepare(
				`UPDATE totals SET live = live + ?, stored = stored + ? WHERE name = '${table}'`,
			),
		};
		if (hasSearchIndex(resource)) {
			this.indexWords = database.prepare(
				`INSERT OR REPLACE INTO ${searchIndex(resource)} (rowid, search) VALUES (?, ?)`,
			);
		}
	}

	/** @param since the instant of the change, which the next timed transition is counted from */
	save(record: StoredRecord, since: string): void {
		const { resource, columns } = this;
		const { stored, insert, update, addToTotals } = this.statements;
		const search = searchText(resource, record);
		const values = [
			record.id,
			search,
			...columns.map((column) => cellOf(column, record[column.name])),
			...(resource.states?.timed ? [nextStepOf(resource, record, since)] : []),
			recordJson(record),
		];
		const isLive = Number(record.deleted_at === null);
		const before = stored.get(record.id);
		if (!before) {
			const { lastInsertRowid } = insert.run(...values);
			this.indexWords?.run(lastInsertRowid, search);
			addToTotals.run(isLive, 1);
			return;
		}
		const rowid = before['rowid'] as number;
		update.run(...values, rowid);
		if (before['search'] !== search) this.indexWords?.run(rowid, search);
		if (before['is_live'] !== isLive) addToTotals.run(isLive - Number(before['is_live']), 0);
	}

	/** The number of records. */
	total(includeDeleted: boolean): number {
		return this.statements.totals.get()![includeDeleted ? 'stored' : 'live'] as number;
	}
}

/** The instant of the record's next timed transition; empty if it has none. */
function nextStepOf({ states }: Resource, record: StoredRecord, since: string): string {
	const { field, timed: passing } = states!;
	const isPassing = passing!.states.includes(String(record[field])) && record.deleted_at === null;
	return isPassing ? passing!.next(record, since).at : '';
}
