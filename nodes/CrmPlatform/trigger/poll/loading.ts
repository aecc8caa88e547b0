import { type IDataObject, type ITriggerFunctions, NodeApiError } from 'n8n-workflow';

import { isTransient } from '../../api/http/retry';
import { unauthorized } from '../../api/http/statuses';
import { inParallel } from '../../api/inParallel';
import { isWebPage } from '../../api/refusals';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog } from '../../log/eventLog';
import { eventOutput, withNamesOfLinks } from '../eventOutput';
import { debugLeftOut } from '../triggerContext';
import { type GroupItems, type LedgerEntry, type Group, memberIds, memberNoun, needsRecords } from './ledger';
import type { Access, PublishedTrigger } from './pollSettings';
import type { ChangedRecord } from './records';

/** Milliseconds for which the names of linked records are remembered. */
const maxNameAge = 60_000;

/** Number of reads that a replica may answer that lags; they take longer than that. */
const maxLagging = 2;

/** Returns what reads the items of a group with one credential, even if the user has chosen another beginning since */
export function groupLoader({ api, log, records }: Access, { n8n, clock, settings }: PublishedTrigger): (entry: LedgerEntry) => Promise<GroupItems> {
	const { output } = settings.events;
	/** A copy of the connection, made at this time (Unix epoch ms): each remembers the names of records, which may change. */
	let [connection, copiedAt] = [api, -Infinity];
	const ofEvents = async ({ group, input, failedReadings }: LedgerEntry): Promise<GroupItems[]> => {
		const events = (input as CrmEvent[] | undefined) ?? (await eventsOf(group, log));
		const parts = needsRecords(group)
			? [await partOf(events, records!.changed(events, failedReadings < maxLagging).then((changes) => itemsOfChanges(n8n, changes)))]
			: await inParallel(events, async (event) =>
				await partOf([event], eventOutput(event, output, connection).then((item) => ({ items: [item], failures: [] }))));
		return [{ items: [], failures: missing(group, events, 'the event log no longer has it') }, ...parts];
	};
	return async (entry) => {
		if (clock.now() - copiedAt > maxNameAge) [connection, copiedAt] = [{ ...api }, clock.now()];
		const { group, input } = entry;
		// Changes since the backfill has read the records are reported by later events.
		const parts = memberNoun(group) === 'records'
			? [await partOf(group.members, recordsOf(group, input ?? records!.existing(memberIds(group))))]
			: await ofEvents(entry);
		return {
			items: await withNamesOfLinks(connection, parts.flatMap(({ items }) => items), output.names, records?.scope.template),
			failures: parts.flatMap(({ failures }) => failures),
		};
	};
}

/** The items of records. One that was deleted has an event for that, but a list may also lag, or hide it from another credential. */
async function recordsOf(group: Group, reading: IDataObject[] | Promise<IDataObject[]>): Promise<GroupItems> {
	const items = await reading;
	return { items, failures: missing(group, items, 'the CRM no longer lists it among the chosen records') };
}

function itemsOfChanges(n8n: ITriggerFunctions, changes: ChangedRecord[]): GroupItems {
	const failures: GroupItems['failures'] = [];
	for (const { events, item, isBehind } of changes) {
		const ids = events.map(({ id }) => id);
		const why = `The CRM does not yet return the record ${String(events[0]!.data.object.id)} in the state that the event ${ids.at(-1)} reports`;
		if (isBehind) failures.push({ ids, error: new Error(why), isFinal: true });
		else if (!item) debugLeftOut(n8n, ids, 'there is nothing to report about its record');
	}
	return { items: changes.flatMap(({ item, isBehind }) => (isBehind || !item ? [] : [item])), failures };
}

function missing(group: Group, found: Array<{ id?: unknown }>, why: string): GroupItems['failures'] {
	const ids = memberIds(group).filter((id) => !found.some((other) => String(other.id) === id));
	return ids.length > 0 ? [{ ids, error: new Error(why), isFinal: true }] : [];
}

/** Part of a group; it is missing as a whole if it cannot be read. */
const partOf = async (members: Array<{ id: string }>, reading: Promise<GroupItems>): Promise<GroupItems> =>
	await reading.catch((error: Error) => ({ items: [], failures: [{ ids: members.map(({ id }) => id), error, isFinal: isReadRefused(error) }] }));

/** Whether the service refused this request: the cause is not the connection, the whole service or the rate limit. */
function isReadRefused(error: unknown): boolean {
	if (!(error instanceof NodeApiError)) return !(error instanceof TypeError);
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
	let unread = members.map(({ event }) => event!.sequence);
	while (unread.length > 0) {
		const [first, last] = [unread[0]!, unread.at(-1)!];
		let readTo = first;
		// One request covers this range; events farther away are requested by their sequence.
		for await (const event of log.after(first - 1, types, Math.min(maxPartSize, last - first + 1))) {
			readTo = Math.max(readTo, event.sequence);
			found.set(eventIdentity(event), event);
			// The limit counts events: it may lie beyond the last one.
			if (event.sequence >= last) break;
		}
		unread = unread.filter((sequence) => sequence > readTo);
	}
	return members.flatMap(({ id, event }) => found.get(eventIdentity({ id, timestamp: event!.timestamp })) ?? []);
}
