import { type IDataObject, NodeApiError } from 'n8n-workflow';

import { isTransient } from '../../api/http/retry';
import { unauthorized } from '../../api/http/statuses';
import { inParallel } from '../../api/inParallel';
import { isWebPage } from '../../api/record';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog } from '../../log/eventLog';
import { eventOutput, namedRecords } from '../eventOutput';
import type { OpenGroup } from './openGroups';
import type { Opening } from './openPosition';
import { type Group, memberIds, needsRecords } from './position';
import type { Access } from './reading';
import { RecordBehindError } from './records';
import type { LoadFailure } from './reports';

/** The items of a group, but for the failures. */
interface GroupItems {
	items: IDataObject[];
	failures: LoadFailure[];
}

/** Milliseconds for which the names of linked records are remembered. */
const maxNameAge = 60_000;

/** Number of reads that may return records older than their events; they take longer than a replica may lag. */
const maxBehind = 2;

/** Reads the items of a group. */
export type LoadGroup = (entry: OpenGroup) => Promise<GroupItems>;

/** Loads groups with one credential, even if the user has chosen another beginning since. */
export function groupLoader({ api, log, records }: Access, { clock, settings: { events: { output } } }: Opening): LoadGroup {
	/** A copy of the connection, which remembers names that may change, and when it was made (Unix epoch ms). */
	let connection = { api, madeAt: -Infinity };

	const loadEvents = async ({ group, input, failedReadings }: OpenGroup): Promise<GroupItems[]> => {
		const events = (input as CrmEvent[] | undefined) ?? (await eventsOf(group, log));
		const gone = memberIds(group).filter((id) => !events.some((event) => event.id === id));
		const failures = gone.length > 0 ? [{ ids: gone, error: new Error('the event log no longer has it'), isFinal: true }] : [];
		const read = async (event: CrmEvent) => [await eventOutput(event, output, async () => connection.api)];
		const parts = needsRecords(group)
			? [await itemsOrFailure(events.map(({ id }) => id), records!.changed(events, failedReadings < maxBehind))]
			: await inParallel(events, async (event) => await itemsOrFailure([event.id], read(event)));
		return [{ items: [], failures }, ...parts];
	};

	return async (entry) => {
		const { group, input } = entry;
		const ids = memberIds(group);
		// It is set aside when the ledger next looks at the time.
		if (needsRecords(group) && !records) return { items: [], failures: [{ ids, error: new Error('the trigger starts on events now'), isFinal: false }] };
		if (clock.now() - connection.madeAt > maxNameAge) connection = { api: { ...api }, madeAt: clock.now() };
		// Changes since the backfill has read them are reported by later events.
		const parts = group.kind === 'records' ? [await itemsOrFailure(ids, input ?? records!.existing(ids))] : await loadEvents(entry);
		return {
			items: await namedRecords(connection.api, parts.flatMap(({ items }) => items), output.names, records?.scope.recordType),
			failures: parts.flatMap(({ failures }) => failures),
		};
	};
}

async function itemsOrFailure(ids: string[], reading: IDataObject[] | Promise<IDataObject[]>): Promise<GroupItems> {
	try {
		return { items: await reading, failures: [] };
	} catch (error) {
		return { items: [], failures: [{ ids, error: error as Error, isFinal: isReadRefused(error) }] };
	}
}

/** Whether the service refused this request: the cause is not the connection, the whole service or the rate limit. */
function isReadRefused(error: unknown): boolean {
	if (!(error instanceof NodeApiError)) return !(error instanceof TypeError || error instanceof RecordBehindError);
	if (isWebPage(error)) return false;
	const status = Number(error.httpCode);
	return status >= 400 && status < 500 && status !== unauthorized && !isTransient({ status, headers: {} });
}

/** Number of events that are read at the same time for a group. */
const maxPartSize = 500;

/** The events of a group that the log has, however far apart they are. */
async function eventsOf({ members }: Group, log: EventLog): Promise<CrmEvent[]> {
	const found = new Map<string, CrmEvent>();
	const types = [...new Set(members.map(({ event }) => event!.type))];
	let unread = members.map(({ event }) => event!.sequence).sort((a, b) => a - b);
	while (unread.length > 0) {
		const [first, last] = [unread[0]!, unread.at(-1)!];
		let readTo = first;
		// One request covers this range; events farther away are requested by their sequence.
		for await (const event of log.after(first - 1, types, Math.min(maxPartSize, last - first + 1))) {
			readTo = Math.max(readTo, event.sequence);
			found.set(eventIdentity(event), event);
			if (event.sequence >= last) break;
		}
		unread = unread.filter((sequence) => sequence > readTo);
	}
	return members.flatMap(({ id, event }) => found.get(eventIdentity({ id, timestamp: event!.timestamp })) ?? []);
}
