import { connect, type Connection } from '../../api/connection';
import { type EventLog, openEventLog } from '../../log/eventLog';
import type { PublishedTrigger } from './pollSettings';
import { RecordReader } from './records';
import { sendReport } from './reports';

/** What a trigger reads with, by one credential. */
export interface Access {
	api: Connection;
	log: EventLog;
	/** Absent for events. */
	records: RecordReader | undefined;
}

/** @throws Error in the user's words if the service has no log, or cannot list the records as the trigger needs them */
export async function openAccess({ n8n, settings: { scope } }: PublishedTrigger, api: Connection): Promise<Access> {
	const report = n8n.getMode() === 'manual' ? undefined : (message: string) => sendReport(n8n, { message });
	return { api, log: await openEventLog(api, report), records: scope && new RecordReader(api, scope) };
}

/** What the credential opens if it was changed; otherwise undefined. @throws as `openAccess`, and NodeApiError */
export async function renewAccess(trigger: PublishedTrigger, { viewer }: Connection): Promise<Access | undefined> {
	const api = await connect(trigger.n8n, trigger.clock);
	return api.viewer === viewer ? undefined : await openAccess(trigger, api);
}
