import type { DatabaseSync } from 'node:sqlite';
import { type Cell, customField, quoted } from './columns.ts';
import { allOf, type Condition, equals } from './condition.ts';
import { parseRecord } from './record-json.ts';
import { live, sqlName } from './table-definition.ts';
import type { Resource, StoredRecord } from '../../schemas/resource.ts';
import { getOrCreate } from '../../foundation/json.ts';

/** SQLite returns all rows for a negative limit. */
const unlimited = -1;

/** A query of a table: conditions, order, and the position to start after. */
export interface Selection {
	conditions: Condition[];
	/** The order; its last column is the id. */
	order: Order[];
	/** One value for each column of the order. */
	after: Cell[] | undefined;
	includeDeleted: boolean;
	limit: number;
}

/** A page of a list. */
interface ListedPage {
	/** The records as JSON. */
	documents: string[];
	/** The values of the last record in the columns of the order, from which the next page continues, if there is one. */
	end: Cell[] | undefined;
	/** The number of records in the whole list. */
	total: number;
}

/** The parts of a table that every reader of it shares. */
interface RecordSource {
	resource: Resource;
	database: DatabaseSync;
	/** The prepared statements, by their SQL: preparing one takes longer than finding a record with it. */
	statements: Memory;
	/** What was read since the last change of the table. */
	cache: Memory;
}

/** Reads the records of a table that match the conditions of a view, such as those visible to a user. */
export class RecordReader {
	readonly resource: Resource;
	readonly source: RecordSource;
	/** The name of the table in SQL. */
	protected readonly name: string;
	/** Conditions that hold for every record that this reader finds. */
	private readonly visible: readonly Condition[];

	constructor(source: RecordSource, visible: readonly Condition[]) {
		this.source = source;
		this.resource = source.resource;
		this.name = sqlName(source.resource);
		this.visible = visible;
	}

	/** Finds a live record. */
	find(id: string): StoredRecord | undefined {
		return this.findAll([equals('id', id)], 1)[0];
	}

	/** Finds a record, deleted or not. */
	findEver(id: string): StoredRecord | undefined {
		const selection = { conditions: [equals('id', id)], order: [], after: undefined, includeDeleted: true, limit: 1 };
		return this.page(selection).map(parseRecord)[0];
	}

	/** Finds live records that meet all conditions; all of them, unless there is a limit. */
	findAll(conditions: Condition[], limit = unlimited): StoredRecord[] {
		const selection = { conditions, order: [], after: undefined, includeDeleted: false, limit };
		return this.page(selection).map(parseRecord);
	}

	/** Finds live records by the value of a custom field, which gets an index when it is first looked up. */
	findByCustomField(key: string, value: Cell, limit: number): StoredRecord[] {
		this.run(`CREATE INDEX IF NOT EXISTS ${this.name}_by_custom_${key} ON ${this.name} (${customField(key)})`, []);
		return this.findAll([{ sql: `${customField(key)} = ?`, values: [value] }], limit);
	}

	/** Reads records as JSON texts. */
	page(selection: Selection): string[] {
		return this.rows(selection).map((row) => row['document'] as string);
	}

	/** Whether a record can be seen, deleted or not. */
	sees(id: string): boolean {
		return this.visible.length === 0 || this.findEver(id) !== undefined;
	}

	/** Counts exactly. The total is cached until the table changes. */
	count(conditions: Condition[], { includeDeleted = false } = {}): number {
		const { sql, values } = this.where(conditions, includeDeleted);
		const read = () => this.run(`SELECT count(*) AS total FROM ${this.name} WHERE ${sql}`, values)[0]!['total'] as number;
		// The cache is not cleared when another table changes.
		if ([...conditions, ...this.visible].some(({ readsOtherTables }) => readsOtherTables)) return read();
		return this.source.cache.get(`total ${JSON.stringify([sql, values])}`, read);
	}

	/** Reads a page, and counts all records that meet the conditions. */
	list(selection: Selection): ListedPage {
		const { conditions, order, includeDeleted, limit } = selection;
		const rows = this.rows({ ...selection, limit: limit + 1 });
		const page = rows.slice(0, limit);
		const last = rows.length > limit ? page.at(-1) : undefined;
		return {
			documents: page.map((row) => row['document'] as string),
			end: last && order.map(({ column }) => last[column] as Cell),
			total: this.count(conditions, { includeDeleted }),
		};
	}

	private rows({ conditions, order, after, includeDeleted, limit }: Selection): Array<Record<string, unknown>> {
		const { sql, values } = this.where(after ? [...conditions, keysetCondition(order, after)] : conditions, includeDeleted);
		const columns = ['document', ...order.map(({ column }) => quoted(column))];
		return this.run(`SELECT ${columns.join()} FROM ${this.name} WHERE ${sql} ${orderBy(order)} LIMIT ?`, [...values, limit]);
	}

	private where(conditions: Condition[], includeDeleted: boolean): Condition {
		return allOf([...conditions, ...this.visible, ...(includeDeleted ? [] : [{ sql: live, values: [] }])]);
	}

	protected run(sql: string, values: Cell[] = []): Array<Record<string, unknown>> {
		const { statements, database } = this.source;
		return statements.get(sql, () => database.prepare(sql)).all(...values);
	}
}

function orderBy(order: Order[]): string {
	const columns = order.map(({ column, descending }) => `${quoted(column)}${descending ? ' DESC' : ''}`);
	return columns.length > 0 ? `ORDER BY ${columns.join()}` : '';
}

export interface Order {
	column: string;
	descending: boolean;
}

/**
 * Selects the rows that follow the row with these values. Adjacent columns with the same direction are
 * compared as one row value, which SQLite evaluates with an index on them; where the direction changes,
 * later columns count only if all earlier ones are equal.
 *
 * @param order the whole order; its last column is unique
 * @param values one for each column of the order
 */
export function keysetCondition(order: Order[], values: Cell[]): Condition {
	const runs: Array<{ columns: string[]; values: Cell[]; descending: boolean }> = [];
	for (const [i, { column, descending }] of order.entries()) {
		const last = runs.at(-1);
		if (last && last.descending === descending) {
			last.columns.push(column);
			last.values.push(values[i]!);
		} else {
			runs.push({ columns: [column], values: [values[i]!], descending });
		}
	}
	return runs.reduceRight<Condition | undefined>((later, run) => {
		const compare = (operator: string) =>
			`(${run.columns.map(quoted).join()}) ${operator} (${run.columns.map(() => '?').join()})`;
		const operator = run.descending ? '<' : '>';
		if (!later) return { sql: compare(operator), values: run.values };
		return {
			// The first part suffices for the index; the second excludes earlier rows.
			sql: `${compare(`${operator}=`)} AND (${compare(operator)} OR ${later.sql})`,
			values: [...run.values, ...run.values, ...later.values],
		};
	}, undefined)!;
}

const maxRemembered = 1000;

/** Values that were read or made before, by key. */
export class Memory {
	private readonly values = new Map<string, unknown>();

	/** Returns the value, which is made if it is not remembered. */
	get<T>(key: string, make: () => T): T {
		if (this.values.size >= maxRemembered) this.values.clear();
		return getOrCreate(this.values, key, make) as T;
	}

	clear(): void {
		this.values.clear();
	}
}
