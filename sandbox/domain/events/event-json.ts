import { accountId } from '../../core/schemas/account.ts';
import type { StoredEvent } from '../../core/store/log/event-reader.ts';

/** Serializes an event, always to the same bytes, so that signatures stay valid. */
export function eventJson(event: StoredEvent): string {
	const { id, type, timestamp, sequence, actor, request, data } = event;
	const version = { api_version: 'v1', account_id: accountId };
	const head = { id, type, timestamp, ...version, sequence, actor, request };
	return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}
