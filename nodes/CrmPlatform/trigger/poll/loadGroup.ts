import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog } from '../../log/eventLog';
import { isWebPage } from '../../api/record';
import { isTransient } from '../../api/http/retry';
import { inParallel } from '../../api/inParallel';
import { unauthorized } from '../../api/http/statuses';
import { eventOutput, type EventOutput, namedRecords } from '../eventOutput';
import type { OpenGroup } from './openGroups';
import { type Group, memberIds, needsRecords } from './position';
import type { LoadFailure } from './reports';
import { RecordBehindError, type RecordReader } from './records';

export interface Loaded {
	items: IDataObject[];
	failures: LoadFailure[];
}

interface LoadOptions {
	api: Connection;
	/** The connection that looks names up, and remembers them. */
	names: Connection;
	log: EventLog;
	/** The reader of the records; absent for events. */
	records?: RecordReader | undefined;
	output: EventOutput;
}

/** Number of reads that may return records older than their events; they take longer than a replica may lag. */
const maxBehind = 2;

/** Reads the items of a group, even if the user has chosen another beginning since. */
export async function loadGroup({ group, input, failedReadings }: OpenGroup, { api, names, log, records, output }: LoadOptions): Promise<Loaded> {
	const ids = memberIds(group);
	// It is set aside when the ledger next looks at the time.
	if (needsRecords(group) && !records) return { items: [], failures: [{ ids, error: new Error('the trigger starts on events now'), isFinal: false }] };
	const parts: Loaded[] = [];
	if (group.kind === 'records') {
		// Changes since the backfill has read them are reported by later events.
		parts.push(await settled(ids, input ?? records!.existing(ids)));
	} else {
		const events = (input as CrmEvent[] | undefined) ?? (await eventsOf(group, log));
		const gone = ids.filter((id) => !events.some((event) => event.id === id));
		if (gone.length > 0) parts.push({ items: [], failures: [{ ids: gone, error: new Error('the event log no longer has it'), isFinal: true }] });
		if (needsRecords(group)) {
			parts.push(await settled(events.map(({ id }) => id), records!.changed(events, failedReadings < maxBehind)));
		} else {
			const read = async (event: CrmEvent) => [await eventOutput(event, output, async () => api)];
			parts.push(...(await inParallel(events, async (event) => await settled([event.id], read(event)))));
		}
	}
	return {
		items: await namedRecords(names, parts.flatMap(({ items }) => items), output.names, records?.options.recordType),
		failures: parts.flatMap(({ failures }) => failures),
	};
}

async function settled(ids: string[], reading: IDataObject[] | Promise<IDataObject[]>): Promise<Loaded> {
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
	let left = members.map(({ event }) => event!.sequence).sort((a, b) => a - b);
	while (left.length > 0) {
		const [first, last] = [left[0]!, left.at(-1)!];
		let reached = first;
		// One request covers this range; events farther away are requested by their sequence.
		for await (const event of log.after(first - 1, types, Math.min(maxPartSize, last - first + 1))) {
			reached = Math.max(reached, event.sequence);
			found.set(eventIdentity(event), event);
			if (event.sequence >= last) break;
		}
		left = left.filter((sequence) => sequence > reached);
	}
	return members.flatMap(({ id, event }) => found.get(eventIdentity({ id, timestamp: event!.timestamp })) ?? []);
}
