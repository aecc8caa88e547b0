import type { DatabaseSync } from 'node:sqlite';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { type Cell, type Column, columnsOf, quoted } from './columns.ts';
import type { Condition } from './condition.ts';
import {
	hasSearchIndex,
	indexDefinitions,
	live,
	nextStepAt,
	searchIndex,
	searchIndexDefinition,
	sqlName,
	tableDefinition,
} from './definition.ts';
import { Memory } from './memory.ts';
import { PreparedStatements } from './prepared.ts';
import type { Row } from './query.ts';
import { Reader } from './reader.ts';
import { parseRecord } from './record-json.ts';
import { Rows } from './rows.ts';
import { countQuery, pageQuery, type Selection } from './selection.ts';
import { visibleTo } from './visibility.ts';

/**
 * The records of one resource. A row is the record as JSON, beside one column for each field that
 * is filtered or sorted by, and one for search.
 */
export class Table {
	readonly columns: Column[];
	readonly resource: Resource;
	private readonly database: DatabaseSync;
	private readonly reader: Reader;
	private readonly name: string;
	private readonly rows: Rows;
	private readonly prepared: PreparedStatements;
	private readonly indexed = new Set<string>();
	private readonly memory: Memory;
	/** What holds for every record that can be found here. */
	private readonly visible: Condition[] = [];

	constructor(database: DatabaseSync, resource: Resource, reader = new Reader(database, ':memory:')) {
		this.database = database;
		this.reader = reader;
		this.resource = resource;
		this.name = sqlName(resource);
		this.columns = columnsOf(resource);
		this.prepared = new PreparedStatements(database);
		this.memory = new Memory(database);
		const definition = tableDefinition(resource, this.columns);
		database.exec(`
			CREATE TABLE IF NOT EXISTS totals (name TEXT PRIMARY KEY, live INTEGER, stored INTEGER)
			WITHOUT ROWID
		`);
		const outdated = this.takeOutdated(definition);
		database.exec(`
			CREATE TABLE IF NOT EXISTS ${definition};
			INSERT INTO totals VALUES ('${this.name}', 0, 0) ON CONFLICT DO NOTHING;
			${hasSearchIndex(resource) ? searchIndexDefinition(resource) : ''}
		`);
		this.rows = new Rows(database, resource, this.columns);
		for (const record of outdated) this.save(record);
		this.createIndexes();
	}

	/**
	 * The table with only the records that a user sees. All else, what is remembered too, is shared
	 * with this table.
	 */
	seenBy(userId: string): Table {
		const visible = visibleTo(userId, this.resource);
		return Object.create(this, { visible: { value: visible } }) as Table;
	}

	find(id: string): StoredRecord | undefined {
		if (this.visible.length > 0) return this.findAll([{ sql: 'id = ?', values: [id] }], 1)[0];
		const row = this.prepared.get(`SELECT document FROM ${this.name} WHERE id = ? AND ${live}`).get(id);
		return row && parseRecord(documentOf(row));
	}

	/** A record, deleted or not. */
	findEver(id: string): StoredRecord | undefined {
		const conditions = [{ sql: 'id = ?', values: [id] }];
		const ever = { conditions, order: [], after: undefined, includeDeleted: true, limit: 1 };
		return this.page(ever).map(parseRecord)[0];
	}

	/** Live records for which all conditions hold. */
	findAll(conditions: Condition[], limit: number): StoredRecord[] {
		const all = { conditions, order: [], after: undefined, includeDeleted: false, limit };
		return this.page(all).map(parseRecord);
	}

	/** The id of a live record, other than one, with these values; undefined if there is none. */
	findOther(values: Record<string, Cell>, id: string): string | undefined {
		const equal = Object.keys(values).map((column) => `${quoted(column)} = ?`);
		const where = [...equal, 'id <> ?', live].join(' AND ');
		const statement = this.prepared.get(`SELECT id FROM ${this.name} WHERE ${where} LIMIT 1`);
		return statement.get(...Object.values(values), id)?.['id'] as string | undefined;
	}

	/** Live records whose next step is due, in the order in which they are. Times are instants. */
	due(now: string, limit: number): Array<{ record: StoredRecord; at: string }> {
		const sql = `
			SELECT document, ${nextStepAt} FROM ${this.name}
			WHERE ${nextStepAt} <> '' AND ${nextStepAt} <= ? ORDER BY ${nextStepAt}, id LIMIT ?
		`;
		const rows = this.prepared.get(sql).all(now, limit);
		return rows.map((row) => ({
			record: parseRecord(documentOf(row)),
			at: row[nextStepAt] as string,
		}));
	}

	/** The highest number in a column, deleted records included; 0 if there are no records. */
	highest(column: string): number {
		const row = this.prepared.get(`SELECT max(${quoted(column)}) AS value FROM ${this.name}`);
		return Number(row.get()!['value'] ?? 0);
	}

	/** The instant of the latest change of a record; empty if there are no records. */
	lastUpdate(): string {
		const row = this.prepared.get(`SELECT max(updated_at) AS value FROM ${this.name}`).get()!;
		return (row['value'] as string | null) ?? '';
	}

	/**
	 * Adds the record, or replaces the one with its id.
	 *
	 * @param since the instant of the change, from which its next step is reckoned
	 */
	save(record: StoredRecord, since = record.updated_at): void {
		this.memory.forget();
		this.rows.save(record, since);
	}

	/** Adds many new records; the indexes are made at the end, which takes half the time. */
	fill(records: Iterable<StoredRecord>): void {
		for (const name of indexDefinitions(this.resource).keys()) {
			this.database.exec(`DROP INDEX IF EXISTS ${name}`);
		}
		for (const record of records) this.save(record);
		this.createIndexes();
	}

	/** False if the transaction that made the table was rolled back. */
	exists(): boolean {
		const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
		return this.prepared.get(sql).get(this.name) !== undefined;
	}

	/** Records as JSON texts. */
	page(selection: Selection): string[] {
		const { sql, values } = pageQuery(this.name, this.allowed(selection));
		return this.prepared.get(sql).all(...values).map(documentOf);
	}

	/** Counts exactly. */
	count(conditions: Condition[], includeDeleted: boolean): number {
		return (
			this.knownTotal(conditions, includeDeleted) ??
			this.remember(totalKey(conditions, includeDeleted, this.visible), () => {
				const { sql, values } = countQuery(this.name, [...conditions, ...this.visible], includeDeleted);
				return totalOf(this.prepared.get(sql).all(...values));
			})
		);
	}

	/**
	 * A page and the number of all records for which the conditions hold. Where that may mean looking
	 * at many rows, other requests are answered meanwhile.
	 */
	async list(selection: Selection): Promise<{ documents: string[]; total: number }> {
		const { conditions, includeDeleted } = selection;
		const all = [...conditions, ...this.visible];
		if (all.length === 0 || all.some(({ isSelective }) => isSelective)) {
			return { documents: this.page(selection), total: this.count(conditions, includeDeleted) };
		}
		const { changes } = this.memory;
		const key = totalKey(conditions, includeDeleted, this.visible);
		const known = this.knownTotal(conditions, includeDeleted) ?? this.memory.recall<number>(key);
		const queries = [pageQuery(this.name, this.allowed(selection))];
		if (known === undefined) queries.push(countQuery(this.name, [...conditions, ...this.visible], includeDeleted));
		const [page, counted] = await this.reader.read(queries);
		const total = known ?? totalOf(counted!);
		if (changes === this.memory.changes) this.memory.keep(key, total);
		return { documents: page!.map(documentOf), total };
	}

	/** Reads something, unless it was read since the last change of the table. */
	remember<T>(key: string, read: () => T): T {
		const known = this.memory.recall<T>(key);
		if (known !== undefined) return known;
		const value = read();
		this.memory.keep(key, value);
		return value;
	}

	/** Call it when the table has changed by other ways than `save`, such as a rollback. */
	forget(): void {
		this.memory.forget();
	}

	/** Makes filters and look-ups by the value of a custom field fast. */
	indexCustomField(key: string): void {
		if (this.indexed.has(key)) return;
		// In the standard order of lists, so that a page needs no sort.
		const on = `${this.name} (${customField(key)}, created_at, id)`;
		const given = `WHERE ${customField(key)} IS NOT NULL`;
		this.database.exec(`CREATE INDEX IF NOT EXISTS ${this.name}_custom_${key} ON ${on} ${given}`);
		if (!this.database.isTransaction) this.indexed.add(key);
	}

	/** The records of a file whose columns are not those of today; they are about to come back. */
	private takeOutdated(definition: string): StoredRecord[] {
		const row = this.database
			.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
			.get(this.name);
		const counted = this.database.prepare('SELECT 1 FROM totals WHERE name = ?').get(this.name);
		if (!row || (row['sql'] === `CREATE TABLE ${definition}` && counted)) return [];
		const rows = this.database.prepare(`SELECT document FROM ${this.name}`).all();
		this.database.exec(`
			DROP TABLE ${this.name};
			DROP TABLE IF EXISTS ${searchIndex(this.resource)};
			DELETE FROM totals WHERE name = '${this.name}';
		`);
		return rows.map((row) => parseRecord(documentOf(row)));
	}

	/** The selection without what may not be seen here. */
	private allowed(selection: Selection): Selection {
		const { visible } = this;
		if (visible.length === 0) return selection;
		return { ...selection, conditions: [...selection.conditions, ...visible] };
	}

	/** The number of all records, which is kept up to date by the database. */
	private knownTotal(conditions: Condition[], includeDeleted: boolean): number | undefined {
		if (conditions.length > 0 || this.visible.length > 0) return undefined;
		return this.rows.total(includeDeleted);
	}

	private createIndexes(): void {
		for (const definition of indexDefinitions(this.resource).values()) {
			this.database.exec(`CREATE ${definition}`);
		}
	}
}

/** The SQL for the value of a custom field. Keys are plain words, so they need no quoting. */
export const customField = (key: string): string => `document ->> '$.custom_fields.${key}'`;

const totalKey = (...parts: unknown[]): string => `total ${JSON.stringify(parts)}`;

const totalOf = (rows: Row[]): number => rows[0]!['total'] as number;

const documentOf = (row: Row): string => row['document'] as string;
