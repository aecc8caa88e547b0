import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { cellOf, type Column, quoted, searchText } from './columns.ts';
import { hasSearchIndex, live, nextStepAt, searchIndex, sqlName } from './definition.ts';
import { recordJson } from './record-json.ts';

type Statement = 'stored' | 'insert' | 'update' | 'totals' | 'addToTotals';

/** Writes the rows of a table, and with them its totals and its index for search. */
export class Rows {
	private readonly resource: Resource;
	private readonly columns: Column[];
	private readonly statements: Record<Statement, StatementSync>;
	/** Writes the index for search, if there is one. */
	private readonly indexWords: StatementSync | undefined;

	/** @param database in which the table is, and its row of totals */
	constructor(database: DatabaseSync, resource: Resource, columns: Column[]) {
		this.resource = resource;
		this.columns = columns;
		const table = sqlName(resource);
		const names = ['id', 'search', ...columns.map(({ name }) => quoted(name))];
		if (resource.states?.passing) names.push(nextStepAt);
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

	/** @param since the instant of the change, from which its next step is reckoned */
	save(record: StoredRecord, since: string): void {
		const { resource, columns } = this;
		const { stored, insert, update, addToTotals } = this.statements;
		const search = searchText(resource, record);
		const values = [
			record.id,
			search,
			...columns.map((column) => cellOf(column, record[column.name])),
			...(resource.states?.passing ? [nextStepOf(resource, record, since)] : []),
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

/** Empty for a record that stays in its state. */
function nextStepOf({ states }: Resource, record: StoredRecord, since: string): string {
	const { field, passing } = states!;
	const isPassing = passing!.states.includes(String(record[field])) && record.deleted_at === null;
	return isPassing ? passing!.next(record, since).at : '';
}
