import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Cell, cellOf, type Column, columnsOf, quoted, searchText } from './columns.ts';
import { allOf, equals } from './condition.ts';
import { Memory, RecordReader } from './record-reader.ts';
import { parseRecord, recordJson } from './record-json.ts';
import { entriesDefinition, indexDefinitions, live, nextStepAt, tableDefinition } from './table-definition.ts';
import type { Resource, StoredRecord } from '../../schemas/resource.ts';

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
	private readonly columns: Column[];
	private readonly insert: StatementSync;
	private readonly update: StatementSync;

	constructor(database: DatabaseSync, resource: Resource) {
		const columns = columnsOf(resource);
		createTable(database, resource, columns);
		super({ resource, database, statements: new Memory(), cache: new Memory() }, []);
		this.database = database;
		this.columns = columns;
		const names = ['id', 'search', ...columns.map(({ name }) => quoted(name)), ...(resource.states?.timed ? [nextStepAt] : []), 'document'];
		this.insert = database.prepare(`INSERT INTO ${this.name} (${names.join()}) VALUES (${names.map(() => '?').join()})`);
		this.update = database.prepare(`UPDATE ${this.name} SET ${names.map((name) => `${name} = ?`).join()} WHERE id = ?`);
		this.createIndexes();
	}

	/** Finds the id of another live record with these values. */
	findOther(values: Record<string, Cell>, id: string): string | undefined {
		const same = allOf(Object.entries(values).map(([column, value]) => equals(column, value)));
		const sql = `SELECT id FROM ${this.name} WHERE ${same.sql} AND id <> ? AND ${live} LIMIT 1`;
		return this.run(sql, [...same.values, id])[0]?.['id'] as string | undefined;
	}

	/** Finds the timed transition that is due first. */
	nextDue(now: string): DueTransition | undefined {
		const sql = `
			SELECT document, ${nextStepAt} FROM ${this.name}
			WHERE ${nextStepAt} <> '' AND ${nextStepAt} <= ? ORDER BY ${nextStepAt}, id LIMIT 1
		`;
		const [row] = this.run(sql, [now]);
		return row && { record: parseRecord(row['document'] as string), at: row[nextStepAt] as string };
	}

	/** The highest number in a column, deleted records included; 0 if there are no records. */
	highest(column: string): number {
		const [row] = this.run(`SELECT max(${quoted(column)}) AS value FROM ${this.name}`);
		return Number(row!['value'] ?? 0);
	}

	/** The instant of the latest change of a record; empty if there are no records. */
	lastUpdate(): string {
		const [row] = this.run(`SELECT max(updated_at) AS value FROM ${this.name}`);
		return (row!['value'] as string | null) ?? '';
	}

	/**
	 * Replaces a record, or adds it if there is none with its id.
	 *
	 * @param since the instant of the change, from which the next timed transition is counted
	 */
	save(record: StoredRecord, since = record.updated_at): void {
		this.source.cache.clear();
		const { changes } = this.update.run(...this.cellsOf(record, since), record.id);
		if (changes === 0) this.add(record, since);
	}

	/**
	 * Adds a record with a new id.
	 *
	 * @param since the instant from which the next timed transition is counted
	 */
	add(record: StoredRecord, since = record.updated_at): void {
		this.source.cache.clear();
		this.insert.run(...this.cellsOf(record, since));
	}

	/**
	 * Replaces a record with what remains of it.
	 *
	 * @param hidden values of columns that no caller sees, such as an owner that no user has
	 */
	erase(remains: Record<string, unknown> & { id: string }, hidden: Record<string, string>): void {
		this.save({ ...remains, ...hidden } as unknown as StoredRecord, '');
		this.run(`UPDATE ${this.name} SET document = ? WHERE id = ?`, [JSON.stringify(remains), remains.id]);
	}

	/** The values of the columns, in their order. */
	private cellsOf(record: StoredRecord, since: string): Cell[] {
		const cells: Cell[] = [record.id, searchText(this.resource, record)];
		for (const column of this.columns) cells.push(cellOf(column, record));
		if (this.resource.states?.timed) cells.push(nextTransitionTime(this.resource, record, since));
		cells.push(recordJson(record));
		return cells;
	}

	/** Adds many new records; building the indexes afterwards takes half the time. */
	fill(records: Iterable<StoredRecord>): void {
		for (const name of indexDefinitions(this.resource).keys()) {
			this.database.exec(`DROP INDEX IF EXISTS ${name}`);
		}
		for (const record of records) this.add(record);
		this.createIndexes();
	}

	/** Whether the table exists; it does not if the transaction that created it was rolled back. */
	exists(): boolean {
		const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
		return this.run(sql, [this.name]).length > 0;
	}

	/** Returns the cached value, or reads it if the table has changed since. */
	cached<T>(key: string, read: () => T): T {
		return this.source.cache.get(key, read);
	}

	/** Clears the cache; call it after a change that bypasses `save`, such as a rollback. */
	forget(): void {
		this.source.cache.clear();
	}

	private createIndexes(): void {
		for (const definition of indexDefinitions(this.resource).values()) {
			this.database.exec(`CREATE ${definition}`);
		}
	}
}

/** The instant of the record's next timed transition; empty if it has none. */
function nextTransitionTime({ states }: Resource, record: StoredRecord, since: string): string {
	const { field, timed } = states!;
	const isTimed = timed!.states.includes(String(record[field])) && record.deleted_at === null;
	return isTimed ? timed!.next(record, since).at : '';
}

/** The file has a table of another version; it was not changed. */
export class DatabaseVersionError extends Error {}

/** @throws DatabaseVersionError */
function createTable(database: DatabaseSync, resource: Resource, columns: Column[]): void {
	const entries = entriesDefinition(resource);
	const definitions = [tableDefinition(resource, columns), ...(entries ? [entries.definition] : [])];
	const find = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?");
	const stored = definitions.map((definition) => find.get(definition.split(' ')[0]!)?.['sql']);
	if (stored.every((sql) => sql === undefined)) {
		database.exec([...definitions.map((definition) => `CREATE TABLE ${definition};`), entries?.triggers].join(' '));
	} else if (stored.some((sql, i) => sql !== `CREATE TABLE ${definitions[i]}`)) throw new DatabaseVersionError();
}
