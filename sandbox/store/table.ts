import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { type Cell, cellOf, type Column, columnsOf, quoted, searchText } from './columns.ts';
import type { Condition } from './condition.ts';
import { keysetCondition, type Order } from './keyset.ts';

const live = "deleted_at = ''";

/**
 * The records of one resource. A row is the record as JSON, beside one column for each field that
 * is filtered or sorted by, and one for search.
 */
export class Table {
	readonly resource: Resource;
	readonly columns: Column[];
	private readonly database: DatabaseSync;
	private readonly sqlName: string;
	private readonly statements: Record<'find' | 'save' | 'changes' | 'version', StatementSync>;
	private counts = new Map<string, number>();
	private countedAt = '';

	constructor(database: DatabaseSync, resource: Resource) {
		this.database = database;
		this.resource = resource;
		this.sqlName = resource.name.replaceAll('-', '_');
		this.columns = columnsOf(resource);
		const outdated = this.takeOutdated();
		database.exec(`CREATE TABLE IF NOT EXISTS ${this.definition()}`);
		const names = ['id', 'search', ...this.columns.map(({ name }) => quoted(name)), 'document'];
		this.statements = {
			find: database.prepare(`SELECT document FROM ${this.sqlName} WHERE id = ? AND ${live}`),
			save: database.prepare(`
				INSERT INTO ${this.sqlName} (${names.join()}) VALUES (${names.map(() => '?').join()})
				ON CONFLICT (id) DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join()}
			`),
			changes: database.prepare('SELECT total_changes() AS value'),
			version: database.prepare('PRAGMA data_version'),
		};
		for (const record of outdated) this.save(record);
		this.createIndexes();
	}

	find(id: string): StoredRecord | undefined {
		const row = this.statements.find.get(id);
		return row && (JSON.parse(documentOf(row)) as StoredRecord);
	}

	/** Live records for which all conditions hold. */
	findAll(conditions: Condition[], limit: number): StoredRecord[] {
		const query = { conditions, order: [], after: undefined, includeDeleted: false, limit };
		return this.page(query).map((document) => JSON.parse(document) as StoredRecord);
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
		for (const name of this.indexes().keys()) this.database.exec(`DROP INDEX IF EXISTS ${name}`);
		for (const record of records) this.save(record);
		this.createIndexes();
	}

	/** Records as JSON texts. */
	page(query: {
		conditions: Condition[];
		order: Order[];
		after: Cell[] | undefined;
		includeDeleted: boolean;
		limit: number;
	}): string[] {
		const conditions = [...query.conditions];
		// The plus sign keeps SQLite from using the index on deleted_at, which would mean a sort.
		if (!query.includeDeleted) conditions.push({ sql: `+${live}`, values: [] });
		if (query.after) conditions.push(keysetCondition(query.order, query.after));
		const order = query.order.map(
			({ column, descending }) => `${quoted(column)}${descending ? ' DESC' : ''}`,
		);
		const rows = this.database
			.prepare(`
				SELECT document FROM ${this.sqlName} WHERE ${allOf(conditions)}
				${order.length > 0 ? `ORDER BY ${order.join()}` : ''} LIMIT ?
			`)
			.all(...valuesOf(conditions), query.limit);
		return rows.map(documentOf);
	}

	/** Counts exactly; counts anew only when something was written since. */
	count(conditions: Condition[], includeDeleted: boolean): number {
		const all = includeDeleted ? conditions : [...conditions, { sql: live, values: [] }];
		const state = JSON.stringify([this.statements.changes.get(), this.statements.version.get()]);
		if (state !== this.countedAt || this.counts.size > 1000) this.counts.clear();
		this.countedAt = state;
		const key = JSON.stringify(all);
		const known = this.counts.get(key);
		if (known !== undefined) return known;
		const row = this.database
			.prepare(`SELECT count(*) AS total FROM ${this.sqlName} WHERE ${allOf(all)}`)
			.get(...valuesOf(all));
		const total = row!['total'] as number;
		this.counts.set(key, total);
		return total;
	}

	/** Makes look-ups by the value of a custom field fast. */
	indexCustomField(key: string): void {
		this.database.exec(`
			CREATE INDEX IF NOT EXISTS ${this.sqlName}_custom_${key}
			ON ${this.sqlName} (${customField(key)})
		`);
	}

	/** The records of a file whose columns are not those of today; they are about to come back. */
	private takeOutdated(): StoredRecord[] {
		const row = this.database
			.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?")
			.get(this.sqlName);
		if (!row || row['sql'] === `CREATE TABLE ${this.definition()}`) return [];
		const rows = this.database.prepare(`SELECT document FROM ${this.sqlName}`).all();
		this.database.exec(`DROP TABLE ${this.sqlName}`);
		return rows.map((row) => JSON.parse(documentOf(row)) as StoredRecord);
	}

	/** What comes after CREATE TABLE. */
	private definition(): string {
		const columns = this.columns.map(({ name, isText }) => `${quoted(name)} ${isText ? 'TEXT' : 'REAL'}`);
		// The document comes last, so that scanning the columns before it does not touch it.
		return `${this.sqlName} (
			id TEXT PRIMARY KEY, search TEXT NOT NULL, ${columns.join(', ')}, document TEXT NOT NULL
		)`;
	}

	/** What comes after CREATE, by name of the index. */
	private indexes(): Map<string, string> {
		const { unique, sortable, lookups } = this.resource;
		const always = ['created_at', 'updated_at', 'deleted_at'];
		const single = new Set([...always, ...sortable, ...lookups, ...Object.values(unique).flat()]);
		const columns = (fields: string[]) => fields.map(quoted).join(', ');
		return new Map([
			...[...single].map((field): [string, string] => {
				const name = `${this.sqlName}_by_${field}`;
				return [name, `INDEX IF NOT EXISTS ${name} ON ${this.sqlName} (${columns([field, 'id'])})`];
			}),
			...Object.entries(unique).map(([match, fields]): [string, string] => {
				const name = `${this.sqlName}_one_per_${match}`;
				const given = fields.map((field) => `${quoted(field)} <> ''`).join(' AND ');
				const on = `${this.sqlName} (${columns(fields)}) WHERE ${live} AND ${given}`;
				return [name, `UNIQUE INDEX IF NOT EXISTS ${name} ON ${on}`];
			}),
		]);
	}

	private createIndexes(): void {
		for (const index of this.indexes().values()) this.database.exec(`CREATE ${index}`);
	}
}

const documentOf = (row: Record<string, unknown>): string => row['document'] as string;

/** The SQL for the value of a custom field. Keys are plain words, so they need no quoting. */
export const customField = (key: string): string => `document ->> '$.custom_fields.${key}'`;

const allOf = (conditions: Condition[]): string =>
	conditions.map(({ sql }) => `(${sql})`).join(' AND ') || 'true';

const valuesOf = (conditions: Condition[]): Cell[] => conditions.flatMap(({ values }) => values);
