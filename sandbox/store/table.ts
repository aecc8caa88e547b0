import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { type Cell, cellOf, type Column, columnsOf, quoted, searchText } from './columns.ts';
import type { Condition } from './condition.ts';
import { indexDefinitions, live, sqlName, tableDefinition } from './definition.ts';
import { keysetCondition, type Order } from './keyset.ts';
import { visibleTo } from './visibility.ts';

/** Which records of a table, in which order, beginning after which one. */
export interface Selection {
	conditions: Condition[];
	/** Ends with the id. */
	order: Order[];
	/** One value for each column of the order. */
	after: Cell[] | undefined;
	includeDeleted: boolean;
	limit: number;
}

/** Statements kept ready, of each table. */
const mostRecent = 50;

/**
 * The records of one resource. A row is the record as JSON, beside one column for each field that
 * is filtered or sorted by, and one for search.
 */
export class Table {
	readonly columns: Column[];
	readonly resource: Resource;
	private readonly database: DatabaseSync;
	private readonly name: string;
	private readonly statements: Record<'find' | 'save' | 'changes' | 'version', StatementSync>;
	private readonly counted = { at: '', totals: new Map<string, number>() };
	private readonly recent = new Map<string, StatementSync>();
	/** What holds for every record that can be found here. */
	private readonly visible: Condition[] = [];

	constructor(database: DatabaseSync, resource: Resource) {
		this.database = database;
		this.resource = resource;
		this.name = sqlName(resource);
		this.columns = columnsOf(resource);
		const definition = tableDefinition(resource, this.columns);
		const outdated = this.takeOutdated(definition);
		database.exec(`CREATE TABLE IF NOT EXISTS ${definition}`);
		const names = ['id', 'search', ...this.columns.map(({ name }) => quoted(name)), 'document'];
		this.statements = {
			find: database.prepare(`SELECT document FROM ${this.name} WHERE id = ? AND ${live}`),
			save: database.prepare(`
				INSERT INTO ${this.name} (${names.join()}) VALUES (${names.map(() => '?').join()})
				ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join()}
			`),
			changes: database.prepare('SELECT total_changes() AS value'),
			version: database.prepare('PRAGMA data_version'),
		};
		for (const record of outdated) this.save(record);
		this.createIndexes();
	}

	/**
	 * The table with only the records that a user sees. All else, the counts too, is shared with this
	 * table.
	 */
	seenBy(userId: string): Table {
		const visible = visibleTo(userId, this.resource);
		return Object.create(this, { visible: { value: visible } }) as Table;
	}

	find(id: string): StoredRecord | undefined {
		if (this.visible.length > 0) return this.findAll([{ sql: 'id = ?', values: [id] }], 1)[0];
		const row = this.statements.find.get(id);
		return row && parseRecord(documentOf(row));
	}

	/** Live records for which all conditions hold. */
	findAll(conditions: Condition[], limit: number): StoredRecord[] {
		const all = { conditions, order: [], after: undefined, includeDeleted: false, limit };
		return this.page(all).map(parseRecord);
	}

	/** The highest number in a column, deleted records included; 0 if there are no records. */
	highest(column: string): number {
		const row = this.database.prepare(`SELECT max(${quoted(column)}) AS value FROM ${this.name}`);
		return Number(row.get()!['value'] ?? 0);
	}

	/** Adds the record, or replaces the one with its id. */
	save(record: StoredRecord): void {
		this.statements.save.run(
			record.id,
			searchText(this.resource, record),
			...this.columns.map((column) => cellOf(column, record[column.name])),
			JSON.stringify(record),
		);
	}

	/** Adds many new records; the indexes are made at the end, which takes half the time. */
	fill(records: Iterable<StoredRecord>): void {
		for (const name of indexDefinitions(this.resource).keys()) {
			this.database.exec(`DROP INDEX IF EXISTS ${name}`);
		}
		for (const record of records) this.save(record);
		this.createIndexes();
	}

	/** Records as JSON texts. */
	page({ conditions, order, after, includeDeleted, limit }: Selection): string[] {
		const all = [...conditions, ...this.visible];
		// The plus sign keeps SQLite from using the index on deleted_at, which would mean a sort.
		if (!includeDeleted) all.push({ sql: `+${live}`, values: [] });
		if (after) all.push(keysetCondition(order, after));
		const columns = order.map(
			({ column, descending }) => `${quoted(column)}${descending ? ' DESC' : ''}`,
		);
		const orderBy = columns.length > 0 ? `ORDER BY ${columns.join()}` : '';
		return this.prepared(`SELECT document FROM ${this.name} WHERE ${allOf(all)} ${orderBy} LIMIT ?`)
			.all(...valuesOf(all), limit)
			.map(documentOf);
	}

	/** Counts exactly; counts anew only when something was written since. */
	count(conditions: Condition[], includeDeleted: boolean): number {
		const all = [...conditions, ...this.visible];
		if (!includeDeleted) all.push({ sql: live, values: [] });
		// What a transaction counts may be rolled back, which the number of changes does not show.
		if (this.database.isTransaction) return this.countAnew(all);
		const state = JSON.stringify([this.statements.changes.get(), this.statements.version.get()]);
		const { totals } = this.counted;
		if (state !== this.counted.at || totals.size > 1000) totals.clear();
		this.counted.at = state;
		const key = JSON.stringify(all);
		const known = totals.get(key);
		if (known !== undefined) return known;
		const total = this.countAnew(all);
		totals.set(key, total);
		return total;
	}

	/** Makes look-ups by the value of a custom field fast. */
	indexCustomField(key: string): void {
		const on = `${this.name} (${customField(key)})`;
		this.database.exec(`CREATE INDEX IF NOT EXISTS ${this.name}_custom_${key} ON ${on}`);
	}

	/** The records of a file whose columns are not those of today; they are about to come back. */
	private takeOutdated(definition: string): StoredRecord[] {
		const row = this.database
			.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
			.get(this.name);
		if (!row || row['sql'] === `CREATE TABLE ${definition}`) return [];
		const rows = this.database.prepare(`SELECT document FROM ${this.name}`).all();
		this.database.exec(`DROP TABLE ${this.name}`);
		return rows.map((row) => parseRecord(documentOf(row)));
	}

	private countAnew(conditions: Condition[]): number {
		const sql = `SELECT count(*) AS total FROM ${this.name} WHERE ${allOf(conditions)}`;
		return this.prepared(sql).get(...valuesOf(conditions))!['total'] as number;
	}

	/** Preparing a statement takes longer than looking up a record with it. */
	private prepared(sql: string): StatementSync {
		const known = this.recent.get(sql) ?? this.database.prepare(sql);
		// Those used last come last, so that the first one is the one to forget.
		this.recent.delete(sql);
		this.recent.set(sql, known);
		if (this.recent.size > mostRecent) this.recent.delete(this.recent.keys().next().value!);
		return known;
	}

	private createIndexes(): void {
		for (const definition of indexDefinitions(this.resource).values()) {
			this.database.exec(`CREATE ${definition}`);
		}
	}
}

/** The SQL for the value of a custom field. Keys are plain words, so they need no quoting. */
export const customField = (key: string): string => `document ->> '$.custom_fields.${key}'`;

const allOf = (conditions: Condition[]): string =>
	conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'true';

const valuesOf = (conditions: Condition[]): Cell[] => conditions.flatMap(({ values }) => values);

const documentOf = (row: Record<string, unknown>): string => row['document'] as string;

const parseRecord = (document: string): StoredRecord => JSON.parse(document) as StoredRecord;
