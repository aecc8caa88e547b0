import type { Clock } from '../../base/clock';
import { chunks } from '../../base/lists';
import { RecentMap } from '../../base/maps';
import { processMemory } from '../../base/processMemory';
import { causeOf, noOrigin } from '../../log/cause';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity, type Newest } from '../../log/eventLog';
import { debugLeftOut } from '../triggerContext';
import type { Access, PublishedTrigger } from './pollSettings';
import { existenceOf } from './n8nExecutions';
import { type Input, type Ledger, roomForGroups, type Group, groupOfEvents, groupOfRecords, memberIds } from './ledger';
import { maxLag, type Position, typesToRead, whyNotChosen } from './position';

interface Reached {
	position: Position;
	ledger: Ledger;
}

/** What a reading has found. It is added in one step, since the position may be stored at any time. */
export interface GroupReading {
	moved: Partial<Position>;
	/** The new groups, with what was read of them, and whether that was read before: then, one with an execution is done or open. */
	groups: Array<{ group: Group; input: Input; isReread: boolean }>;
	/** Whether more can be read at once. */
	hasMore: boolean;
	/** Tells the user that events may be missing. */
	notice?: string | undefined;
}

/** Maximum number of events per reading, filtered ones included. */
const maxEventsRead = 10_000;

/** Maximum age (ms) of a newest event that triggers share: all with one interval read at the same time, or a little later. */
const maxNewestAge = 5_000;

/** Page size of a backfill, at least. */
const backfillPage = 100;

/** Reads new groups with one credential: those of existing records first, then those of new events. */
export class GroupReader {
	readonly access: Access;
	private readonly trigger: PublishedTrigger;
	/** When to read the newest event again (Unix epoch ms). */
	private timeToRead = -Infinity;
	/** A newest event, and when it was first seen (Unix epoch ms). After `maxLag`, every replica shows it. */
	private mark = { sequence: 0, seenAt: -Infinity };

	constructor(access: Access, trigger: PublishedTrigger) {
		this.access = access;
		this.trigger = trigger;
	}

	/** When to read next, or to see whether there is room (Unix epoch ms). */
	nextReading({ position: { backfill }, ledger }: Reached): number {
		const { clock, settings: { groupSize, interval } } = this.trigger;
		const now = clock.now();
		return roomForGroups(ledger.entries, now, groupSize) > 0 ? Math.max(this.timeToRead, backfill?.ready ?? -Infinity) : now + interval;
	}

	/** Reads new groups. @param reached how far the trigger has come, which changes meanwhile */
	async read(reached: Reached): Promise<GroupReading> {
		const { clock, settings: { groupSize, interval } } = this.trigger;
		const room = roomForGroups(reached.ledger.entries, clock.now(), groupSize);
		const reading = await this.leaveOutStarted(await this.readGroups(reached.position, room), reached.ledger);
		// All triggers with this interval read at the same time.
		this.timeToRead = reading.hasMore ? -Infinity : clock.now() + interval - (clock.now() % interval);
		return reading;
	}

	private async readGroups(position: Position, room: number): Promise<GroupReading> {
		const { access: { records }, trigger: { settings: { groupSize } } } = this;
		const { backfill } = position;
		if (!backfill || !records) return await this.readEvents(position, room * groupSize);
		const { records: found, last } = await records.next(backfill, Math.max(groupSize, backfillPage));
		const groups = chunks(found, groupSize).map((members) =>
			({ group: groupOfRecords(members, { ...position, ...backfill }), input: records.asExisting(members), isReread: backfill.isReread }));
		return { moved: { backfill: last && { ...backfill, last } }, groups, hasMore: true };
	}

	/** Reads the events above a position, up to about `limit` to start. */
	private async readEvents(position: Position, limit: number): Promise<GroupReading> {
		const { clock, settings: { groupSize } } = this.trigger;
		const { newest, requestedAt } = await this.readNewest();
		// The events of an empty log have expired.
		if (!newest) return nothingRead;
		const identity = await this.identifyLog(position, newest, requestedAt);
		if (identity === 'other') return await this.moveToOtherLog(position, newest);
		if (identity === 'undecided' || newest.sequence <= position.sequence) return nothingRead;
		const shownTo = this.shownByAllReplicas(newest, requestedAt);
		const { chosen, sequence, hasMore } = await this.readChosen(position, newest, shownTo, limit);
		const replaced = position.replaced.filter(({ lastPossiblyBefore }) => lastPossiblyBefore > sequence);
		return {
			moved: { sequence, replaced, newest, at: new Date(clock.now()).toISOString() },
			groups: chunks(chosen, groupSize).map((events) =>
				({ group: groupOfEvents(events, position), input: events, isReread: events.at(-1)!.sequence <= position.readBefore })),
			hasMore,
		};
	}

	/** Reads the newest event. An earlier answer, or one from before this trigger was published, may be of a log that was restored since. */
	private async readNewest() {
		const { clock, settings: { interval } } = this.trigger;
		const maxAge = this.timeToRead === -Infinity ? 0 : Math.min((clock.now() % interval) + 1, maxNewestAge);
		return await sharedNewest(this.access, maxAge, clock);
	}

	/** Whether the log is the one of the position, judging by the newest event that is known. */
	private async identifyLog({ newest: lastKnown, at: readAt }: Position, newest: Newest, requestedAt: number): Promise<'same' | 'other' | 'undecided'> {
		if (!lastKnown || newest.identity === lastKnown.identity) return 'same';
		// Every replica shows what was known that long ago.
		if (newest.sequence < lastKnown.sequence) return requestedAt - Date.parse(readAt) >= maxLag ? 'other' : 'undecided';
		const { value: event } = await this.access.log.after(lastKnown.sequence - 1, [], 1).next();
		// An event that has expired, or that this user does not see, tells nothing.
		if (!event) return 'undecided';
		return event.sequence === lastKnown.sequence && eventIdentity(event) !== lastKnown.identity ? 'other' : 'same';
	}

	/** Up to which sequence every replica shows the log, if that is known; otherwise 0. The newest event is noted for later. */
	private shownByAllReplicas({ sequence }: Newest, requestedAt: number): number {
		const { mark } = this;
		if (requestedAt - mark.seenAt < maxLag) return 0;
		// The request may have waited for its turn.
		this.mark = { sequence, seenAt: this.trigger.clock.now() };
		return mark.sequence;
	}

	/**
	 * Reads the chosen events above a position and up to the newest one. The log is in commit order, so all that is new is
	 * above the position. A replica may lag, but leaves nothing out before its end.
	 *
	 * @param shownTo the sequence up to which every replica shows the log
	 * @returns the sequence up to which it was read
	 */
	private async readChosen(position: Position, newest: Newest, shownTo: number, limit: number) {
		const { access: { api, log }, trigger } = this;
		const chosen: CrmEvent[] = [];
		let [count, sequence] = [0, position.sequence];
		for await (const event of log.after(position.sequence, typesToRead(position))) {
			// A log that was restored since then is detected at the next reading.
			if (event.sequence > newest.sequence) break;
			if (!causeOf(event).isRequestKnown && position.choice.filter.ignored?.origins.length) api.notices.add(noOrigin);
			const reason = whyNotChosen(position, event);
			if (reason === undefined) chosen.push(event);
			else debugLeftOut(trigger.n8n, [event.id], reason);
			sequence = event.sequence;
			if (chosen.length >= limit || ++count >= maxEventsRead) return { chosen, sequence, hasMore: true };
		}
		return { chosen, sequence: Math.max(sequence, shownTo), hasMore: false };
	}

	/** Moves to where the next reading continues in a restored log: at what has happened since the newest event that was known. */
	private async moveToOtherLog(position: Position, newest: Newest): Promise<GroupReading> {
		// Older events of the same instant were read.
		const since = new Date(Date.parse(position.newest!.timestamp) + 1).toISOString();
		const first = await this.access.log.firstSince(since);
		// A replica may not show it yet.
		if (!first && Date.parse(newest.timestamp) >= Date.parse(since)) return nothingRead;
		const end = first ? first.sequence - 1 : newest.sequence;
		const sequence = Math.min(position.sequence, end);
		// Earlier choices still apply to what was not read before.
		const replaced = position.replaced.map(({ choice, lastBefore, lastPossiblyBefore }) =>
			({ choice, lastBefore: Math.min(lastBefore, end), lastPossiblyBefore: Math.min(lastPossiblyBefore, end) }));
		this.mark = { sequence: 0, seenAt: -Infinity };
		// The log may be the same, on a replica that lags longer than any should: then, its events are read again.
		const readBefore = Math.max(position.readBefore, position.sequence);
		const at = new Date(this.trigger.clock.now()).toISOString();
		return { ...nothingRead, moved: { sequence, readBefore, newest, replaced, at }, notice: otherLog(since) };
	}

	/** Leaves out what is open or done: a new beginning or scope may read it again. */
	private async leaveOutStarted(reading: GroupReading, ledger: Ledger): Promise<GroupReading> {
		const openNames = new Set(ledger.entries.map(({ group }) => group.name));
		const unopened = reading.groups.filter(({ group }) => !openNames.has(group.name));
		// Once a group is open, its execution may be one that n8n has started for it since, and that has crashed.
		const exist = await Promise.all(unopened.map(async ({ group, isReread }) => (isReread ? await existenceOf(this.trigger, group) : 'no')));
		// It is read again when n8n can tell.
		if (exist.includes('no database')) return nothingRead;
		const groups = unopened.flatMap(({ group, ...more }, i) => {
			if (exist[i] !== 'yes') return [{ group: exist[i] === 'no answer' ? { ...group, possibleExecution: 'ofEarlierReading' as const } : group, ...more }];
			debugLeftOut(this.trigger.n8n, memberIds(group), 'n8n has an execution of it');
			return [];
		});
		return { ...reading, groups };
	}
}

const nothingRead: GroupReading = { moved: {}, groups: [], hasMore: false };

const otherLog = (since: string): string =>
	`The event log no longer has what this trigger has read: the CRM may have been restored from a backup or reset, or the credential may see less than before. The trigger continues with the events since ${since}. Events that the CRM has lost are missing`;

/** The latest request for the newest event, and when it was sent (Unix epoch ms), per viewer. */
const requests = processMemory(new RecentMap<string, { newest: Promise<Newest | undefined>; requestedAt: number }>(1_000));

/**
 * Reads the newest event of a log, once for all triggers that ask at about the same time.
 *
 * @param maxAge maximum age of an answer in milliseconds
 * @returns the newest event, and when it was requested (Unix epoch ms)
 */
export async function sharedNewest({ api: { viewer }, log }: Access, maxAge: number, clock: Clock) {
	const now = clock.now();
	const previous = requests.get(viewer);
	const request = previous && now - previous.requestedAt < maxAge ? previous : { newest: log.newest(), requestedAt: now };
	requests.set(viewer, request);
	// After a failure, the next caller queries the service.
	request.newest.catch(() => (requests.get(viewer) === request ? requests.delete(viewer) : undefined));
	return { newest: await request.newest, requestedAt: request.requestedAt };
}
