import { accountId } from '../foundation/account-id.ts';
import type { StoredEvent } from '../store/event-reader.ts';

/** An event as it is sent and answered: always the same bytes, so that a signature stays good. */
export function eventJson(event: StoredEvent): string {
	const { id, type, timestamp, sequence, actor, request, data } = event;
	const version = { api_version: 'v1', account_id: accountId };
	const about = { id, type, timestamp, ...version, sequence, actor, request };
	return `${JSON.stringify(about).slice(0, -1)},"data":${data}}`;
}
