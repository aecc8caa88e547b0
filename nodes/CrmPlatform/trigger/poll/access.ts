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
	/** What the credential opens if it was changed; otherwise undefined. @throws as `openAccess`, and NodeApiError */
	renew: () => Promise<Access | undefined>;
}

/** @throws Error in the user's words if the service has no log, or cannot list the records as the trigger needs them */
export async function openAccess(trigger: PublishedTrigger, api: Connection): Promise<Access> {
	const { n8n, clock, settings: { scope } } = trigger;
	const report = n8n.getMode() === 'manual' ? undefined : (message: string) => sendReport(n8n, { message });
	const renew = async () => {
		const current = await connect(n8n, clock);
		return current.viewer === api.viewer ? undefined : await openAccess(trigger, current);
	};
	return { api, log: await openEventLog(api, report), records: scope && new RecordReader(api, scope), renew };
}
