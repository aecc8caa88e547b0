import type { Continuation } from './continuation';

/** What is known about a list after one of its pages has arrived. */
export interface ReadSoFar {
	/** Records on this page. */
	received: number;
	/** Records read so far, including this page; undefined if reading began in the middle. */
	read: number | undefined;
	/** The total that the first page reported, and the sum of its changes since. */
	firstTotal: number | undefined;
	changes: number;
	/** The largest page so far. */
	largestPageSize: number;
	/** Whether this is the first page of the list. */
	isFirst: boolean;
	/** Whether an earlier page named a next page. */
	hadCursor: boolean;
	/** Whether the page seems to be full. */
	isFull: boolean;
	/** Whether the page names a cursor that was already read. */
	isRepeated: boolean;
	/** Whether the service has pages: its description has a parameter for the cursor or the page size. */
	isPaged: boolean;
	/** Whether a page of fewer records can be requested. */
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
	/** The member that makes it unclear whether the list ends, and how many records were read. */
	| { unclear: string; read?: number | undefined };

/**
 * Whether a list ends with a page. Follows the table in docs/service.md from top to bottom. Unless the end is
 * certain, reading fails with an error.
 */
export function endingOf(continuation: Continuation, soFar: ReadSoFar): Ending {
	const { cursor, announcedBy, maybeAnnouncedBy, isLast, total } = continuation;
	const { received, read, isFirst, hadCursor, isFull, isRepeated, isPaged, canBeSmaller, leavesCursorOut } = soFar;
	const isShort = total !== undefined && read !== undefined && total > read;
	if (typeof cursor === 'string') {
		const isOver = received === 0 && announcedBy === undefined && !isShort && (isRepeated || isLast);
		if (isOver) return 'end';
		return isRepeated ? 'endless' : { next: cursor };
	}
	if (isShort && (isFirst || isLost(soFar, total))) return { unclear: 'total', read };
	if (announcedBy !== undefined) return { unclear: announcedBy };
	if (cursor === null) return 'end';

	// The response has no cursor at all.
	const isAllRead = total !== undefined && read !== undefined && read >= total;
	if (isAllRead || isLast) return 'end';
	if (isFirst && maybeAnnouncedBy !== undefined) return { unclear: maybeAnnouncedBy };
	if (received === 0 || !isPaged) return 'end';
	if (!isFull && (hadCursor || leavesCursorOut)) return 'end';
	if (canBeSmaller) return 'ask';
	// A page of one record cannot be made smaller.
	return hadCursor || (received === 1 && !isFull) ? 'end' : { unclear: 'next_cursor' };
}

/**
 * Whether a list that changes during the reading seems to be truncated: the first page and this one reported a higher
 * total than was read, by more than the changes of the totals explain, and the last page is full or empty, or at least a
 * whole page is missing.
 */
function isLost({ read = 0, firstTotal = 0, changes, largestPageSize, received, isFull }: ReadSoFar, total: number): boolean {
	const missing = Math.min(firstTotal, total) - read;
	return missing > 2 * changes && (isFull || received === 0 || missing >= largestPageSize);
}
