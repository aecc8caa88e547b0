import type { DatabaseSync } from 'node:sqlite';
import { hasCustomFields, type Resource, type StoredRecord } from '../../schemas/resource.ts';
import { type Cell, type Column, columnsOf, quoted } from './columns.ts';
import { allOf, equals } from './condition.ts';
import {
	hasSearchIndex,
	indexDefinitions,
	live,
	nextStepAt,
	searchIndexDefinition,
	sqlName,
	tableDefinition,
} from './table-definition.ts';
import { QueryCache } from './query-cache.ts';
import { PreparedStatements } from '../threads/prepared-statements.ts';
import { BackgroundReader } from '../threads/background-reader.ts';
import { parseRecord } from './record-json.ts';
import { documentOf } from './page-of-records.ts';
import { RecordReader } from './record-reader.ts';
import { Rows } from './rows.ts';
import { Transactions } from '../transactions.ts';
import { valueIndexDefinition } from './value-index.ts';
import type { WordIndex } from './word-index.ts';

/** A timed transition of a record, and the instant at which it is due. */
export interface DueTransition {
	record: StoredRecord;
	at: string;
}

/**
 * The records of one resource. A row holds the record as JSON, one column for each field that lists
 * filter or sort by, and one column for search.
 */
export class Table extends RecordReader {
	private readonly database: DatabaseSync;

	constructor(database: DatabaseSync, resource: Resource, reader = new BackgroundReader(database, ':memory:')) {
		const columns = columnsOf(resource);
		createTable(database, resource, columns);
		const rows = new Rows(database, resource, columns);
		const statements = new PreparedStatements(database);
		super({ resource, statements, reader, rows, cache: new QueryCache(database) }, []);
		this.database = database;
		this.createIndexes();
	}

	/** Finds the id of another live record with these values. */
	findOther(values: Record<string, Cell>, id: string): string | undefined {
		const same = allOf(Object.entries(values).map(([column, value]) => equals(column, value)));
		const sql = `SELECT id FROM ${this.name} WHERE ${same.sql} AND id <> ? AND ${live} LIMIT 1`;
		return this.source.statements.get(sql).get(...same.values, id)?.['id'] as string | undefined;
	}

	/**
	 * Finds the timed transition that is due first.
	 *
	 * @param id restricts it to one record
	 */
	nextDue(now: string, id?: string): DueTransition | undefined {
		const sql = `
			SELECT document, ${nextStepAt} FROM ${this.name}
			WHERE ${id === undefined ? '' : 'id = ? AND'} ${nextStepAt} <> '' AND ${nextStepAt} <= ?
			ORDER BY ${nextStepAt}, id LIMIT 1
		`;
		const row = this.source.statements.get(sql).get(...(id === undefined ? [] : [id]), now);
		return row && { record: parseRecord(documentOf(row)), at: row[nextStepAt] as string };
	}

	/** The highest number in a column, deleted records included; 0 if there are no records. */
	highest(column: string): number {
		const row = this.source.statements.get(`SELECT max(${quoted(column)}) AS value FROM ${this.name}`);
		return Number(row.get()!['value'] ?? 0);
	}

	/** The instant of the latest change of a record; empty if there are no records. */
	lastUpdate(): string {
		const row = this.source.statements.get(`SELECT max(updated_at) AS value FROM ${this.name}`).get()!;
		return (row['value'] as string | null) ?? '';
	}

	/**
	 * Adds the record, or replaces the one with its id.
	 *
	 * @param since the instant of the change, from which the next timed transition is counted
	 */
	save(record: StoredRecord, since = record.updated_at): void {
		this.source.cache.clear();
		this.source.rows.save(record, since);
	}

	/**
	 * Adds a record with a new id.
	 *
	 * @param since the instant from which the next timed transition is counted
	 */
	add(record: StoredRecord, since = record.updated_at): void {
		this.source.cache.clear();
		this.source.rows.add(record, since);
	}

	/** Adds many new records; building the indexes afterwards takes half the time. */
	fill(records: Iterable<StoredRecord>): void {
		for (const name of indexDefinitions(this.resource).keys()) {
			this.database.exec(`DROP INDEX IF EXISTS ${name}`);
		}
		for (const record of records) this.add(record);
		this.createIndexes();
		this.words?.indexAll();
	}

	/** Whether the table exists; it does not if the transaction that created it was rolled back. */
	exists(): boolean {
		const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
		return this.source.statements.get(sql).get(this.name) !== undefined;
	}

	/** Returns the cached value, or reads it if the table has changed since. */
	cached<T>(key: string, read: () => T): T {
		return this.source.cache.getOrRead(key, read);
	}

	/** Clears all caches; call it after a change that bypasses `save`, such as a rollback. */
	forget(): void {
		this.source.cache.clear();
		this.words?.noteRow();
	}

	/** The index of words; undefined if the table has none. */
	get words(): WordIndex | undefined {
		return this.source.rows.words;
	}

	private createIndexes(): void {
		for (const definition of indexDefinitions(this.resource).values()) {
			this.database.exec(`CREATE ${definition}`);
		}
	}
}

/** The file has tables of another version; they were not changed. */
export class DatabaseVersionError extends Error {}

/** @throws DatabaseVersionError */
function createTable(database: DatabaseSync, resource: Resource, columns: Column[]): void {
	const tables = [tableDefinition(resource, columns)];
	if (hasCustomFields(resource)) tables.push(valueIndexDefinition(resource));
	const stored = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name = ?");
	const existingDefinitions = tables.map((definition) => stored.get(definition.split(' ')[0]!)?.['sql']);
	const isSame = tables.every((definition, i) => existingDefinitions[i] === `CREATE TABLE ${definition}`);
	if (!isSame && existingDefinitions.some((sql) => sql !== undefined)) throw new DatabaseVersionError();
	new Transactions(database, () => undefined).run(() =>
		database.exec(`
			CREATE TABLE IF NOT EXISTS totals (name TEXT PRIMARY KEY, live INTEGER, stored INTEGER) WITHOUT ROWID;
			${tables.map((definition) => `CREATE TABLE IF NOT EXISTS ${definition};`).join('')}
			INSERT INTO totals VALUES ('${sqlName(resource)}', 0, 0) ON CONFLICT DO NOTHING;
			${hasSearchIndex(resource) ? searchIndexDefinition(resource) : ''}
		`),
	);
}
