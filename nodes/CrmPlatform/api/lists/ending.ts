import type { Signs } from './signs';

/** What is known about a list after one of its pages has arrived. */
export interface ReadSoFar {
	/** Records on this page. */
	received: number;
	/** Records read so far, this page included; undefined where the reading began in the middle. */
	read: number | undefined;
	/** The total that the first page reported, and by how much it has risen and fallen since. */
	firstTotal: number | undefined;
	changes: number;
	/** The largest page so far. */
	largestPageSize: number;
	/** Whether this is the first page of the list. */
	isFirst: boolean;
	/** Whether an earlier page said where the next one begins. */
	hadCursor: boolean;
	/** Whether the page is full, as far as is known. */
	isFull: boolean;
	/** Whether the page names its own cursor as the next one. */
	isRepeated: boolean;
	/** Whether the service has pages: its description names a cursor or a size of pages. */
	isPaged: boolean;
	/** Whether a page of fewer records can be asked for. */
	canBeSmaller: boolean;
	/** Whether this list is known to omit the cursor on its last page. */
	leavesCursorOut: boolean;
}

export type Ending =
	| { next: string }
	| 'end'
	/** Request a smaller page: if it names a next page, the list always does so. */
	| 'ask'
	| 'endless'
	/** The member that leaves open whether the list ends, and how many records were read. */
	| { unclear: string; read?: number | undefined };

/**
 * Whether a list ends with a page. Follows the table in docs/reading.md from top to bottom. Unless the end is
 * certain, reading fails with an error.
 */
export function endingOf({ cursor, more, maybe, isLast, total }: Signs, so: ReadSoFar): Ending {
	const isShort = total !== undefined && so.read !== undefined && total > so.read;
	if (typeof cursor === 'string') {
		const isOver = so.received === 0 && more === undefined && !isShort && (so.isRepeated || isLast);
		if (isOver) return 'end';
		return so.isRepeated ? 'endless' : { next: cursor };
	}
	if (isShort && (so.isFirst || isLost(so, total))) return { unclear: 'total', read: so.read };
	if (more !== undefined) return { unclear: more };
	if (cursor === null) return 'end';

	// The answer has no cursor at all.
	const isAllRead = total !== undefined && so.read !== undefined && so.read >= total;
	if (isAllRead || isLast) return 'end';
	if (so.isFirst && maybe !== undefined) return { unclear: maybe };
	if (so.received === 0 || !so.isPaged) return 'end';
	if (!so.isFull && (so.hadCursor || so.leavesCursorOut)) return 'end';
	if (so.canBeSmaller) return 'ask';
	// A page of one record cannot be made smaller.
	return so.hadCursor || (so.received === 1 && !so.isFull) ? 'end' : { unclear: 'next_cursor' };
}

/**
 * Whether records are missing at the end of a list that others change meanwhile: the first page and this one
 * counted more records than were read, by more than the changes in the totals explain, and the list ends as a
 * truncated one does.
 */
function isLost({ read = 0, firstTotal = 0, changes, largestPageSize, received, isFull }: ReadSoFar, total: number): boolean {
	const missing = Math.min(firstTotal, total) - read;
	return missing > 2 * changes && (isFull || received === 0 || missing >= largestPageSize);
}
