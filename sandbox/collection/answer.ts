import type { StoredRecord } from '../schemas/resource.ts';
import { recordJson } from '../store/record-json.ts';

/** What a request is answered with, in a form that can be kept and answered again. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	body: string | null;
	/** Of a webhook's secret, which is put into the body when it is answered and is not kept with it. */
	secretId?: number;
	/** Of the record in the body, if it is one. */
	id?: string;
}

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

export const toResponse = (answer: Answer): Response =>
	new Response(answer.body, { status: answer.status, headers: answer.headers });
