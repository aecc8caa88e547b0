import { resources } from '../../core/schemas/index.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { recordJson } from '../../core/store/records/record-json.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';

/** A record with a strong ETag (RFC 9110, 8.8.3). */
export const recordResponse = (status: number, record: StoredRecord, headers: Record<string, string> = {}): ResponseData => ({
	status,
	headers: { 'Content-Type': 'application/json', ETag: etag(record), ...headers },
	body: recordJson(record),
	id: record.id,
});

const unversioned = new Map([...resources, webhooks].map(({ object, unversioned: fields = [] }) => [object, fields]));

/** The version, followed by the fields that the service sets without a new version: equal tags mean equal bodies. */
export function etag(record: StoredRecord): string {
	const fields = unversioned.get(String(record['object'])) ?? [];
	const more = fields.map((field) => `.${String(record[field] ?? '').replaceAll(/\W/g, '')}`);
	return `"${record.version}${more.join('')}"`;
}

/** Whether a tag names this version, with or without the unversioned fields. A weak tag never matches. */
export const matchesVersion = (tag: string, { version }: StoredRecord): boolean =>
	/^"(\d+)(\.\w*)*"$/.exec(tag.trim())?.[1] === String(version);
