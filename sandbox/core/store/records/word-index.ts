import type { DatabaseSync } from 'node:sqlite';
import type { Resource } from '../../schemas/resource.ts';
import type { Condition } from './condition.ts';
import { readRows } from '../threads/page-rows.ts';
import { searchIndex, sqlName } from './table-definition.ts';

/** Pages written per merge step, which takes a few tenths of a millisecond. */
const pagesPerMerge = 16;

/** The highest row in the index; all rows above it still have to be indexed. */
const lastRow = (resource: Resource): string => `(SELECT coalesce(max(id), 0) FROM ${searchIndex(resource)}_docsize)`;

/** Maximum number of rows that are indexed at once; fewer if they are large. */
const rowsAtOnce = 200;

/** How long work is done in pieces. */
interface Pieces {
	transaction(piece: () => boolean): boolean;
	/** When a piece that begins now should end, by `performance.now()`. */
	endOfPiece(): number;
}

/**
 * The index of words of a resource's records. Each transaction that writes to it leaves a segment, which is
 * merged with others later. Rows are therefore indexed after they were written, many at a time; until then, a
 * search scans their texts.
 */
export class WordIndex {
	/** Whether rows may wait to be indexed. */
	private isBehind = true;
	/** Whether there may be segments to merge. */
	private needsMerge = true;
	private readonly statements;

	constructor(database: DatabaseSync, resource: Resource) {
		const [index, table] = [searchIndex(resource), sqlName(resource)];
		const into = `INTO ${index} (rowid, search) VALUES (?, ?)`;
		this.statements = {
			waiting: database.prepare(`
				SELECT rowid, search FROM ${table} WHERE rowid > ${lastRow(resource)} ORDER BY rowid LIMIT ${rowsAtOnce}
			`),
			add: database.prepare(`INSERT ${into}`),
			lastRow: database.prepare(`SELECT ${lastRow(resource)} AS value`),
			// Replaces the former words of the row.
			replace: database.prepare(`INSERT OR REPLACE ${into}`),
			merge: database.prepare(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ${pagesPerMerge})`),
			changes: database.prepare('SELECT total_changes() AS value'),
		};
	}

	/** Call it when a row was added. */
	noteRow(): void {
		this.isBehind = true;
	}

	/** Replaces the words of a row, unless the row is not indexed yet. */
	replace(rowid: number, search: string): void {
		const { lastRow: last, replace } = this.statements;
		if (rowid > Number(last.get()!['value'])) return;
		replace.run(rowid, search);
		this.needsMerge = true;
	}

	/**
	 * Indexes the rows that were added, and merges segments of the index, in short pieces, each in a
	 * transaction. It ends even if rows are added meanwhile; these are indexed together later.
	 */
	*maintain({ transaction, endOfPiece }: Pieces): Generator<void, void> {
		for (let isMore = this.isBehind; isMore; yield) isMore = transaction(() => this.indexRows(endOfPiece()));
		for (; this.needsMerge; yield) this.needsMerge = transaction(() => this.mergeSegments());
	}

	/** Indexes every row that was added. */
	indexAll(): void {
		while (this.indexRows(Infinity));
	}

	/** @returns whether rows are left to index */
	private indexRows(end: number): boolean {
		const rows = readRows(this.statements.waiting, { values: [], isPage: true });
		for (const [i, row] of rows.entries()) {
			this.isBehind = i > 0 && performance.now() > end;
			if (this.isBehind) return true;
			this.statements.add.run(row['rowid'] as number, row['search'] as string);
			this.needsMerge = true;
		}
		this.isBehind = rows.length > 0;
		return rows.length === rowsAtOnce;
	}

	/** How to detect that nothing was merged: see the documentation of FTS5 (4.10.8). */
	private mergeSegments(): boolean {
		const { merge, changes } = this.statements;
		const before = changes.get()!['value'] as number;
		merge.run();
		return (changes.get()!['value'] as number) - before >= 2;
	}
}

/** Selects the rows that match a query of FTS5, and those that are not indexed yet. */
export const rowsMatching = (resource: Resource, query: string): Condition => {
	const [index, table] = [searchIndex(resource), sqlName(resource)];
	const waiting = `SELECT rowid FROM ${table} WHERE rowid > ${lastRow(resource)}`;
	return {
		sql: `rowid IN (SELECT rowid FROM ${index} WHERE ${index} MATCH ? UNION ALL ${waiting})`,
		values: [query],
	};
};
