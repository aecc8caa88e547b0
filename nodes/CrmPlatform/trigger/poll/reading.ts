import type { ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { Clock } from '../../base/clock';
import { chunks } from '../../base/lists';
import { causeOf, noOrigin } from '../../log/cause';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type EventLog, type Newest, type Share, unshared } from '../../log/eventLog';
import { type Loaded, loadGroup } from './loadGroup';
import { type Input, type Ledger, type OpenGroup, roomForGroups } from './openGroups';
import type { PollChoice } from './pollProperties';
import { type Group, groupOfEvents, groupOfRecords, maxLag, type Position, typesToRead, wasChosen } from './position';
import type { RecordReader } from './records';
import { sharedLook } from './sharedLook';

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

/** What a reading has found. It is applied in one step, since the position may be stored at any time. */
export interface GroupReading {
	/** What changes in the position. */
	moved: Partial<Position>;
	/** The new groups, with what was read of them. */
	groups: Array<{ group: Group; input: Input }>;
	/** Whether more can be read at once. */
	hasMore?: boolean;
	/** Tells the user that events may be missing. */
	notice?: string | undefined;
}

/** Maximum number of events per reading, filtered ones included. */
const maxRead = 10_000;

/** Maximum lag, in sequence numbers, of a trigger that shares events with others: shared events stay in memory until the next look. */
const maxShared = 1_000;

/**
 * Follows the event log from a position on. The log is in commit order, so all that is new is above the position. A
 * replica may lag, but leaves nothing out before its end.
 */
class LogFollower {
	private readonly access: Access;
	private readonly opening: Opening;
	/** A newest event, and when it was first seen (Unix epoch ms). After `maxLag`, every replica shows it. */
	private mark = { sequence: 0, since: -Infinity };
	/** When the newest event was requested up to which all was read (Unix epoch ms). */
	private readUpTo = -Infinity;
	/** When the log was first seen to end before an event that is known (Unix epoch ms). */
	private shortSince: number | undefined;

	constructor(access: Access, opening: Opening) {
		this.access = access;
		this.opening = opening;
	}

	/** Reads what is new, up to about `limit` events to start. */
	async read(position: Position, limit: number): Promise<GroupReading> {
		const { access: { api, log }, opening: { clock, choice: { groupSize, interval } } } = this;
		// A look that this trigger has read to its end would hide what has happened since.
		const maxAge = Math.min(interval / 2, clock.now() - this.readUpTo);
		const { newest, at, share: shared } = await sharedLook(api.viewer, maxAge, clock, async () => await log.newest());
		this.readUpTo = at;
		// The events of an empty log have expired.
		if (!newest) return { moved: {}, groups: [] };
		const share = newest.sequence - position.sequence <= maxShared ? shared : unshared;
		const continues = await this.continues(position, newest, at, share);
		if (continues === 'no') return await this.beginOtherLog(position, newest);
		if (continues === 'unknown' || newest.sequence <= position.sequence) return { moved: {}, groups: [] };

		const found: CrmEvent[] = [];
		let read = 0;
		let last: CrmEvent | undefined;
		for await (const event of log.after(position.sequence, typesToRead(position), undefined, share)) {
			if (!causeOf(event).isReported && position.choice.filter.ignored?.keys.length) api.notices.add(noOrigin);
			// Other triggers share the event, and an execution may change its input.
			if (wasChosen(position, event)) found.push(structuredClone(event));
			last = event;
			if (found.length >= limit || ++read >= maxRead) break;
		}
		const isWhole = found.length < limit && read < maxRead;
		if (!isWhole) this.readUpTo = -Infinity;
		const { mark } = this;
		const isMarkShown = at - mark.since >= maxLag;
		if (isMarkShown) this.mark = { sequence: newest.sequence, since: at };
		const sequence = Math.max(position.sequence, last?.sequence ?? 0, isWhole && isMarkShown ? mark.sequence : 0);
		const isLaterRead = last !== undefined && last.sequence > newest.sequence;
		const latest = isLaterRead ? { identity: eventIdentity(last!), sequence, timestamp: last!.timestamp } : newest;
		const moved = {
			sequence,
			replaced: position.replaced.filter(({ lastPossiblyBefore }) => lastPossiblyBefore > sequence),
			newest: latest.sequence > (position.newest?.sequence ?? 0) ? latest : position.newest,
			at: new Date(clock.now()).toISOString(),
		};
		const groups = chunks(found, groupSize).map((events) => ({ group: groupOfEvents(events, position), input: events }));
		return { moved, groups, hasMore: !isWhole };
	}

	/** Whether the log is the one of the position, judging by the newest event that is known. */
	private async continues({ newest: lastKnown }: Position, newest: Newest, at: number, share: Share): Promise<'yes' | 'no' | 'unknown'> {
		if (lastKnown && newest.sequence < lastKnown.sequence) {
			this.shortSince ??= at;
			return at - this.shortSince >= maxLag ? 'no' : 'unknown';
		}
		this.shortSince = undefined;
		if (!lastKnown || newest.identity === lastKnown.identity) return 'yes';
		const { value: event } = await this.access.log.after(lastKnown.sequence - 1, [], 1, share).next();
		// An event that has expired, or that this user does not see, tells nothing.
		if (!event) return 'unknown';
		return event.sequence === lastKnown.sequence && eventIdentity(event) !== lastKnown.identity ? 'no' : 'yes';
	}

	/** Moves to where the next reading continues in a restored log: at what has happened since the newest event that was known. */
	private async beginOtherLog(position: Position, newest: Newest): Promise<GroupReading> {
		// Older events of the same instant were read.
		const since = new Date(Date.parse(position.newest!.timestamp) + 1).toISOString();
		const first = await this.access.log.firstSince(since);
		const sequence = Math.min(position.sequence, first ? first.sequence - 1 : newest.sequence);
		this.mark = { sequence: 0, since: -Infinity };
		return { moved: { sequence, newest, replaced: [] }, groups: [], notice: otherLog(since) };
	}
}

const otherLog = (since: string): string =>
	`The event log no longer has what this trigger has read: the CRM may have been restored from a backup or reset, or the credential may see less than before. The trigger continues with the events since ${since}. Events that the CRM has lost are missing`;

/** Milliseconds for which the names of linked records are remembered. */
const maxNameAge = 60_000;

/** Page size of a backfill, at least. */
const backfillPage = 100;

/** Reads groups with one credential: those of existing records first, then those of new events. */
export class GroupReader {
	readonly access: Access;
	/** When the credential was last known to be the current one (Unix epoch ms). */
	checkedAt: number;
	isReading = false;
	private readonly opening: Opening;
	private readonly follower: LogFollower;
	/** When to read next (Unix epoch ms). */
	private nextRead = -Infinity;
	/** The connection by which names are looked up and remembered, and since when (Unix epoch ms). */
	private names: { api: Connection; since: number };

	constructor(access: Access, opening: Opening) {
		this.access = access;
		this.opening = opening;
		this.checkedAt = opening.clock.now();
		this.follower = new LogFollower(access, opening);
		this.names = { api: access.api, since: -Infinity };
	}

	/**
	 * Reads new groups, if it is time to and there is room for them.
	 *
	 * @param progress of the trigger, which changes meanwhile
	 */
	async read(progress: { position: Position; ledger: Ledger }): Promise<GroupReading | undefined> {
		const { clock, choice: { groupSize, interval } } = this.opening;
		const { position, position: { backfill } } = progress;
		const room = roomForGroups(progress.ledger, clock.now(), groupSize);
		if (backfill) this.nextRead = Math.max(this.nextRead, backfill.ready);
		if (room <= 0 || clock.now() < this.nextRead) return undefined;
		this.isReading = true;
		const reading = await this.readGroups(position, room).finally(() => (this.isReading = false));
		// A new beginning or scope may re-read open groups.
		const open = new Set(progress.ledger.open.map(({ group }) => group.name));
		const groups = reading.groups.filter(({ group }) => !open.has(group.name));
		const hasMore = backfill !== undefined || reading.hasMore === true;
		// All triggers with this interval look at the same time.
		this.nextRead = hasMore ? -Infinity : clock.now() + interval - (clock.now() % interval);
		return { ...reading, groups };
	}

	private async readGroups(position: Position, room: number): Promise<GroupReading> {
		const { access: { records }, opening: { choice: { groupSize } } } = this;
		const { backfill } = position;
		if (!backfill || !records) return await this.follower.read(position, room * groupSize);
		const { records: found, last } = await records.next(backfill, Math.max(groupSize, backfillPage));
		const groups = chunks(found, groupSize)
			.map((members) => ({ group: groupOfRecords(members, position, backfill), input: records.asExisting(members) }));
		return { moved: { backfill: last && { ...backfill, last } }, groups };
	}

	/** When to read next, or to see whether there is room (Unix epoch ms). */
	nextLook(ledger: Ledger): number {
		const { clock, choice: { groupSize, interval } } = this.opening;
		const now = clock.now();
		return roomForGroups(ledger, now, groupSize) > 0 ? this.nextRead : now + interval;
	}

	/** Reads the items of a group. */
	async load(group: OpenGroup): Promise<Loaded> {
		const { access: { api, log, records }, opening: { clock, choice: { events: { output } } } } = this;
		// A connection remembers names, which may change.
		if (clock.now() - this.names.since > maxNameAge) this.names = { api: { ...api }, since: clock.now() };
		return await loadGroup(group, { api, names: this.names.api, log, records, output });
	}
}
