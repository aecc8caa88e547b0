import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod/v4';
import { parameterProblem, type Problem } from '../../core/foundation/problem.ts';
import type { AccountKey } from '../../core/store/credentials/account-key.ts';
import type { Cell } from '../../core/store/records/columns.ts';

const cursorSchema = z.strictObject({ after: z.array(z.union([z.string(), z.number()])), list: z.string() });

/** Length of the signature in bytes: half of an HMAC-SHA256 is enough (RFC 2104, 5). */
const signatureLength = 16;

/**
 * Encodes the position in a list: after the row with these values of the sort columns. The cursor is
 * signed, so that an altered one is refused instead of continuing at another position.
 */
export function encodeCursor(key: AccountKey, after: Cell[], list: string): string {
	const text = JSON.stringify({ after, list });
	return Buffer.concat([signatureOf(key, text), Buffer.from(text)]).toString('base64url');
}

/**
 * @param list the fingerprint of the list: a cursor is valid for one set of filters and one order
 * @throws Problem invalid_cursor
 */
export function decodeCursor(key: AccountKey, cursor: string, list: string): Cell[] {
	const bytes = Buffer.from(cursor, 'base64url');
	const text = bytes.subarray(signatureLength).toString();
	const signature = bytes.subarray(0, signatureLength);
	// Base64 decoding is lenient, so several texts decode to the same bytes.
	const isWhole = signature.length === signatureLength && bytes.toString('base64url') === cursor;
	if (!isWhole || !timingSafeEqual(signature, signatureOf(key, text))) {
		throw invalidCursor('It was not issued by this service, or was altered.');
	}
	const { after, list: issuedFor } = cursorSchema.parse(JSON.parse(text));
	if (issuedFor === list) return after;
	throw invalidCursor('It belongs to a list with other filters or another order.');
}

/** The fingerprint of a list, equal for requests that differ only in cursor, limit and fields. */
export const listFingerprint = (...parts: unknown[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 16);

const signatureOf = (key: AccountKey, text: string): Buffer => key.mac('cursor', text).subarray(0, signatureLength);

const invalidCursor = (reason: string): Problem =>
	parameterProblem('invalid_cursor', 'cursor', `The cursor is not valid. ${reason} Start again without a cursor.`);
