import { type IDataObject, type ITriggerFunctions, NodeApiError } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { isTransient } from '../../api/http/retry';
import { unauthorized } from '../../api/http/statuses';
import { inParallel } from '../../api/inParallel';
import { isWebPage } from '../../api/record';
import type { Clock } from '../../base/clock';
import { chunks } from '../../base/lists';
import { RecentMap } from '../../base/maps';
import { causeOf, noOrigin } from '../../log/cause';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog, type Newest } from '../../log/eventLog';
import { eventOutput, namedRecords } from '../eventOutput';
import { type Input, type Ledger, type OpenGroup, roomForGroups } from './openGroups';
import type { PollChoice } from './pollProperties';
import { type Group, groupOfEvents, groupOfRecords, maxLag, memberIds, needsRecords, type Position, typesToRead, wasChosen } from './position';
import { RecordBehindError, type RecordReader } from './records';
import type { LoadFailure } from './reports';

/** A trigger as the user has published it, until it is closed or opened again. */
export interface Opening {
	n8n: ITriggerFunctions;
	clock: Clock;
	choice: PollChoice;
	/** Aborted at its end. */
	signal: AbortSignal;
}

/** What a trigger reads with, by one credential. */
export interface Access {
	api: Connection;
	log: EventLog;
	/** Absent for events. */
	records: RecordReader | undefined;
}

/** How far a trigger has come. */
interface Reached {
	position: Position;
	ledger: Ledger;
}

/** What a reading has found. It is applied in one step, since the position may be stored at any time. */
export interface GroupReading {
	/** What changes in the position. */
	moved: Partial<Position>;
	/** The new groups, with what was read of them. */
	groups: Array<{ group: Group; input: Input }>;
	/** Whether more can be read at once. */
	hasMore: boolean;
	/** Tells the user that events may be missing. */
	notice?: string | undefined;
}

/** The items of a group, but for the failures. */
interface Loaded {
	items: IDataObject[];
	failures: LoadFailure[];
}

/** Maximum number of events per reading, filtered ones included. */
const maxRead = 10_000;

/** Page size of a backfill, at least. */
const backfillPage = 100;

/** Milliseconds for which the names of linked records are remembered. */
const maxNameAge = 60_000;

/** Number of reads that may return records older than their events; they take longer than a replica may lag. */
const maxBehind = 2;

/** Reads groups with one credential: those of existing records first, then those of new events. */
export class GroupReader {
	readonly access: Access;
	isReading = false;
	private readonly opening: Opening;
	/** When to read next (Unix epoch ms). */
	private nextRead = -Infinity;
	/** A newest event, and when it was first seen (Unix epoch ms). After `maxLag`, every replica shows it. */
	private mark = { sequence: 0, since: -Infinity };
	/** A connection remembers names, which may change: the current one, and since when (Unix epoch ms). */
	private names = { api: {} as Connection, since: -Infinity };

	constructor(access: Access, opening: Opening) {
		this.access = access;
		this.opening = opening;
	}

	/** When to read next, or to see whether there is room (Unix epoch ms). */
	nextLook({ position: { backfill }, ledger }: Reached): number {
		const { clock, choice: { groupSize, interval } } = this.opening;
		const now = clock.now();
		return roomForGroups(ledger, now, groupSize) > 0 ? Math.max(this.nextRead, backfill?.ready ?? -Infinity) : now + interval;
	}

	/** Reads new groups. @param reached how far the trigger has come, which changes meanwhile */
	async read(reached: Reached): Promise<GroupReading> {
		const { clock, choice: { groupSize, interval } } = this.opening;
		const room = roomForGroups(reached.ledger, clock.now(), groupSize);
		this.isReading = true;
		const reading = await this.readGroups(reached.position, room).finally(() => (this.isReading = false));
		// A new beginning or scope may re-read open groups.
		const open = new Set(reached.ledger.open.map(({ group }) => group.name));
		// All triggers with this interval look at the same time.
		this.nextRead = reading.hasMore ? -Infinity : clock.now() + interval - (clock.now() % interval);
		return { ...reading, groups: reading.groups.filter(({ group }) => !open.has(group.name)) };
	}

	private async readGroups(position: Position, room: number): Promise<GroupReading> {
		const { access: { records }, opening: { choice: { groupSize } } } = this;
		const { backfill } = position;
		if (!backfill || !records) return await this.readEvents(position, room * groupSize);
		const { records: found, last } = await records.next(backfill, Math.max(groupSize, backfillPage));
		const groups = chunks(found, groupSize)
			.map((members) => ({ group: groupOfRecords(members, position, backfill), input: records.asExisting(members) }));
		return { moved: { backfill: last && { ...backfill, last } }, groups, hasMore: true };
	}

	/**
	 * Reads the events above a position, up to about `limit` to start. The log is in commit order, so all that is new is above
	 * the position. A replica may lag, but leaves nothing out before its end.
	 */
	private async readEvents(position: Position, limit: number): Promise<GroupReading> {
		const { access: { api, log }, opening: { clock, choice: { groupSize, interval } } } = this;
		// What others have seen before this trigger was opened may be of a log that was restored since.
		const maxAge = this.nextRead === -Infinity ? 0 : Math.min(interval / 2, maxLookAge);
		const { newest, at } = await sharedLook(api.viewer, maxAge, clock, async () => await log.newest());
		// The events of an empty log have expired.
		if (!newest) return nothing;
		const continues = await this.continues(position, newest, at);
		if (continues === 'no') return await this.beginOtherLog(position, newest);
		if (continues === 'unknown' || newest.sequence <= position.sequence) return nothing;

		const found: CrmEvent[] = [];
		let read = 0;
		let last: CrmEvent | undefined;
		for await (const event of log.after(position.sequence, typesToRead(position))) {
			// A log that was restored since the look is detected at the next one.
			if (event.sequence > newest.sequence) break;
			if (!causeOf(event).isReported && position.choice.filter.ignored?.keys.length) api.notices.add(noOrigin);
			if (wasChosen(position, event)) found.push(event);
			last = event;
			if (found.length >= limit || ++read >= maxRead) break;
		}
		const hasMore = found.length >= limit || read >= maxRead;
		const { mark } = this;
		const isMarkShown = at - mark.since >= maxLag;
		// A look may have waited for its turn since it was requested.
		if (isMarkShown) this.mark = { sequence: newest.sequence, since: clock.now() };
		const sequence = Math.max(position.sequence, last?.sequence ?? 0, !hasMore && isMarkShown ? mark.sequence : 0);
		const moved = {
			sequence,
			replaced: position.replaced.filter(({ lastPossiblyBefore }) => lastPossiblyBefore > sequence),
			newest,
			at: new Date(clock.now()).toISOString(),
		};
		const groups = chunks(found, groupSize).map((events) => ({ group: groupOfEvents(events, position), input: events }));
		return { moved, groups, hasMore };
	}

	/** Whether the log is the one of the position, judging by the newest event that is known. */
	private async continues({ newest: lastKnown, at: readAt }: Position, newest: Newest, at: number): Promise<'yes' | 'no' | 'unknown'> {
		if (!lastKnown || newest.identity === lastKnown.identity) return 'yes';
		// Every replica shows what was known that long ago.
		if (newest.sequence < lastKnown.sequence) return at - Date.parse(readAt) >= maxLag ? 'no' : 'unknown';
		const { value: event } = await this.access.log.after(lastKnown.sequence - 1, [], 1).next();
		// An event that has expired, or that this user does not see, tells nothing.
		if (!event) return 'unknown';
		return event.sequence === lastKnown.sequence && eventIdentity(event) !== lastKnown.identity ? 'no' : 'yes';
	}

	/** Moves to where the next reading continues in a restored log: at what has happened since the newest event that was known. */
	private async beginOtherLog(position: Position, newest: Newest): Promise<GroupReading> {
		// Older events of the same instant were read.
		const since = new Date(Date.parse(position.newest!.timestamp) + 1).toISOString();
		const first = await this.access.log.firstSince(since);
		// A replica may not show it yet.
		if (!first && Date.parse(newest.timestamp) >= Date.parse(since)) return nothing;
		const sequence = Math.min(position.sequence, first ? first.sequence - 1 : newest.sequence);
		this.mark = { sequence: 0, since: -Infinity };
		return { ...nothing, moved: { sequence, newest, replaced: [], at: new Date(this.opening.clock.now()).toISOString() }, notice: otherLog(since) };
	}

	/** Reads the items of a group, even if the user has chosen another beginning since. */
	async load({ group, input, failedReadings }: OpenGroup): Promise<Loaded> {
		const { access: { log, records }, opening: { clock, choice: { events: { output } } } } = this;
		const ids = memberIds(group);
		// It is set aside when the ledger next looks at the time.
		if (needsRecords(group) && !records) return { items: [], failures: [{ ids, error: new Error('the trigger starts on events now'), isFinal: false }] };
		if (clock.now() - this.names.since > maxNameAge) this.names = { api: { ...this.access.api }, since: clock.now() };
		const { api } = this.names;
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
			items: await namedRecords(api, parts.flatMap(({ items }) => items), output.names, records?.options.recordType),
			failures: parts.flatMap(({ failures }) => failures),
		};
	}
}

const nothing: GroupReading = { moved: {}, groups: [], hasMore: false };

const otherLog = (since: string): string =>
	`The event log no longer has what this trigger has read: the CRM may have been restored from a backup or reset, or the credential may see less than before. The trigger continues with the events since ${since}. Events that the CRM has lost are missing`;

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

/** Maximum age (ms) of a look at the log that triggers share: all with one interval look at the same time. */
const maxLookAge = 5_000;

/** The latest request for the newest event, and when it was sent (Unix epoch ms), per group of users who see the same events. */
let looks = new RecentMap<string, { newest: Promise<Newest | undefined>; at: number }>(1_000);

/** Clears the memory of this process, as a restart would. */
export function forgetLooks(): void {
	looks = new RecentMap(1_000);
}

/**
 * Looks for the newest event of a log, once for all triggers that look at about the same time: fifty idle triggers cost no
 * more than one.
 *
 * @param viewer equal for credentials that see the same events
 * @param maxAge maximum age of an answer in milliseconds
 */
export async function sharedLook(viewer: string, maxAge: number, clock: Clock, newest: () => Promise<Newest | undefined>) {
	const at = clock.now();
	const previous = looks.get(viewer);
	const look = previous && at - previous.at < maxAge ? previous : { newest: newest(), at };
	looks.set(viewer, look);
	// After a failure, the next caller queries the service.
	look.newest.catch(() => (looks.get(viewer) === look ? looks.delete(viewer) : undefined));
	return { at: look.at, newest: await look.newest };
}
