import type { Resource, StoredRecord } from '../../schemas/resource.ts';
import { allOf, type Condition, equals, isIn } from './condition.ts';
import { live, sqlName } from './table-definition.ts';
import type { QueryCache } from './query-cache.ts';
import type { PreparedStatements } from '../threads/prepared-statements.ts';
import { readRows } from '../threads/page-rows.ts';
import type { Query, Row } from '../threads/query.ts';
import type { BackgroundReader } from '../threads/background-reader.ts';
import { documentOf, documentsOf, type ListedPage, listedOf, type RecordPage } from './page-of-records.ts';
import { idOfJson, parseRecord } from './record-json.ts';
import type { Rows } from './rows.ts';
import { countQuery, idsQuery, isIndexed, pageQuery, recordsQuery, type Selection, textsQuery } from './record-queries.ts';
import { entriesByField, valueIndex } from './value-index.ts';

/** With more matches than this, scanning in list order until the page is full is faster than sorting them. */
const maxSorted = 2000;

/** Maximum number of deleted records that a page may skip on the main thread. */
const maxSkipped = 2000;

/** SQLite returns all rows for a negative limit. */
const unlimited = -1;

/** Maximum amount of text that is read on the main thread, in characters. */
const maxQuickSize = 300_000;

/** The parts of a table that every reader of it shares. */
interface RecordSource {
	resource: Resource;
	statements: PreparedStatements;
	reader: BackgroundReader;
	rows: Rows;
	cache: QueryCache;
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
		if (this.visible.length > 0) return this.findAll([equals('id', id)], 1)[0];
		const sql = `SELECT document FROM ${this.name} WHERE id = ? AND ${live}`;
		const row = this.source.statements.get(sql).get(id);
		return row && parseRecord(documentOf(row));
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

	/** Reads records as JSON texts. */
	page(selection: Selection): string[] {
		const { sql, values } = this.pageQuery(selection);
		return this.source.statements.get(sql).all(...values).map(documentOf);
	}

	/**
	 * The ids of all records of a list in its order, as JSON lists of `limit` ids, without blocking other
	 * requests. A caller that reads the whole list sorts it once.
	 */
	async idsInOrder(selection: Selection): Promise<string[]> {
		const conditions = this.indexed([...selection.conditions, ...this.visible], false);
		const query = idsQuery(this.name, { ...selection, conditions }, selection.limit);
		const [rows] = await this.source.reader.read([query]);
		return rows!.map(({ ids }) => ids as string);
	}

	/**
	 * Reads records of a list by their ids, except those that are no longer in it, without blocking other requests.
	 *
	 * @param ids a JSON list in the order of the list
	 */
	async recordsOf(ids: string, selection: Selection): Promise<RecordPage> {
		const conditions = [...selection.conditions, ...this.visible];
		const [rows] = await this.source.reader.read([recordsQuery(this.name, { ...selection, conditions }, ids)]);
		return documentsOf(rows!, selection.limit);
	}

	/** Runs `textsQuery` without blocking other requests. */
	async newestTexts(fields: string[], limit: number): Promise<Array<{ id: string; text: string }>> {
		const [rows] = await this.source.reader.read([textsQuery(this.name, fields, this.visible, limit)]);
		return rows as Array<{ id: string; text: string }>;
	}

	/** Which of these records can be seen, deleted or not. */
	visibleAmong(ids: string[]): Set<string> {
		if (this.visible.length === 0) return new Set(ids);
		const { sql, values } = allOf([isIn('id', JSON.stringify(ids)), ...this.visible]);
		const rows = this.source.statements.get(`SELECT id FROM ${this.name} WHERE ${sql}`).all(...values);
		return new Set(rows.map((row) => String(row['id'])));
	}

	/** Whether all records of a page can be seen, deleted or not. */
	sees({ documents }: RecordPage): boolean {
		if (this.visible.length === 0) return true;
		const ids = documents.map(idOfJson);
		return this.visibleAmong(ids).size === ids.length;
	}

	/** Counts exactly. */
	count(conditions: Condition[], { includeDeleted = false } = {}): number {
		const total = this.storedTotal(conditions, includeDeleted);
		if (total !== undefined) return total;
		const read = () => {
			const { sql, values } = this.countQuery(conditions, includeDeleted);
			return totalOf(this.source.statements.get(sql).all(...values));
		};
		if (!this.isCountCacheable(conditions)) return read();
		return this.source.cache.getOrRead(this.totalKey(conditions, includeDeleted), read);
	}

	/**
	 * Reads a page, and counts all records that meet the conditions. A query that may look at many
	 * rows runs on another thread, so that other requests are answered meanwhile.
	 */
	async list(selection: Selection): Promise<ListedPage> {
		const { conditions, includeDeleted, limit } = selection;
		const query = { ...this.pageQuery({ ...selection, limit: limit + 1 }), isPage: true };
		if (this.isQuick(selection)) {
			const rows = readRows(this.source.statements.get(query.sql), query, maxQuickSize);
			if (rows) return { ...listedOf(rows, selection), total: this.count(conditions, { includeDeleted }) };
		}
		const { rows, total } = await this.readAndCount(query, conditions, includeDeleted);
		return { ...listedOf(rows, selection), total };
	}

	/** Whether a page is read from an index alone, regardless of the number of records. */
	private isQuick({ conditions, order, includeDeleted }: Selection): boolean {
		const [first] = conditions;
		if (first) return conditions.length === 1 && first.isUnique === true && !includeDeleted;
		if (this.visible.length > 0 || !isIndexed(order)) return false;
		const { rows } = this.source;
		return includeDeleted || rows.total(true) - rows.total(false) <= maxSkipped;
	}

	/** Counts exactly, without blocking other requests. */
	async countInBackground(conditions: Condition[], includeDeleted = false): Promise<number> {
		return (await this.readAndCount(undefined, conditions, includeDeleted)).total;
	}

	private async readAndCount(
		query: Query | undefined,
		conditions: Condition[],
		includeDeleted: boolean,
	): Promise<{ rows: Row[]; total: number }> {
		const { cache, reader } = this.source;
		const { changes } = cache;
		const key = this.totalKey(conditions, includeDeleted);
		const isCacheable = this.isCountCacheable(conditions);
		const knownTotal =
			this.storedTotal(conditions, includeDeleted) ?? (isCacheable ? cache.get<number>(key) : undefined);
		const queries = query ? [query] : [];
		if (knownTotal === undefined) queries.push(this.countQuery(conditions, includeDeleted));
		const read = queries.length > 0 ? await reader.read(queries) : [];
		const isUnchanged = changes === cache.changes;
		// A total that was read before a write does not match a page that was read after it.
		if (knownTotal !== undefined && !isUnchanged) return await this.readAndCount(query, conditions, includeDeleted);
		const total = knownTotal ?? totalOf(read.at(-1)!);
		if (isCacheable && isUnchanged) cache.set(key, total);
		return { rows: query ? read[0]! : [], total };
	}

	/** Whether a count depends on this table only: the cache is not cleared when another table changes. */
	private isCountCacheable(conditions: Condition[]): boolean {
		return ![...conditions, ...this.visible].some(({ readsOtherTables }) => readsOtherTables);
	}

	private pageQuery(selection: Selection) {
		const isSorted = selection.order.length > 0;
		const conditions = this.indexed([...selection.conditions, ...this.visible], isSorted);
		return pageQuery(this.name, { ...selection, conditions });
	}

	private countQuery(conditions: Condition[], includeDeleted: boolean) {
		const all = this.indexed([...conditions, ...this.visible], false);
		return countQuery(this.name, all, includeDeleted);
	}

	/**
	 * Adds a lookup in the index of custom values, if there are conditions on custom fields.
	 *
	 * @param isSorted whether the list is sorted, so that only a condition with few matches is worth a lookup
	 */
	private indexed(conditions: Condition[], isSorted: boolean): Condition[] {
		const byField = entriesByField(conditions);
		const best = byField.find((entries) => this.hasFew(entries)) ?? (isSorted ? undefined : byField[0]);
		if (!best) return conditions;
		const sql = `rowid IN (SELECT record FROM ${valueIndex(this.resource)} WHERE ${best.sql})`;
		return [...conditions, { sql, values: best.values }];
	}

	private hasFew({ sql, values }: Condition): boolean {
		const some = `SELECT 1 FROM ${valueIndex(this.resource)} WHERE ${sql} LIMIT ${maxSorted + 1}`;
		const row = this.source.statements.get(`SELECT count(*) AS count FROM (${some})`).get(...values);
		return Number(row!['count']) <= maxSorted;
	}

	/** The number of all records, which the database keeps up to date. */
	private storedTotal(conditions: Condition[], includeDeleted: boolean): number | undefined {
		if (conditions.length > 0 || this.visible.length > 0) return undefined;
		return this.source.rows.total(includeDeleted);
	}

	private totalKey(conditions: Condition[], includeDeleted: boolean): string {
		return `total ${JSON.stringify([conditions, includeDeleted, this.visible])}`;
	}
}

const totalOf = (rows: Row[]): number => rows[0]!['total'] as number;
