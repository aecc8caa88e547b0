import type { StoredRecord } from './record-types.ts';
import { Refusal } from './refusal.ts';

/** The cursor of the page after `id`. It is valid for one `list` only: its filters and its order. */
export function cursorAfter(id: string, list: string): string {
	return Buffer.from(JSON.stringify([id, list])).toString('base64url');
}

/** Where the page of this cursor begins in `records`. */
export function indexAfter(cursor: string, list: string, records: StoredRecord[]): number {
	const id = /^\["([^"]+)",/.exec(Buffer.from(cursor, 'base64url').toString())?.[1] ?? '';
	const index = records.findIndex((record) => record.id === id);
	if (index < 0 || cursor !== cursorAfter(id, list)) {
		throw new Refusal(400, 'bad_cursor', 'after is not a cursor of this list.');
	}
	return index + 1;
}
