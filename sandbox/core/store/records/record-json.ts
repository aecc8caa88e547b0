import { getOrCreate } from '../../foundation/json.ts';
import type { StoredRecord } from '../../schemas/resource.ts';
import type { ResponseData } from '../../foundation/response-data.ts';

const texts = new WeakMap<StoredRecord, string>();

/**
 * A record as JSON. It is serialized once for the table, the event and the response, which is safe
 * because records are replaced and never changed in place.
 */
export const recordJson = (record: StoredRecord): string => getOrCreate(texts, record, () => JSON.stringify(record));

/**
 * Parses the JSON of a record.
 *
 * @param text the result of `recordJson`
 */
export function parseRecord(text: string): StoredRecord {
	const record = JSON.parse(text) as StoredRecord;
	texts.set(record, text);
	return record;
}

/** A record with a strong ETag (RFC 9110, 8.8.3). */
export const recordResponse = (status: number, record: StoredRecord, headers: Record<string, string> = {}): ResponseData => ({
	status,
	headers: { 'Content-Type': 'application/json', ETag: etag(record), ...headers },
	body: recordJson(record),
	id: record.id,
});

export const etag = ({ version }: StoredRecord): string => `"${version}"`;
