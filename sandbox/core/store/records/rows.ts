import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from '../../foundation/json.ts';
import { hasCustomFields, type Resource, type StoredRecord } from '../../schemas/resource.ts';
import { type Cell, cellOf, type Column, quoted, searchText } from './columns.ts';
import { hasSearchIndex, live, nextStepAt, sqlName } from './table-definition.ts';
import { recordJson } from './record-json.ts';
import { ValueIndex } from './value-index.ts';
import { WordIndex } from './word-index.ts';

/** Writes the rows of a table together with its totals and its indexes of words and custom values. */
export class Rows {
	private readonly resource: Resource;
	private readonly columns: Column[];
	private readonly statements;
	/** The index of words, if the table has one. */
	readonly words: WordIndex | undefined;
	private readonly customValues: ValueIndex | undefined;

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
		const isCustom = hasCustomFields(resource);
		const custom = isCustom ? "coalesce(document -> '$.custom_fields', '{}')" : "'{}'";
		if (isCustom) this.customValues = new ValueIndex(database, resource);
		this.statements = {
			stored: database.prepare(
				`SELECT rowid, search, ${live} AS is_live, ${custom} AS custom FROM ${table} WHERE id = ?`,
			),
			insert: database.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${marks})`),
			update: database.prepare(`UPDATE ${table} SET ${changes} WHERE rowid = ?`),
			totals: database.prepare(`SELECT live, stored FROM totals WHERE name = '${table}'`),
			addToTotals: database.prepare(
				`UPDATE totals SET live = live + ?, stored = stored + ? WHERE name = '${table}'`,
			),
		};
		if (hasSearchIndex(resource)) this.words = new WordIndex(database, resource);
	}

	/**
	 * Adds the record, or replaces the one with its id.
	 *
	 * @param since the instant of the change, from which the next timed transition is counted
	 */
	save(record: StoredRecord, since: string): void {
		const { stored, update, addToTotals } = this.statements;
		const before = stored.get(record.id);
		if (!before) return this.add(record, since);
		const { values, search, isLive } = this.rowOf(record, since);
		const rowid = before['rowid'] as number;
		update.run(...values, rowid);
		this.customValues?.write(rowid, JSON.parse(before['custom'] as string) as JsonObject, customOf(record));
		if (before['search'] !== search) this.words?.replace(rowid, search);
		if (before['is_live'] !== isLive) addToTotals.run(isLive - Number(before['is_live']), 0);
	}

	/** Adds a record with a new id, without a lookup. */
	add(record: StoredRecord, since: string): void {
		const { insert, addToTotals } = this.statements;
		const { values, isLive } = this.rowOf(record, since);
		const { lastInsertRowid } = insert.run(...values);
		this.customValues?.write(lastInsertRowid, {}, customOf(record));
		this.words?.noteRow();
		addToTotals.run(isLive, 1);
	}

	/** The values of the columns, in their order, and what `save` compares with the former row. */
	private rowOf(record: StoredRecord, since: string) {
		const { resource, columns } = this;
		const search = searchText(resource, record);
		const values: Cell[] = [record.id, search];
		for (const column of columns) values.push(cellOf(column, record));
		if (resource.states?.timed) values.push(nextTransitionTime(resource, record, since));
		values.push(recordJson(record));
		return { values, search, isLive: Number(record.deleted_at === null) };
	}

	/** The number of records. */
	total(includeDeleted: boolean): number {
		return this.statements.totals.get()![includeDeleted ? 'stored' : 'live'] as number;
	}
}

const customOf = (record: StoredRecord): JsonObject => (record['custom_fields'] ?? {}) as JsonObject;

/** The instant of the record's next timed transition; empty if it has none. */
function nextTransitionTime({ states }: Resource, record: StoredRecord, since: string): string {
	const { field, timed } = states!;
	const isTimed = timed!.states.includes(String(record[field])) && record.deleted_at === null;
	return isTimed ? timed!.next(record, since).at : '';
}
