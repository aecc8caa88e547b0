import type { StatementSync } from 'node:sqlite';
import type { Query, Row } from './query.ts';

/** Maximum amount of text on a page, in characters; a single record may have more. */
const maxPageSize = 2_000_000;

/** Reads the rows of a query. For a page, it stops one row after the page is full, which shows that more follow. */
export function readRows(statement: StatementSync, query: Pick<Query, 'values' | 'isPage'>): Row[];
/** @returns undefined if they have more text than `maxSize` */
export function readRows(statement: StatementSync, query: Pick<Query, 'values' | 'isPage'>, maxSize: number): Row[] | undefined;
export function readRows(
	statement: StatementSync,
	{ values, isPage }: Pick<Query, 'values' | 'isPage'>,
	maxSize = Infinity,
): Row[] | undefined {
	if (!isPage) return statement.all(...values);
	const rows: Row[] = [];
	let size = 0;
	for (const row of statement.iterate(...values)) {
		rows.push(row);
		size += sizeOf(row);
		if (size > maxSize) return undefined;
		if (size > maxPageSize && rows.length > 1) break;
	}
	return rows;
}

/** Part of the rows of one query, identified by its index. */
export type PartOfRows = [query: number, rows: Row[]];

/** Characters of text that are received from another thread without yielding. */
const partSize = 256 * 1024;

/** Splits the rows of queries into parts of limited size; a larger row is its own part. */
export function partsOf(results: Row[][]): PartOfRows[] {
	return results.flatMap((rows, query) => {
		const parts: PartOfRows[] = [];
		let size = Infinity;
		for (const row of rows) {
			size += sizeOf(row);
			if (size <= partSize) {
				parts.at(-1)![1].push(row);
				continue;
			}
			parts.push([query, [row]]);
			size = sizeOf(row);
		}
		return parts;
	});
}

/**
 * Cuts rows where the page ends: at the limit, or earlier if they are large.
 *
 * @param rows of `readRows`, with a query for one row more than the limit
 */
export function pageOf(rows: Row[], limit: number): { page: Row[]; hasMore: boolean } {
	let count = 0;
	let size = 0;
	for (const row of rows.slice(0, limit)) {
		size += sizeOf(row);
		if (size > maxPageSize && count > 0) break;
		count += 1;
	}
	return { page: rows.slice(0, count), hasMore: rows.length > count };
}

function sizeOf(row: Row): number {
	let size = 0;
	for (const name in row) {
		const value = row[name];
		if (typeof value === 'string') size += value.length;
	}
	return size;
}
