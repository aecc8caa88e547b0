import { createHash } from 'node:crypto';
import { z } from 'zod/v4';
import { Problem } from '../problem.ts';
import type { Cell } from '../store/columns.ts';

const content = z.strictObject({
	after: z.array(z.union([z.string(), z.number()])),
	list: z.string(),
});

/** Where a list goes on: after the row with these values of the columns it is sorted by. */
export const encodeCursor = (after: Cell[], list: string): string =>
	Buffer.from(JSON.stringify({ after, list })).toString('base64url');

/**
 * @param list as `listFingerprint` makes it: a cursor is good for one set of filters and one order
 * @param length how many columns the list is sorted by
 * @throws Problem invalid_cursor
 */
export function decodeCursor(cursor: string, list: string, length: number): Cell[] {
	const parsed = content.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()));
	if (!parsed.success) throw invalidCursor('It was not issued by this service.');
	if (parsed.data.list !== list || parsed.data.after.length !== length) {
		throw invalidCursor('It belongs to a list with other filters or another order.');
	}
	return parsed.data.after;
}

/** Equal for requests that differ in cursor, limit and fields only. */
export const listFingerprint = (...parts: unknown[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);

const invalidCursor = (reason: string) => {
	const detail = `The cursor cannot be used. ${reason} Start again without a cursor.`;
	return new Problem('invalid_cursor', detail, {
		errors: [{ parameter: 'cursor', code: 'invalid_cursor', detail }],
	});
};

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
