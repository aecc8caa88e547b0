import { accountId } from '../account.ts';
import type { StoredEvent } from '../store/events.ts';

/** An event as it is sent and answered: always the same bytes, so that a signature stays good. */
export function eventJson({ id, type, timestamp, sequence, actor, data }: StoredEvent): string {
	const about = { id, type, timestamp, api_version: 'v1', account_id: accountId, sequence, actor };
	return `${JSON.stringify(about).slice(0, -1)},"data":${data}}`;
}
