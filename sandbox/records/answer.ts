import type { StoredRecord } from '../schemas/resource.ts';
import { recordJson } from '../store/record-json.ts';
import type { Answer } from '../foundation/answer.ts';

/** A record with its version as strong ETag (RFC 9110, 8.8.3). */
export const recordAnswer = (
	status: number,
	record: StoredRecord,
	headers: Record<string, string> = {},
): Answer => ({
	status,
	headers: { 'Content-Type': 'application/json', ETag: etag(record), ...headers },
	body: recordJson(record),
	id: record.id,
});

export const etag = (record: StoredRecord): string => `"${record.version}"`;
