import { getOrCreate } from '../../foundation/json.ts';
import type { StoredRecord } from '../../schemas/resource.ts';

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
